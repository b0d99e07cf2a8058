"""From a CSV file to the report, beside what it takes to read the file and to cross-validate LightGBM.

    python benchmarks/file_to_report.py [--rows 200000] [--threads 2] [--repeat 3] [-- COMMAND OPTIONS]

The file has 20 columns, an id, ten of floats, one of them with missing values, three of small integers, four of
categories, one of dates and a constant, and the label: a tenth of the rows are positive. `pnorm FILE --label label`
runs as a process, with the options that follow `--`; `-- --report report.html` writes the page. The rival is one, too:
pandas reads the file, and `lightgbm.cv` trains 300 trees of 31 leaves in five folds. They take turns, with as many
threads. Wall-clock and processor time are medians, imports included. Needs pandas and LightGBM.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from command_line import parser_of

LEVELS = (4, 12, 50, 300)
"""Levels of the categories."""


def written(path, n_rows, seed=0):
    """Write the file."""
    import pandas

    rng = np.random.default_rng(seed)
    floats = rng.normal(size=(n_rows, 10)).round(4)
    integers = rng.integers(0, [5, 12, 30], (n_rows, 3))
    levels = rng.integers(0, LEVELS, (n_rows, len(LEVELS)))
    days = rng.integers(0, 730, n_rows)
    f = 0.8 * floats[:, 0] + np.sin(2.0 * floats[:, 1]) + 0.5 * (floats[:, 2] > 1.0) + 0.4 * floats[:, 3] ** 2
    f += 0.1 * integers[:, 0] + 0.3 * np.cos(integers[:, 1]) + 0.05 * (days % 7) + rng.logistic(size=n_rows)
    for n, codes in zip(LEVELS, levels.T, strict=True):
        f += 0.4 * rng.normal(size=n)[codes]
    columns = {"id": np.arange(n_rows)} | {f"x{j}": floats[:, j] for j in range(10)}
    columns |= {f"n{j}": integers[:, j] for j in range(3)}
    columns |= {f"c{j}": np.char.add("level ", codes.astype(str)) for j, codes in enumerate(levels.T)}
    columns["day"] = np.datetime64("2024-01-01") + days
    frame = pandas.DataFrame(columns | {"constant": np.ones(n_rows), "label": (f > np.quantile(f, 0.9)).astype(int)})
    frame["x9"] = frame["x9"].mask(rng.random(n_rows) < 0.05)
    frame.to_csv(path, index=False)


def rival(path, threads, trees):
    """Read the file with pandas, and cross-validate LightGBM."""
    import lightgbm
    import pandas

    frame = pandas.read_csv(path, parse_dates=["day"])
    y = frame.pop("label")
    del frame["id"]
    frame["day"] = frame["day"].astype(np.int64)
    for name in frame.columns[frame.dtypes.map(lambda kind: kind.kind not in "biuf")]:
        frame[name] = frame[name].astype("category")
    how = {"objective": "binary", "num_leaves": 31, "num_threads": threads, "verbose": -1, "metric": "auc"}
    found = lightgbm.cv(how, lightgbm.Dataset(frame, y), num_boost_round=trees, nfold=5)
    print(f"AUC {found['valid auc-mean'][-1]:.4f}")


def taken(command, threads):
    """Wall-clock and processor time of a process, in seconds, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | limits, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, processor, done.stdout


def main(arguments=None):
    """Run both in turns, and print their times."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--") if "--" in given else len(given)
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--rival", help=argparse.SUPPRESS)
    asked = parser.parse_args(given[:cut])
    if asked.rival:
        rival(asked.rival, asked.threads, asked.trees)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "table.csv")
        written(file, asked.rows)
        python = [sys.executable, "-P"]
        ours = [*python, "-m", "pnorm", file, "--label", "label", *given[cut + 1 :]]
        theirs = [*python, __file__, "--rival", file, "--threads", str(asked.threads), "--trees", str(asked.trees)]
        commands = {"pnorm": ours, "pandas + LightGBM": theirs}
        times = {name: [] for name in commands}
        for _ in range(asked.repeat):
            for name, command in commands.items():
                times[name].append(taken(command, asked.threads)[:2])
    print(f"{asked.rows} rows, {asked.threads} thread(s), median of {asked.repeat}")
    for name, runs in times.items():
        wall, processor = [statistics.median(values) for values in zip(*runs, strict=True)]
        print(f"{name:20} {wall:8.2f} s  {processor:8.2f} s of processor time")


if __name__ == "__main__":
    main()
