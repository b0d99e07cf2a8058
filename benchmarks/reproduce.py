"""The experiments of both papers on many random splits instead of one, with a test of each of their claims.

    python benchmarks/reproduce.py --data DIR --splits 100 --out reproduced

p is 1, 2, 4, 8, 16 and 64. Writes all numbers (results.json), a picture per setting, and a table that shows for each
claim whether it holds over the splits (claims.md). Tic-tac-toe needs no file; what is wrong with the others, and where
to get them, is an error before any work.

Settings, measurements, claims, and files, in this order. Claims are judged by paired t tests over the splits, which
for these data are independent draws. For another sample from the same source they are not, as they share rows: in
testing, the p-value of Nadeau and Bengio (Machine Learning 52, 2003) is given as well. Its variance
of the mean is (1/n + n2/n1) s**2 instead of s**2 / n, for n1 rows to train on and n2 to test on.
"""

import hashlib
import importlib.util
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shared import parser_of

import pnorm
from pnorm import _checks, _files, datasets, metrics, plotting, rankers
from pnorm._checks.text import aligned, install
from pnorm.datasets import Dataset
from pnorm.metrics._roc import _lead

POWERS = (1, 2, 4, 8, 16, 64)
ROUNDS = 200
"""Rounds of training in both papers."""
PARTS = ("train", "test")
LEAST_SPLITS = 10
"""Number of splits from which claims about means are judged."""
FIRST = 20
"""Number of negatives in the leftmost part of the curves, which is recorded."""

