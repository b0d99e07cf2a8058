"""A folder of files that is larger than the memory it is given: the numbers of the page "From a laptop to a cluster".

    python benchmarks/folder.py [ROWS [GIGABYTES [FOLDER]]]

Writes ROWS rows (2e7) of 20 numbers and a label as Parquet files of a million rows each, unless they are there. Another
process, which may have GIGABYTES (3) of memory and not a byte more, codes them, minimises with l2, proves it, tests on
a fifth of the rows, and scores all rows into a file of NumPy. It prints seconds and the most memory so far.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from command_line import parser_of

COLUMNS, OF_FILE = 20, 10**6
P, L2 = 4.0, 1e-4


def write(folder, n_rows):
    """Write files of rows whose label depends on some columns, on one in waves and on two together."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    for k in range(-(-n_rows // OF_FILE)):
        path = folder / f"part-{k:04}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(k)
        X = rng.normal(size=(min(OF_FILE, n_rows - k * OF_FILE), COLUMNS)).astype(np.float32)
        f = X[:, :6] @ np.array([1.0, 0.8, -0.6, 0.5, 0.3, 0.2]) + np.sin(2.0 * X[:, 6]) + X[:, 7] * X[:, 8]
        y = f + 1.5 * rng.logistic(size=len(X)) > 5.0
        columns = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        parquet.write_table(pyarrow.table(columns | {"y": y}), path)


def most():
    """The most memory that this process had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(folder, gigabytes):
    """Do the whole job within a limit of memory."""
    limit = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    import pnorm

    begin = time.perf_counter()

    def told(what):
        nonlocal begin
        print(f"    {what:<58} {time.perf_counter() - begin:7.1f} s {most():7.0f} MB", flush=True)
        begin = time.perf_counter()

    rows = pnorm.code_rows(folder, "y")
    told("read twice, cuts placed, coded")
    print(f"    {rows}")
    train, test = rows.hold_out(0.2)
    del rows
    told("a fifth held out")
    lam, trace = pnorm.minimize(train, p=P, l2=L2, penalty="shapes", tol=1e-6)
    told("minimised")
    print(f"    {trace.status}: {trace.message}")
    gap = pnorm.diagnostics.certificate(*train, P, lam, l2=L2, penalty="shapes").gap
    told(f"certified: within {gap:.1e} of the infimum")
    f_pos, f_neg = (pnorm.score(side, None, lam) for side in (test.pos, test.neg))
    depth = 1000
    hits = pnorm.metrics.precision_at(f_pos, f_neg, depth)
    told(f"tested: precision in the first {depth:,} of {f_pos.size + f_neg.size:,}: {hits:.3f}")
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        f = pnorm.score(folder, train.H, lam)
        np.save(Path(place) / "scores.npy", f)
    told(f"all {f.size:,} rows read again and scored")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:  # the process that has little memory
        run(Path(sys.argv[2]), float(sys.argv[3]))
        sys.exit()
    parser = parser_of(__file__, __doc__)
    parser.add_argument("rows", nargs="?", type=float, default=2e7)
    parser.add_argument("gigabytes", nargs="?", type=float, default=3.0)
    parser.add_argument("folder", nargs="?", type=Path, help="by default one that is deleted at the end")
    asked = parser.parse_args()
    n_rows, gigabytes = int(asked.rows), asked.gigabytes
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary) / "rows"
        write(folder, n_rows)
        print(f"{n_rows:,} rows of {COLUMNS} columns, {gigabytes:g} GB of memory")
        subprocess.run([sys.executable, "-P", __file__, "run", str(folder), str(gigabytes)], check=True)
