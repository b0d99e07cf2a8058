"""Measure the calls beside the rounds: categories, intervals, groups, files, sparse cuts, wide problems, single rows.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/waits.py [NAME ...]

Each path runs in a process of its own, on one thread: processor time in seconds, the least of three runs, and the
memory at its peak beyond what the process held when its data were made (Linux with glibc). What takes less than a
tenth of a second is repeated, and its mean is taken. Needs pandas, pyarrow, and
a9a.libsvm.gz, of which PNORM_DATA names the folder.
"""

import contextlib
import ctypes
import io
import multiprocessing
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse
from command_line import data_folder, parser_of

import pnorm

LEADS = (str(Path(__file__).parents[1] / "examples" / "leads.csv"), "--label", "bought", "--id", "lead")


def normal(n_pos, n_neg, columns, seed=0):
    """Two normal classes."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.2, 1, (n_pos, columns)), rng.normal(0, 1, (n_neg, columns))


def words(kind):
    """10**6 rows of six columns of words, an object for each cell or a frame."""
    import pandas

    cells = np.array([f"level {k}" for k in range(30)])[np.random.default_rng(0).integers(0, 30, (10**6, 6))]
    cells = cells.astype(object)
    X = pandas.DataFrame(cells).astype(kind) if kind != "objects" else cells
    return partial(pnorm.rankers.categories, X[: 10**6 // 2], X[10**6 // 2 :])


def labels():
    """Labels of 10**6 rows, as objects."""
    y = np.array(["good", "bad"], object)[np.random.default_rng(0).integers(0, 2, 10**6)]
    X = np.zeros((10**6, 2))
    return partial(pnorm.split, X, y, positive="good")


def intervals():
    """All measures of 22,800 positives and 72,000 negatives, each score by itself."""
    rng = np.random.default_rng(0)
    f = rng.normal(1, 1, 22_800), rng.normal(size=72_000)
    return partial(pnorm.metrics.summary, *f, confidence=0.95)


def groups(grouped, cuts):
    """Fifty rounds on 100,000 + 400,000 rows of 20 columns, in 20,000 groups or in one."""
    pos, neg = normal(100_000, 400_000, 20)
    rng, given = np.random.default_rng(1), {}
    if grouped:
        given = {"pos_group": rng.integers(0, 20_000, len(pos)), "neg_group": rng.integers(0, 20_000, len(neg))}
        given = {name: np.concatenate([np.arange(20_000), of[20_000:]]) for name, of in given.items()}
    H = pnorm.rankers.quantile_thresholds(pos, neg, 63) if cuts else None
    return partial(pnorm.train, pos, neg, H, 4, 50, n_threads=1, **given)


def table():
    """The command on a CSV file of 64 MB: 20 rounds, and the lists that it compares with."""
    from pnorm._command.main import main as command

    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.random(340_000) < 0.3, rng.normal(size=(340_000, 10)).astype(np.float32)])
    folder = Path(tempfile.mkdtemp())
    names = ",".join(["label", *(f"x{j}" for j in range(10))])
    text = io.StringIO()
    np.savetxt(text, rows, ["%d"] + ["%.15g"] * 10, delimiter=",", header=names, comments="")
    (folder / "rows.csv").write_text(text.getvalue())

    def run():
        with contextlib.redirect_stdout(io.StringIO()):
            command([str(folder / "rows.csv"), "--label", "label", "-t", "20"])

    return run


def sparse():
    """Cuts and 20 rounds on a sparse matrix of 34 MB: 200,000 x 20,000, 2.8 million counts from 1 to 5."""
    rng = np.random.default_rng(0)
    at = rng.integers(0, 200_000, 2_800_000), rng.integers(0, 20_000, 2_800_000)
    X = scipy.sparse.csr_array((rng.integers(1, 6, 2_800_000).astype(float), at), (200_000, 20_000))
    pos, neg = X[:60_000], X[60_000:]

    def run():
        H = pnorm.rankers.quantile_thresholds(pos, neg, 15)
        pnorm.train(pos, neg, H, 4, 20, n_threads=1)

    return run


def indicators():
    """Rows of a9a that are dense: 14,000 rows, 122 indicators."""
    data = pnorm.datasets.a9a()
    return [side[:n].toarray() for side, n in ((data.pos, 3_500), (data.neg, 10_500))]


def minimum():
    """`minimize` on indicators."""
    return partial(pnorm.minimize, *indicators(), None, 4)


def told():
    """`diagnostics.report` on indicators, of what 200 rounds found."""
    pos, neg = indicators()
    lam, _ = pnorm.train(pos, neg, None, 4, 200)
    return partial(pnorm.diagnostics.report, pos, neg, None, 4, lam)


def wide():
    """`minimize` on bits of fingerprints: 1,000 + 5,000 rows, 2,048 weak rankers, l2 = 0.001."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(6_000, 20)) @ rng.normal(size=(20, 2_048))
    common[:1_000] += 0.5 * rng.normal(size=2_048)
    X = (common + 2 * rng.normal(size=common.shape) > 4).astype(float)
    return partial(pnorm.minimize, X[:1_000], X[1_000:], None, 4, l2=0.001)