# Settings ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """One experiment of the papers."""

    title: str
    source: str
    n_train: int
    load: Callable[..., Dataset]
    columns: int | None = None
    """The number of columns used, from the first on; None for all."""
    cuts: tuple[tuple[float, ...], ...] | None = None
    """Thresholds of each column; None for the columns themselves, scaled to [-1, 1] by the training rows."""

    def data(self, home: str | None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the rows and labels."""
        data = self.load() if self.load is datasets.tic_tac_toe else self.load(home)
        return data.X[:, : self.columns], data.y

    def rankers(self, pos: Any, neg: Any) -> rankers.Rankers:
        """Return the weak rankers."""
        return rankers.normalized(pos, neg, low=-1, high=1) if self.cuts is None else rankers.thresholds(self.cuts)


_CUTS = (
    (2, 3, 6, 7),
    (100, 130, 150, 160),
    (60, 65, 72, 90),
    (1, 10, 20, 30),
    (30, 50, 80, 100),
    (30, 32, 35, 37),
    (0.1, 0.2, 0.3, 0.5),
    (30, 33, 36, 40),
)

SETTINGS = {
    "pima": Setting("Pima, real features", "TR figure 2", 300, datasets.pima),
    "pima-thresholds": Setting("Pima, thresholds", "TR figure 3, COLT figure 2", 300, datasets.pima, cuts=_CUTS),
    "wdbc": Setting("WDBC, 369 to train on", "TR figure 4", 369, datasets.wdbc, columns=6),
    "wdbc-200": Setting("WDBC, 200 to train on", "COLT figure 3", 200, datasets.wdbc, columns=6),
    "tic-tac-toe": Setting("Tic-tac-toe", "TR figure 5", 500, datasets.tic_tac_toe),
    "housing": Setting("Housing", "TR figure 6, COLT figure 4", 300, datasets.housing),
    "pima-50": Setting("Pima, 50 to train on", "TR figure 7, COLT figure 5", 50, datasets.pima),
}

# Measurements -----------------------------------------------------------------------------------------


@dataclass
class Result:
    """The results of all splits of one setting; arrays are (split, part, power), parts are training and testing."""

    setting: str
    rounds: int
    rows: tuple[int, int]
    """Rows to train on and to test on."""
    data: str
    """A hash of the rows in their order, on which the splits depend."""
    seeds: list[int]
    above: NDArray[np.int64]
    """Positives above the first negative, the second, ... (split, part, power, FIRST)."""
    auc: NDArray[np.float64]
    objective: NDArray[np.float64]
    """log F_p at the end of training (split, power)."""
    status: list[list[str]]
    """The statuses of the runs (split, power)."""
    crossing: NDArray[np.float64]
    """False positives at the first crossing of the curves of the least and the largest p (split, part); nan if none."""
    ahead: NDArray[np.int64]
    """Before the crossing: 1 if the curve of the largest p is above, -1 if that of the least, 0 if they are equal."""
    curves: list[list[metrics.Roc]]
    """The curves of the first split (part, power)."""
    selection: str = "absolute"

    @property
    def top(self) -> NDArray[np.int64]:
        """Positives above the first negative (split, part, power)."""
        return np.asarray(self.above[..., 0])


def measure(
    name: str,
    seeds: Sequence[int],
    home: str | None = None,
    rounds: int = ROUNDS,
    selection: str = "absolute",
    watched: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    n_threads: int | None = None,
) -> Result:
    """Train and measure on random splits, one per seed, as many at once as there are threads, or cores."""
    setting = SETTINGS[name]
    X, y = setting.data(home)
    with ThreadPoolExecutor(n_threads or os.cpu_count()) as threads:
        found = list(watched(threads.map(lambda seed: _split(setting, X, y, seed, rounds, selection), seeds)))
    curves, auc, objective, status = zip(*found, strict=True)
    met = np.array([[_meeting(part[0], part[-1]) for part in split] for split in curves])
    return Result(
        name,
        rounds,
        (setting.n_train, len(y) - setting.n_train),
        hashlib.sha256(np.column_stack([y, X]).tobytes()).hexdigest()[:16],
        [*seeds],
        np.array([[[_above(roc) for roc in part] for part in split] for split in curves]),
        np.array(auc),
        np.array(objective),
        list(status),
        met[..., 0],
        met[..., 1].astype(np.int64),
        curves[0],
        selection,
    )


def _split(
    setting: Setting, X: Any, y: Any, seed: int, rounds: int, selection: str
) -> tuple[Any, Any, list[float], list[str]]:
    rows = np.random.default_rng(seed).permutation(len(y))
    parts = rows[: setting.n_train], rows[setting.n_train :]
    pos, neg = (X[parts[0]][y[parts[0]] == label] for label in (1, 0))
    H = setting.rankers(pos, neg)
    curves: list[list[metrics.Roc]] = [[], []]
    areas: list[list[float]] = [[], []]
    traces = []
    for p in POWERS:
        lam, trace = pnorm.train(pos, neg, H, p, rounds, selection=selection, n_threads=1)
        f = pnorm.score(X, H, lam)
        for part, curve, area in zip(parts, curves, areas, strict=True):
            scores = f[part][y[part] == 1], f[part][y[part] == 0]
            curve.append(metrics.roc_counts(*scores))
            area.append(metrics.auc(*scores))
        traces.append(trace)
    return curves, areas, [float(trace.log_objective[-1]) for trace in traces], [trace.status for trace in traces]


def _above(roc: metrics.Roc) -> list[int]:
    """Return the positives strictly above the first, second, ... negative."""
    before = np.searchsorted(roc.false_positives, np.arange(FIRST), side="right") - 1
    return [int(n) for n in roc.true_positives[before]]


def _meeting(plain: metrics.Roc, pushed: metrics.Roc) -> tuple[float, float]:
    """Return the negatives before two curves cross, and the sign of the second less the first before that."""
    sign, met = _lead(pushed, plain)
    return math.nan if met is None else met.false_positives, sign


# Claims -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paired:
    """A difference over splits, with its tests."""

    n: int
    mean: float
    spread: float
    """Standard deviation over splits."""
    more: float
    """Share of splits with a difference above zero."""
    less: float
    p_value: float
    """Two-sided, for these data."""
    corrected: float
    """Two-sided, for another sample (Nadeau and Bengio)."""

    @property
    def verdict(self) -> str:
        """Return the verdict on a claim that the mean is above zero."""
        if self.n < LEAST_SPLITS:
            return "too few splits"
        if not self.p_value < 0.05:
            return "not shown"
        return "holds" if self.mean > 0.0 else "the reverse holds"


def paired(differences: Any, overlap: float) -> Paired:
    """Test whether differences over splits have mean zero; `overlap` is n2/n1 of the top of the file."""
    d = np.asarray(differences, dtype=np.float64)
    mean, spread = float(d.mean()), float(d.std(ddof=1))
    tests = [_t_test(mean, spread * math.sqrt(1.0 / d.size + more), d.size) for more in (0.0, overlap)]
    return Paired(d.size, mean, spread, float((d > 0).mean()), float((d < 0).mean()), *tests)


def _t_test(mean: float, error: float, n: int) -> float:
    """Return the two-sided p-value of a mean with this standard error."""
    from scipy.special import stdtr

    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return 2.0 * float(stdtr(n - 1, -abs(mean / error)))


def _said(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and its verdict over the splits."""

    claim: str
    source: str
    setting: str
    verdict: str
    finding: str


def claims(results: dict[str, Result]) -> list[Claim]:
    """Judge every claim about the settings at hand."""
    return [claim for name, result in results.items() for claim in _claims(name, result)]


def _claims(name: str, of: Result) -> Iterator[Claim]:
    setting = SETTINGS[name]
    words = ("Training", "Testing")

    def claim(text: str, verdict: str, finding: str) -> Claim:
        return Claim(text, setting.source, setting.title, verdict, finding)

    def grows(part: int, text: str, low: int, high: int, heights: Any = None) -> Claim:
        """Return the claim that there are more positives at one p than at another."""
        values = of.top if heights is None else heights.mean(axis=-1)
        a, b = (values[:, part, POWERS.index(p)] for p in (low, high))
        pair = paired(b - a, of.rows[1] / of.rows[0])
        found = f"{a.mean():.1f} at p = {low}, {b.mean():.1f} at p = {high}; {pair.mean:+.1f} ± {pair.spread:.1f}, "
        found += f"more in {pair.more:.0%} of the splits and less in {pair.less:.0%}; {_said(pair.p_value)}"
        found += f", corrected {_said(pair.corrected)}" if part == 1 else ""
        return claim(f"{words[part]}: {text}", pair.verdict, found)

    def common(text: str, share: float, found: str) -> Claim:
        """Return a claim about single splits."""
        return claim(text, "in most splits" if share > 0.5 else "not in most splits", found)

    if name == "pima-50":
        for low, high in ((1, 2), (2, 4)):
            yield grows(1, f"p = {high} is above p = {low}: small p generalise", low, high)
        for low, high in ((8, 1), (16, 8), (64, 8)):
            yield grows(1, f"p = {low} is below p = {high}: large p do not, with so few rows", low, high)
        return
    for part in (0, 1):
        yield grows(part, "p = 64 is above p = 1 at the first negative", 1, 64)
    if name == "wdbc":
        yield grows(1, "p = 64 is slightly below p = 16", 64, 16)
        yield grows(1, "p = 64 is above p = 1 down to the 10th negative (mean over these)", 1, 64, of.above[..., :10])
    if name == "tic-tac-toe":
        text = "p = 64 is above p = 1 from the 2nd negative to the 16th (mean over these)"  # the 1st: an outlier
        yield grows(1, text, 1, 64, of.above[..., 1:16])
    if name == "pima":
        first, last = of.top[:, 0, 0], of.top[:, 0, -1]
        both = (first <= 4) & (last >= 22)
        found = f"4 or fewer in {_share(first <= 4)} of the splits, 22 or more in {_share(last >= 22)}, "
        found += f"both in {_share(both)}; a gain of 18 or more in {_share(last - first >= 18)}, "
        found += f"of {np.median(last - first):.0f} in the median"
        yield common("Training: 4 at p = 1, 22 at p = 64", both.mean(), found)
    if name in ("pima", "pima-thresholds", "housing"):
        never = [(np.diff(of.top[:, part]) >= 0).all(axis=1) for part in (0, 1)]
        found = f"so in {_share(never[0])} of the splits in training and {_share(never[1])} in testing"
        text = "The number at the first negative never falls as p grows, in training and testing"
        yield common(text, min(float(part.mean()) for part in never), found)
    for part in (0, 1):
        met, ahead = of.crossing[:, part], of.ahead[:, part] == 1
        gained = ahead & ~np.isnan(met)
        found = f"so in {_share(gained)} of the splits"
        if gained.any():
            found += f", in the median after {np.median(met[gained]):.0f} negatives"
        found += f"; ahead all the way in {_share(ahead & np.isnan(met))}"
        yield common(f"{words[part]}: p = 64 is ahead first, and p = 1 after a crossing", gained.mean(), found)
    change = of.auc[..., -1] - of.auc[..., 0]
    train, test = change.mean(axis=0)
    p_train, p_test = (_said(paired(side, 0.0).p_value) for side in change.T)
    found = f"{train:+.4f} in training ({p_train}) and {test:+.4f} in testing ({p_test}), "
    found += f"{change.min():+.3f} to {change.max():+.3f} in single splits"
    verdict = "holds" if max(abs(train), abs(test)) <= 0.02 else "does not hold"
    yield claim("AUC hardly changes from p = 1 to p = 64, by 0.02 at most", verdict, found)


def _share(those: Any) -> str:
    return f"{np.mean(those):.0%}"


# Files ------------------------------------------------------------------------------------------------


def to_dict(results: dict[str, Result], judged: Sequence[Claim]) -> dict[str, Any]:
    """Return every number, for JSON."""
    settings = {}
    for name, of in results.items():
        at = [str(p) for p in POWERS]
        settings[name] = {
            "title": SETTINGS[name].title,
            "source": SETTINGS[name].source,
            "selection": of.selection,
            "rounds": of.rounds,
            "rows": dict(zip(PARTS, of.rows, strict=True)),
            "data": of.data,
            "splits": [
                {
                    "seed": seed,
                    "log_objective": dict(zip(at, of.objective[s].tolist(), strict=True)),
                    "status": dict(zip(at, of.status[s], strict=True)),
                    **{
                        part: {
                            "positives_above_negative": dict(zip(at, of.above[s, i].tolist(), strict=True)),
                            "auc": dict(zip(at, of.auc[s, i].tolist(), strict=True)),
                            "crossing": None if math.isnan(of.crossing[s, i]) else float(of.crossing[s, i]),
                            "ahead": int(of.ahead[s, i]),
                        }
                        for i, part in enumerate(PARTS)
                    },
                }
                for s, seed in enumerate(of.seeds)
            ],
            "roc_of_first_split": {
                part: {p: [side.tolist() for side in roc] for p, roc in zip(at, of.curves[i], strict=True)}
                for i, part in enumerate(PARTS)
            },
        }
    verdicts = [asdict(claim) for claim in judged]
    return {"pnorm": pnorm.__version__, "powers": POWERS, "settings": settings, "claims": verdicts}


def draw(of: Result) -> Any:
    """Return a figure: the curves of one split, the leftmost part and all, and the measures over all splits by p."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.8, 8.2), layout="constrained")
    axes = figure.subplots(3, 2)
    for part, (word, column) in enumerate(zip(("training", "testing"), axes[:2].T, strict=True)):
        plotting.roc(dict(zip(POWERS, of.curves[part], strict=True)), ax=column)
        column[0].set_title(f"{word}: leftmost part")
        column[1].set_title(f"{word}: one split")
    measures = ("positives above\nthe first negative", of.top), ("AUC", of.auc)
    for ax, (what, values) in zip(axes[2], measures, strict=True):
        for part, word in enumerate(("training", "testing")):
            spread = {float(p): values[:, part, i] for i, p in enumerate(POWERS)}
            plotting.push_path(spread, label=word, ax=ax)
        ax.set(title=f"{len(of.seeds)} splits", ylabel=what)
    keys: dict[str, Any] = {}  # of all panels, which are too narrow for a legend of their own
    for ax in (*axes[1], axes[2, 0], *axes[0]):
        circles = ax.lines[len(POWERS) :] if ax in axes[0] else ax.lines
        keys |= {" ".join(str(line.get_label()).split()): line for line in circles}
    figure.legend(list(keys.values()), list(keys), loc="outside lower center", ncols=3, frameon=False)
    for ax in axes.flat:
        if ax.get_legend() is not None:
            ax.get_legend().remove()
        ax.spines[["top", "right"]].set_visible(False)
    rule = "" if of.selection == "absolute" else f", {of.selection} selection"
    figure.suptitle(f"{SETTINGS[of.setting].title} ({SETTINGS[of.setting].source}){rule}")
    return figure


def means_table(results: dict[str, Result]) -> list[list[str]]:
    """Return a table of positives above the first negative: mean and standard deviation over the splits."""
    lines = [["setting", "part", *(f"p = {p}" for p in POWERS)]]
    for name, of in results.items():
        for part, word in enumerate(PARTS):
            top = of.top[:, part]
            spread = top.std(axis=0, ddof=1)
            cells = [f"{a:.1f} ± {b:.1f}" for a, b in zip(top.mean(axis=0), spread, strict=True)]
            lines.append([SETTINGS[name].title, word, *cells])
    return lines


def claims_table(judged: Sequence[Claim]) -> list[list[str]]:
    """Return a table with a line for each claim."""
    return [["setting", "claim", "source", "verdict", "what the splits say"]] + [
        [claim.setting, claim.claim, claim.source, claim.verdict, claim.finding] for claim in judged
    ]


_EXPLAINED = """\
# The papers' experiments over {splits} random splits

P-Norm Push, {selection} selection, {rounds} rounds; split s is the permutation of `numpy.random.default_rng(s)`. TR is
C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, COLT the conference version of 2006. Both show one split
per setting.

A claim that something grows *holds* if the mean of its paired differences over the splits is above zero with
p < 0.05 in a two-sided t test, *the reverse holds* if it is below zero in the same sense, and else it is *not shown*.
That is a statement about these data. For testing, a p-value for another sample from the same source stands beside it,
*corrected* for the rows that splits share (Nadeau and Bengio, 2003); it is conservative where few rows train and many
test. No p-value is adjusted for the number of tests. Claims about single curves hold *in most splits* or do not. AUC
*hardly changes* if its mean moves by at most 0.02.

## Positives above the first negative

Mean ± standard deviation over the splits.

"""


def write(results: dict[str, Result], out: Path) -> list[Claim]:
    """Write results.json and claims.md; return the claims."""
    judged = claims(results)
    numbers = json.dumps(to_dict(results, judged), allow_nan=False)
    _files.write(out / "results.json", numbers.encode())
    of = next(iter(results.values()))
    text = _EXPLAINED.format(splits=len(of.seeds), rounds=of.rounds, selection=of.selection) + _markdown(
        means_table(results)
    )
    text += "\n## Claims\n\n" + _markdown(claims_table(judged))
    _files.write(out / "claims.md", text.encode())
    return judged


def _markdown(table: list[list[str]]) -> str:
    head, *body = table
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *body))


# The command ------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> None:
    """Run the experiments that the command line asks for: measure, write the files, and print a summary."""
    parser = parser_of(__file__, __doc__)
    add, names = parser.add_argument, ", ".join(SETTINGS)
    add("--data", metavar="DIR", help="folder with the data sets (default: PNORM_DATA)")
    add("--splits", type=int, metavar="N", default=100, help="random splits per setting (default: 100)")
    add("--setting", metavar="NAME", nargs="+", action="extend", choices=SETTINGS, help=f"only these of {names}")
    add("--rounds", type=int, metavar="T", default=ROUNDS, help="rounds of training (default: 200, as in the papers)")
    rule = "how a round chooses its weak ranker: as TR prints it (absolute, default) or as COLT does (largest)"
    add("--selection", choices=_checks.SELECTIONS, default="absolute", help=rule)
    add("--out", metavar="DIR", default="reproduced", help="folder for the files (default: reproduced)")
    given = parser.parse_args(argv)
    if not 2 <= given.splits < 2**31:
        parser.error(f"--splits must be at least 2 and below 2**31; got {given.splits}")
    if given.rounds < 1:
        parser.error(f"--rounds must be at least 1; got {given.rounds}")
    if importlib.util.find_spec("matplotlib") is None:
        parser.error(f"it draws with Matplotlib. {install('plot')}")
    names, out = list(dict.fromkeys(given.setting or SETTINGS)), Path(given.out)
    try:
        for name in names:
            SETTINGS[name].data(given.data)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Result] = {}
    for name in names:
        watched = partial(_watched, given.splits, name)
        results[name] = measure(name, range(given.splits), given.data, given.rounds, given.selection, watched)
        picture = io.BytesIO()
        draw(results[name]).savefig(picture, format="png", dpi=90)
        _files.write(out / f"{name}.png", picture.getvalue())
        judged = write(results, out)
    print("Positives above the first negative, mean and standard deviation over the splits\n")
    print_columns(means_table(results))
    for title in dict.fromkeys(claim.setting for claim in judged):
        print(f"\n{title}")
        print_columns([[f"  {claim.verdict:18}", claim.claim] for claim in judged if claim.setting == title])
    print(f"\nAll numbers, the pictures and the claims: {out}/results.json, *.png, claims.md")


def _watched(n: int, name: str, found: Iterable[Any]) -> Iterable[Any]:
    """Return the results of n splits with a progress bar; without tqdm or a terminal, print a line per setting."""
    try:
        from tqdm import tqdm
    except ImportError:
        tqdm = None
    if tqdm is None or not sys.stderr.isatty():
        print(f"{name}: {n} splits", file=sys.stderr, flush=True)
        return found
    return tqdm(found, total=n, desc=f"{name:15}", unit="split")


def print_columns(table: list[list[str]]) -> None:
    """Print lines of cells, aligned."""
    print(aligned(table, range(len(table[0]))))


if __name__ == "__main__":
    main()
