"""The experiments of the papers again, over many random splits instead of one, and what becomes of their claims.

Settings, measurements, claims, and files, in this order. Each claim is judged by paired differences over the
splits, twice. For these data, splits are independent draws, and the paired t test is what it seems. For another
sample of such rows they are not, as they share rows: there the test is corrected as Nadeau and Bengio
(Machine Learning 52, 2003) do, with a variance of the mean of (1/n + shared) s**2 instead of s**2 / n, where
`shared` is the ratio of the rows judged by to the others.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import datasets, metrics, plotting, rankers
from pnorm._checks import Vector
from pnorm.datasets import Dataset

POWERS = (1, 2, 4, 8, 16, 64)
ROUNDS = 200
"""What both papers used throughout."""
PARTS = ("train", "test")
FIRST = 20
"""Down to how many negatives the leftmost part of the curves is recorded."""

# Settings ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """One experiment of the papers."""

    title: str
    source: str
    n_train: int
    load: Callable[..., Dataset]
    columns: int | None = None
    """How many of the columns are used, from the first on; None for all."""
    cuts: tuple[tuple[float, ...], ...] | None = None
    """Thresholds of each column; None for the columns themselves, scaled to [-1, 1] by the training rows."""

    def data(self, home: str | None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The rows and labels."""
        data = self.load() if self.load is datasets.tic_tac_toe else self.load(home)
        return data.X[:, : self.columns], data.y

    def rankers(self, pos: Any, neg: Any) -> rankers.Rankers:
        """The weak rankers."""
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
    """What all splits of one setting gave; arrays are (split, part, power), parts are training and testing."""

    setting: str
    rounds: int
    rows: tuple[int, int]
    """Rows to train on and to test on."""
    above: NDArray[np.int64]
    """Positives above the first negative, the second, ... (split, part, power, FIRST)."""
    auc: NDArray[np.float64]
    objective: NDArray[np.float64]
    """log F_p at the end of training (split, power)."""
    status: list[list[str]]
    """How the runs ended (split, power)."""
    crossing: NDArray[np.float64]
    """False positives where the curves of the least and the largest p first cross (split, part); nan if never."""
    curves: list[list[metrics.Roc]]
    """The curves of the first split (part, power)."""

    @property
    def top(self) -> NDArray[np.int64]:
        """Positives above the first negative (split, part, power)."""
        return np.asarray(self.above[..., 0])

    @property
    def splits(self) -> int:
        """Their number."""
        return len(self.auc)


def measure(name: str, splits: Iterable[int], home: str | None = None, rounds: int = ROUNDS) -> Result:
    """Train and judge on random splits, one per seed."""
    setting = SETTINGS[name]
    X, y = setting.data(home)
    found = [_split(setting, X, y, seed, rounds) for seed in splits]
    curves, objective, status = zip(*found, strict=True)
    return Result(
        name,
        rounds,
        (setting.n_train, len(y) - setting.n_train),
        np.array([[[_above(roc) for roc in part] for part in split] for split in curves]),
        np.array([[[_area(roc) for roc in part] for part in split] for split in curves]),
        np.array(objective),
        list(status),
        np.array([[_crossing(part[0], part[-1]) for part in split] for split in curves]),
        curves[0],
    )


def _split(
    setting: Setting, X: Any, y: Any, seed: int, rounds: int
) -> tuple[list[list[metrics.Roc]], Vector, list[str]]:
    rows = np.random.default_rng(seed).permutation(len(y))
    parts = rows[: setting.n_train], rows[setting.n_train :]
    pos, neg = (X[parts[0]][y[parts[0]] == label] for label in (1, 0))
    H = setting.rankers(pos, neg)
    curves: list[list[metrics.Roc]] = [[], []]
    traces = []
    for p in POWERS:
        lam, trace = pnorm.train(pos, neg, H, p, rounds, n_threads=1)
        f = pnorm.score(X, H, lam)
        for curve, part in zip(curves, parts, strict=True):
            curve.append(metrics.roc_counts(f[part][y[part] == 1], f[part][y[part] == 0]))
        traces.append(trace)
    return curves, np.array([trace.log_objective[-1] for trace in traces]), [trace.status for trace in traces]


