"""Tables of results in notebooks and as data frames."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from facts import raises

import pnorm

EVIL = "<b>x</b>\x1b[31m"

RNG = np.random.default_rng(0)
POS, NEG = RNG.normal(1, 1, (60, 2)), RNG.normal(0, 1, (80, 2))
H = pnorm.rankers.quantile_thresholds(POS, NEG, 5, names=[EVIL, "plain"])
LAM, TRACE = pnorm.train(POS, NEG, H, t_max=12)
F_POS, F_NEG = pnorm.score(POS, H, LAM), pnorm.score(NEG, H, LAM)
CUTOFF = pnorm.cutoff(F_POS, F_NEG, recall=0.5)


class Reader(HTMLParser):
    """The text of the cells of a table."""

    def __init__(self):
        super().__init__()
        self.rows, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def cells(result):
    """The rows of the table that a notebook shows, the head first."""
    text = result._repr_html_()
    assert "\x1b" not in text
    assert "<b>" not in text
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    assert len({len(row) for row in reader.rows}) == 1
    return reader.rows


def table(linear=False):
    rows = [{EVIL: side[:, 0], "town": np.where(side[:, 1] > 0, "Ulm", "Bonn")} for side in (POS, NEG)]
    return pnorm.rankers.from_table(*rows, linear=linear)


def test_traces():
    rows = TRACE.to_frame()
    assert list(rows.index) == list(range(1, TRACE.n_iter + 1))
    np.testing.assert_array_equal(rows["step"], TRACE.step)
    np.testing.assert_array_equal(rows["log_objective"], TRACE.log_objective[1:])
    assert [H.names[j] for j in rows["ranker"]] == rows["name"].tolist()
    assert cells(TRACE)[1] == ["status", TRACE.status]
    _, minimum = pnorm.minimize(POS, NEG, H, l2=0.1)
    assert minimum.to_frame()["gap"].iloc[-1] == minimum.gap
    assert cells(minimum)[-1][0] == "gap"
    _, other = pnorm.minimize(POS, NEG, H, l2=0.1, loss="logistic")
    for trace in (TRACE, minimum, other):
        assert ["".join(row) for row in cells(trace)[1:]] == [
            line[:11].strip() + line[11:]
            for line in re.sub(r"\n {13}", " ", str(trace)).splitlines()  # lines are wrapped
        ]
        assert "; ".join([row[1] for row in cells(trace) if row[0] in ("reason", "")]) == trace.message
    assert str(TRACE).splitlines()[:3] == [
        "status     t_max",
        "reason     all 12 rounds were run",
        "rounds     12",
    ]
    assert f"steps      {minimum.n_iter}\n" in str(minimum)
    assert "nats above the infimum" in str(minimum)
    assert "nats" not in str(other)
    assert f"to {minimum.objective[-1]:.6g} (trace.objective)" in str(minimum)
    assert repr(minimum).startswith(f"<Trace: converged after {minimum.n_iter} steps, log F_p ")
    assert "after 1 round," in repr(pnorm.train(POS, NEG, H, t_max=1)[1])


@pytest.mark.parametrize("how", [{"t_max": 5}, {"l2": [1.0, 0.1]}], ids=str)
def test_choices(how):
    several = {"cuts": H, "table": pnorm.rankers.columns(2)} if "l2" in how else H
    found = pnorm.cross_validate(POS, NEG, several, [1, 4], folds=3, **how)
    rows = found.to_frame()
    assert len(rows) == found.mean.size
    np.testing.assert_array_equal(rows["mean"], found.mean.ravel())
    assert rows["mean"].max() == found.mean.max()
    head, *shown = cells(found)
    assert len(found.p) <= len(shown) <= len(found.p) + 2  # the best and the simplest choice may be further rows
    assert {row[head.index("p")] for row in shown} == {"1", "4"}
    assert head[-2:] == ["mean", "behind the best"]
    for row in shown:
        assert " ".join(row) in " ".join(str(found).split())
    assert ("rounds" in rows) == ("t_max" in how)


def test_summaries():
    for confidence in (None, 0.9):
        found = pnorm.metrics.summary(F_POS, F_NEG, k=10, confidence=confidence, n_resamples=20)
        rows = found.to_frame()
        assert rows["value"].to_dict() == {name: float(value) for name, value in found.items()}
        assert ("low" in rows) == (confidence is not None)
        for row in cells(found)[1:]:
            assert " ".join(row).strip() in " ".join(str(found).split())
    assert rows.loc["auc", "low"] == found["auc"].low


def test_plans_and_weak_rankers():
    made = table()
    rows = made.plan.to_frame()
    assert rows["kind"].tolist() == ["number", "category"]
    assert rows["name"].tolist() == [EVIL, "town"]
    assert cells(made) == cells(made.plan)
    assert [row[0] for row in cells(made.plan)] == ["column", "<b>x</b>\\x1b[31m", "town"]
    assert cells(H)[2][:2] == ["plain", "5"]
    wide = pnorm.rankers.columns(200)
    assert len(cells(wide)) == 31
    assert "170 more columns" in wide._repr_html_()


def test_models_and_cut_offs(tmp_path):
    pnorm.save(tmp_path / "m.json", LAM, H, p=4, cutoff=CUTOFF)
    model = pnorm.load(tmp_path / "m.json")
    used = [int(np.count_nonzero(LAM[H.column == c])) for c in (0, 1)]
    assert [row[1] for row in cells(model)[1:]] == [f"{n} of 5" for n in used if n]
    assert str(model.cutoff).splitlines()[0] in model._repr_html_()
    shown = [cell for row in cells(CUTOFF) for cell in row]
    assert " ".join(shown).split() == " ".join(str(CUTOFF).splitlines()[1:]).split()
    nothing = pnorm.cutoff([1.0, 1.0], [1.0], precision=0.9)
    assert "too few rows" in nothing._repr_html_()


def test_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (TRACE, table().plan):
        with raises(ImportError, "to_frame needs pandas"):
            result.to_frame()