def single():
    """One row by 1,000 cuts of 20 columns."""
    pos, neg = normal(2_000, 2_000, 20)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 50)
    lam = np.random.default_rng(0).normal(size=len(H))
    return partial(pnorm.score, pos[:1], H, lam)


def estimator(**given):
    """PNormPush on 5,600 rows of six numbers, three columns of text and a date."""
    import pandas

    from pnorm.sklearn import PNormPush

    rng, n = np.random.default_rng(0), 5600
    x = rng.normal(size=(n, 6))
    frame = pandas.DataFrame(x, columns=list("abcdef")).mask(rng.random((n, 6)) < 0.1)
    for name, size in (("city", 40), ("plan", 4), ("branch", 12)):
        frame[name] = np.array([f"{name} {k}" for k in range(size)])[rng.integers(0, size, n)]
    frame["since"] = np.datetime64("2020-01-01") + rng.integers(1500, size=n).astype("m8[D]")
    y = x[:, 0] + np.sin(2 * x[:, 1]) + (frame["plan"] == "plan 2") + 1.5 * rng.normal(size=n) > 1.5
    return partial(PNormPush(random_state=0, n_jobs=1, **given).fit, frame, y)


def process(*words):
    """A process of Python."""
    return partial(subprocess.run, [sys.executable, "-P", *words], check=True, stdout=subprocess.DEVNULL)


PATHS = {
    "categories, 10^6 x 6 objects": partial(words, "objects"),
    "categories, 10^6 x 6 in pandas, string": partial(words, "string"),
    "split by 10^6 labels, objects": labels,
    "summary with intervals, 94,800 scores": intervals,
    "50 rounds, 500,000 x 20, columns": partial(groups, False, False),
    "50 rounds in 20,000 groups, columns": partial(groups, True, False),
    "50 rounds, 500,000 x 20, cuts": partial(groups, False, True),
    "50 rounds in 20,000 groups, cuts": partial(groups, True, True),
    "pnorm on a CSV file of 64 MB": table,
    "cuts of a sparse matrix of 34 MB": sparse,
    "minimize, 14,000 x 122 indicators": minimum,
    "diagnostics.report of the same": told,
    "minimize, 6,000 x 2,048 bits, l2": wide,
    "score of one row, 1,000 cuts": single,
    "PNormPush, 5,600 mixed rows": estimator,
    "PNormPush, 5,600 mixed rows, p = 1": partial(estimator, p=1),
    "PNormPush, 5,600 mixed rows, p and l2": partial(estimator, p=4, l2=1e-3),
    "PNormPush, 5,600 mixed rows, 50 rounds": partial(estimator, t_max=50),
    "import numpy, scipy.special": partial(process, "-c", "import numpy, scipy.special"),
    "import pnorm": partial(process, "-c", "import pnorm"),
    "pnorm without a file": partial(process, "-m", "pnorm"),
    "pnorm examples/leads.csv, 6,000 rows": partial(process, "-m", "pnorm", *LEADS),
}


def cpu():
    """Processor time of this process and of those that it waited for."""
    return sum(
        of.ru_utime + of.ru_stime for of in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def status(key):
    """A size of this process in MB (Linux)."""
    return int(Path("/proc/self/status").read_text().split(f"{key}:")[1].split()[0]) * 1024 / 1e6


def measure(name):
    """Return seconds and MB of a path; runs in a process of its own."""
    run = PATHS[name]()
    ctypes.CDLL(None).malloc_trim(0)  # what making the data has freed would hide as much
    Path("/proc/self/clear_refs").write_text("5")  # the peak of the process begins anew
    held, best, repeats = status("VmRSS"), float("inf"), 1
    for _ in range(3):
        start = cpu()
        for _ in range(repeats):
            run()
        best = min(best, (cpu() - start) / repeats)
        repeats = max(1, int(0.1 / max(best, 1e-4)))
        if best > 5.0:
            break
    return best, status("VmHWM") - held


def main():
    parser = parser_of(__file__, __doc__)
    parser.add_argument("name", nargs="*", help="parts of the names of lines; by default all")
    words = parser.parse_args().name
    data_folder()
    names = [name for name in PATHS if not words or any(word in name for word in words)]
    print(f"{'':44}{'seconds':>10}{'MB':>8}")
    context = multiprocessing.get_context("spawn")
    for name in names:
        with context.Pool(1) as pool:
            seconds, size = pool.apply(measure, (name,))
        print(f"{name:44}{seconds:10.{max(2, 2 - int(np.floor(np.log10(seconds))) - 1)}f}{size:8.0f}", flush=True)


if __name__ == "__main__":
    main()