def _above(roc: metrics.Roc) -> list[int]:
    """Positives strictly above the first, second, ... negative."""
    before = np.searchsorted(roc.false_positives, np.arange(FIRST), side="right") - 1
    return [int(n) for n in roc.true_positives[before]]


def _area(roc: metrics.Roc) -> float:
    false, true = roc
    return float(np.diff(false) @ (true[1:] + true[:-1]) / (2.0 * false[-1] * true[-1]))


def _crossing(a: metrics.Roc, b: metrics.Roc) -> float:
    met = metrics.crossing(a, b)
    return math.nan if met is None else met.false_positives


# Claims -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paired:
    """A difference over splits, with its tests."""

    mean: float
    spread: float
    """Standard deviation over splits."""
    more: float
    """Share of splits in which it is above zero."""
    less: float
    here: float
    """Two-sided p-value for these data."""
    elsewhere: float
    """The same for another sample of such rows."""

    @property
    def verdict(self) -> str:
        """Whether what is claimed to grow does."""
        if not self.here < 0.05:
            return "not shown"
        word = "holds" if self.mean > 0.0 else "the reverse holds"
        return word if self.elsewhere < 0.05 else f"{word} on these data"

    def __str__(self) -> str:
        here, elsewhere = ("p < 0.001" if p < 0.001 else f"p = {p:.2g}" for p in (self.here, self.elsewhere))
        return (
            f"{self.mean:+.1f} on average (standard deviation {self.spread:.1f}), more in {self.more:.0%} of the "
            f"splits and less in {self.less:.0%}; {here}, for another sample {elsewhere}"
        )


def paired(differences: Any, shared: float) -> Paired:
    """Test whether differences over splits have mean zero; see the top of the file."""
    d = np.asarray(differences, dtype=np.float64)
    mean, spread = float(d.mean()), float(d.std(ddof=1))
    tests = [_t_test(mean, spread * math.sqrt(1.0 / d.size + more), d.size) for more in (0.0, shared)]
    return Paired(mean, spread, float((d > 0).mean()), float((d < 0).mean()), *tests)


