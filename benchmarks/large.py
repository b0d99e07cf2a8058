"""Rows in files on a cluster of two processes against the same rows in memory; needs Dask (extra ``dask``) and pyarrow.

    python benchmarks/large.py [ROWS [COLUMNS [FILES [ROUNDS]]]]        # 5000000 20 20 for the numbers of the page

Readings of files, seconds of a round, the largest difference of coefficients, and the bytes that travel: as the formula
of the page "Rows on a cluster" has them, as the trace counts them, and as Dask's workers write them.
"""

import tempfile
import time
import warnings
from pathlib import Path

import dask.dataframe
import numpy as np
import pandas
from distributed import Client, LocalCluster
from shared import parser_of

import pnorm
import pnorm.dask
from pnorm.dask import _cluster

CUTS, P, RUNS = 255, 4.0, 5


def make(folder, rows, columns, files):
    """Write labelled rows into Parquet files."""
    for k, size in enumerate(np.diff(np.linspace(0, rows, files + 1).astype(int))):
        generator = np.random.default_rng(k)
        X = generator.normal(size=(size, columns)).astype(np.float32)
        y = generator.random(size) < 1.0 / (1.0 + np.exp(2.0 - X[:, 0] - 0.5 * X[:, 1] ** 2))
        frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(columns)]).assign(y=y.astype(int))
        frame.to_parquet(folder / f"{k:04}.parquet")


def read(path):
    """Read a file, and note it."""
    with open(path.with_suffix(".read"), "a") as counted:
        counted.write("x")
    return pandas.read_parquet(path)


def readings(folder):
    """Return the number of readings of all files."""
    return sum(path.stat().st_size for path in folder.glob("*.read"))


def timed(function, *arguments, **more):
    """Return the answer of a run, its seconds, and the median seconds of its rounds."""
    marks = [time.perf_counter()]

    def mark(_):
        marks.append(time.perf_counter())

    found = function(*arguments, **more, callback=mark)
    rounds = np.diff(marks)
    return found, time.perf_counter() - marks[0], float(np.median(rounds[1:] if rounds.size > 1 else rounds))


def predicted(rows, n_rounds):
    """Bytes out and back for each round of thresholds, by the formula of the page."""
    sides = rows._partitions.sides
    handles = [part for side in sides for part in side.parts]
    places = [(k, i) for k, side in enumerate(sides) for i in range(len(side.parts))]
    groups = _cluster._groups(handles)
    question = _cluster._Question(max_of_two, [len(side.parts) for side in sides])
    runs = [_cluster._folded(question, {(places[i][0], 0, places[i][1]): 0 for i in group}) for group in groups]
    of_sides = [sum(side == k for own in runs for side, _, _ in own) for k in (0, 1)]
    cells = len(sides[0].counts)
    # One exchange more than rounds, with the steps so far, and one for the extremes of the scores at the end.
    out = len(groups) * (8 * len(rows.H) + 400)
    steps = len(groups) * 13 * (n_rounds * (n_rounds + 1) // 2)
    back = sum(of_sides) * (8 * cells + 200) + 24 * len(handles)
    last = sum(of_sides) * 200 + 24 * len(handles)
    return out * (n_rounds + 2) + steps, back * (n_rounds + 1) + last + 70 * len(rows.H), of_sides


def max_of_two(a, b):
    """A merge of nothing."""
    return max(a, b)


max_of_two.merge = max_of_two


def written():
    """Bytes that this worker has written into connections since it was first asked."""
    from distributed.comm.tcp import TCP

    if not hasattr(TCP, "written"):
        TCP.written, write = 0, TCP.write

        async def counting(self, *arguments, **more):
            n = await write(self, *arguments, **more)
            TCP.written += n
            return n

        TCP.write = counting
    return TCP.written


def sent(client):
    """Bytes that the workers have written: answers, and what they tell the scheduler."""
    return sum(client.run(written).values())


def main():
    """Print a line for each measurement."""
    parser = parser_of(__file__, __doc__)
    for name, default in (("rows", 20_000), ("columns", 6), ("files", 8), ("rounds", 20)):
        parser.add_argument(name, nargs="?", type=int, default=default)
    rows, columns, files, rounds = vars(parser.parse_args()).values()
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, rows, columns, files)
        paths = sorted(folder.glob("*.parquet"))
        whole = pandas.concat([pandas.read_parquet(path) for path in paths])
        X, y = whole.drop(columns="y").to_numpy(), whole["y"].to_numpy() == 1
        del whole
        H = pnorm.rankers.quantile_thresholds(X[:200_000], X[:1], CUTS)
        print(f"{rows:,} rows of {columns} columns in {files} files, {len(H):,} cuts")
        frame = dask.dataframe.from_map(read, paths, meta=pandas.read_parquet(paths[0]).iloc[:0])
        with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            start = time.perf_counter()
            coded = pnorm.dask.code_rows(frame, label="y", H=H)
            print(f"    coded in {time.perf_counter() - start:.1f} s, {coded.nbytes / 1e6:.1f} MB kept")
            before = sent(client)
            (lam, trace), _, _ = timed(pnorm.dask.train, coded, p=P, t_max=rounds)
            counted = sent(client) - before
            out, back, of_sides = predicted(coded, rounds)
            print(f"    {trace.message}")
            print(
                f"    by the formula {out / 1e6:.3g} MB out and {back / 1e6:.3g} MB back, in {sum(of_sides)} answers "
                f"each; the workers wrote {counted / 1e6:.3g} MB"
            )
            pnorm.dask.train(coded, p=1, t_max=2)
            (minimiser, stepped), steps, _ = timed(pnorm.dask.minimize, coded, p=P, l2=1e-4, penalty="shapes")
            print(f"    minimize: {steps:.1f} s, {stepped.n_iter} steps, {stepped.message}")
            print(f"    readings: {readings(folder)} of {files} files for three runs")
            workers = [w["metrics"]["memory"] / 1e6 for w in client.scheduler_info()["workers"].values()]
            print(f"    memory of the workers: {' and '.join(f'{w:.0f} MB' for w in workers)}")
            pos, neg, pairs = X[y], X[~y], []
            for _ in range(RUNS):  # in turn, as the machine may be busy
                (expected, _), _, in_memory = timed(pnorm.train, pos, neg, H, P, rounds)
                _, _, of_round = timed(pnorm.dask.train, coded, p=P, t_max=rounds)
                pairs.append((of_round / in_memory, of_round, in_memory))
        ratio, of_round, in_memory = np.median(pairs, axis=0)
        print(
            f"    a round {1e3 * of_round:.0f} ms, in memory {1e3 * in_memory:.0f} ms: {ratio:.1f} times "
            f"(medians of {RUNS} runs of each in turn)"
        )
        (least, other), seconds, _ = timed(pnorm.minimize, pos, neg, H, P, l2=1e-4, penalty="shapes")
        print(f"    minimize in memory: {seconds:.1f} s, {other.n_iter} steps")
        print(f"    differences of coefficients: {abs(lam - expected).max():.1e}, {abs(minimiser - least).max():.1e}")


if __name__ == "__main__":
    main()