def _t_test(mean: float, error: float, n: int) -> float:
    """The two-sided p-value of a mean with this standard error."""
    from scipy.special import stdtr

    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return 2.0 * float(stdtr(n - 1, -abs(mean / error)))


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what the splits say."""

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

    def claim(text: str, verdict: str, finding: str, source: str = setting.source) -> Claim:
        return Claim(text, source, setting.title, verdict, finding)

    def grows(text: str, part: int, low: int, high: int, values: Any = of.top) -> Claim:
        """The claim that a number is larger at one p than at another."""
        low, high = POWERS.index(low), POWERS.index(high)
        a, b = values[:, part, low], values[:, part, high]
        pair = paired(b - a, of.rows[part] / of.rows[1 - part])
        means = f"{a.mean():.1f} at p = {POWERS[low]}, {b.mean():.1f} at p = {POWERS[high]}"
        return claim(text, pair.verdict, f"{means}: {pair}")

    if name == "pima-50":
        for low, high in ((1, 2), (2, 4)):
            yield grows(f"Testing: p = {high} is above p = {low}, small p generalise", 1, low, high)
        for high in (8, 16, 64):
            yield grows(f"Testing: p = 1 is above p = {high}, for which 50 rows are too few", 1, high, 1)
        return
    for part, word in enumerate(("Training", "Testing")):
        yield grows(f"{word}: p = 64 is above p = 1 at the first negative", part, 1, 64)
    if name.startswith("wdbc"):
        yield grows("Testing: p = 64 is slightly below p = 16", 1, 64, 16)
    if name == "tic-tac-toe":
        further = of.above[..., 1:16].mean(axis=-1)
        yield grows("Testing: p = 64 is above p = 1 from the 2nd to the 16th negative", 1, 1, 64, further)
    text = "TR section 5"
    if name == "pima":
        first, last = of.top[:, 0, 0], of.top[:, 0, -1]
        both = (first <= 4) & (last >= 22)
        found = f"4 or fewer in {_share(first <= 4)}, 22 or more in {_share(last >= 22)}, both in {_share(both)}; "
        found += f"a gain of 18 or more in {_share(last - first >= 18)}, of {np.median(last - first):.0f} in the median"
        seen = "some splits have it" if both.any() else "no split has it"
        yield claim("Training: 4 at p = 1, 22 at p = 64", seen, found, text)
    if name in ("pima", "pima-thresholds"):
        never = [(np.diff(of.top[:, part]) >= 0).all(axis=1) for part in (0, 1)]
        verdict = "typical" if min(map(np.mean, never)) > 0.5 else "not typical"
        found = f"so in {_share(never[0])} in training and {_share(never[1])} in testing"
        yield claim("Never less at the first negative for a larger p, in training and testing", verdict, found, text)
    change = of.auc[..., -1] - of.auc[..., 0]
    train, test = change.mean(axis=0)
    verdict = "holds" if max(abs(train), abs(test)) <= 0.02 else "does not hold"
    found = (
        f"{train:+.4f} in training and {test:+.4f} in testing on average, {change.min():+.3f} to {change.max():+.3f} "
    )
    yield claim("AUC hardly changes from p = 1 to p = 64", verdict, found + "in single splits", text)
    met = of.crossing[:, 0]
    found = f"so in {_share(~np.isnan(met))} in training"
    if not np.isnan(met).all():
        found += f", in the median after {np.nanmedian(met):.0f} negatives"
    found += f"; {_share(~np.isnan(of.crossing[:, 1]))} in testing"
    verdict = "holds" if np.isnan(met).mean() < 0.1 else "not always"
    yield claim("The curves of p = 1 and p = 64 cross: the top is paid for further down", verdict, found, text)


def _share(those: Any) -> str:
    return f"{np.mean(those):.0%} of the splits"


# Files ------------------------------------------------------------------------------------------------


def to_dict(results: dict[str, Result], judged: Sequence[Claim]) -> dict[str, Any]:
    """Every number, as JSON has it."""
    settings = {}
    for name, of in results.items():
        at = [str(p) for p in POWERS]
        settings[name] = {
            "title": SETTINGS[name].title,
            "source": SETTINGS[name].source,
            "rounds": of.rounds,
            "rows": dict(zip(PARTS, of.rows, strict=True)),
            "splits": [
                {
                    "seed": seed,
                    "log_objective": dict(zip(at, of.objective[seed].tolist(), strict=True)),
                    "status": dict(zip(at, of.status[seed], strict=True)),
                    **{
                        part: {
                            "positives_above_negative": dict(zip(at, of.above[seed, i].tolist(), strict=True)),
                            "auc": dict(zip(at, of.auc[seed, i].tolist(), strict=True)),
                            "crossing": None if math.isnan(of.crossing[seed, i]) else of.crossing[seed, i],
                        }
                        for i, part in enumerate(PARTS)
                    },
                }
                for seed in range(of.splits)
            ],
            "roc_of_seed_0": {
                part: {p: [side.tolist() for side in roc] for p, roc in zip(at, of.curves[i], strict=True)}
                for i, part in enumerate(PARTS)
            },
        }
    return {
        "pnorm": pnorm.__version__,
        "powers": POWERS,
        "settings": settings,
        "claims": [asdict(claim) for claim in judged],
    }


def draw(of: Result) -> Any:
    """A figure: the curves of one split, the leftmost part and all, and what p does over all splits."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(12.5, 7.2), layout="constrained")
    for part, (word, row) in enumerate(zip(("training", "testing"), axes, strict=True)):
        plotting.roc(dict(zip(POWERS, of.curves[part], strict=True)), ax=row[:2])
        row[0].set_title(f"{word}, one split: leftmost part")
        row[1].set_title(f"{word}, one split")
    measures = ("positives above the first negative", of.top), ("AUC", of.auc)
    for ax, (what, values) in zip(axes[:, 2], measures, strict=True):
        for part, word in enumerate(("training", "testing")):
            spread = {float(p): values[:, part, i] for i, p in enumerate(POWERS)}
            plotting.push_path(spread, label=word, ax=ax)
        ax.set(title=f"{of.splits} splits", ylabel=what)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{SETTINGS[of.setting].title} ({SETTINGS[of.setting].source})")
    return figure


def means_table(results: dict[str, Result]) -> list[list[str]]:
    """Positives above the first negative, mean and standard deviation over the splits."""
    lines = [["setting", "part", *(f"p = {p}" for p in POWERS)]]
    for name, of in results.items():
        for part, word in enumerate(PARTS):
            top = of.top[:, part]
            spread = top.std(axis=0, ddof=1) if of.splits > 1 else np.zeros(len(POWERS))
            cells = [f"{a:.1f} ± {b:.1f}" for a, b in zip(top.mean(axis=0), spread, strict=True)]
            lines.append([SETTINGS[name].title, word, *cells])
    return lines


def claims_table(judged: Sequence[Claim]) -> list[list[str]]:
    """A line for each claim."""
    return [["setting", "claim", "source", "verdict", "what the splits say"]] + [
        [claim.setting, claim.claim, claim.source, claim.verdict, claim.finding] for claim in judged
    ]


_EXPLAINED = """\
# The papers' experiments over {splits} random splits

P-Norm Push, absolute selection, {rounds} rounds; split s is the permutation of `numpy.random.default_rng(s)`. TR is
C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, COLT the conference version of 2006. Both show one split
per setting.

Claims that something grows are judged by paired differences over the splits. A claim *holds* if their mean is above
zero with p < 0.05 in two tests: the t test for these data, in which splits are independent draws, and the one for
another sample of such rows, which allows for the rows that splits share (Nadeau and Bengio, 2003). It *holds on these
data* if only the first says so; *the reverse holds* if the mean is below zero in the same sense; and it is *not shown*
if the first test does not say so. No p-value is adjusted for the number of tests. AUC *hardly changes* if its mean
moves by at most 0.02.

## Positives above the first negative

Mean and standard deviation over the splits.

"""


def write(results: dict[str, Result], out: Path) -> list[Claim]:
    """Write results.json, a picture per setting, and claims.md; return the claims."""
    from matplotlib import pyplot

    judged = claims(results)
    (out / "results.json").write_text(json.dumps(to_dict(results, judged)), encoding="utf-8")
    for name, of in results.items():
        figure = draw(of)
        figure.savefig(out / f"{name}.png", dpi=90)
        pyplot.close(figure)
    of = next(iter(results.values()))
    text = _EXPLAINED.format(splits=of.splits, rounds=of.rounds) + _markdown(means_table(results))
    text += "\n## Claims\n\n" + _markdown(claims_table(judged))
    (out / "claims.md").write_text(text, encoding="utf-8")
    return judged


def _markdown(table: list[list[str]]) -> str:
    head, *body = table
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *body))


# The command ------------------------------------------------------------------------------------------


def run(names: Sequence[str], splits: int, rounds: int, home: str | None, out: str) -> None:
    """Measure, write the files, and print what they hold in short."""
    try:
        import matplotlib
    except ImportError:
        raise ValueError("reproduce draws with Matplotlib, the extra 'plot' of pnorm: pip install matplotlib") from None
    matplotlib.use("agg")
    for name in names:  # what is not at hand is to be found out now
        SETTINGS[name].data(home)
    os.makedirs(out, exist_ok=True)
    results = {name: measure(name, _watched(range(splits), name), home, rounds) for name in names}
    judged = write(results, Path(out))
    print("Positives above the first negative, mean and standard deviation over the splits\n")
    _print_columns(means_table(results))
    for title in dict.fromkeys(claim.setting for claim in judged):
        print(f"\n{title}")
        _print_columns([[f"  {claim.verdict:31}", claim.claim] for claim in judged if claim.setting == title])
    print(f"\nEvery number, pictures, and what the claims rest on: {out}/results.json, *.png, claims.md")


def _watched(seeds: range, name: str) -> Iterable[int]:
    """The seeds, with a progress bar where tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return seeds
    return tqdm(seeds, desc=f"{name:15}", unit="split")  # type: ignore[no-any-return]


def _print_columns(table: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
