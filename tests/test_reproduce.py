"""The experiments of the papers: settings as printed, numbers against a direct computation, verdicts, files."""

import json
import sys

import numpy as np
import pytest
import reproduce
from facts import tells
from problems import HOME, needs
from scipy import stats

import pnorm

pytest.importorskip("matplotlib")


@pytest.mark.parametrize(
    ("name", "rows", "rankers"),
    [
        pytest.param("pima", (300, 468), 8, marks=needs("pima-indians-diabetes.csv")),
        pytest.param("pima-thresholds", (300, 468), 32, marks=needs("pima-indians-diabetes.csv")),
        pytest.param("pima-50", (50, 718), 8, marks=needs("pima-indians-diabetes.csv")),
        pytest.param("wdbc", (369, 200), 6, marks=needs("wdbc.data")),
        pytest.param("wdbc-200", (200, 369), 6, marks=needs("wdbc.data")),
        pytest.param("housing", (300, 206), 13, marks=needs("housing.csv")),
        ("tic-tac-toe", (500, 458), 9),
    ],
)
def test_settings_are_those_of_the_papers(name, rows, rankers):
    setting = reproduce.SETTINGS[name]
    X, y = setting.data(str(HOME))
    assert (setting.n_train, len(y) - setting.n_train) == rows
    pos, neg = X[y == 1], X[y == 0]
    H = setting.rankers(pos, neg)
    assert len(H) == rankers
    outputs = H.evaluate(X)
    if name == "pima-thresholds":
        assert "x7 > 36" in H.names  # age is the eighth
        np.testing.assert_array_equal(outputs[:, -1], X[:, 7] > 40)
    else:
        np.testing.assert_allclose([outputs.min(axis=0), outputs.max(axis=0)], [[-1] * rankers, [1] * rankers])


def test_measurements_are_those_of_the_literal_split():
    of = reproduce.measure("tic-tac-toe", range(2))
    data = pnorm.datasets.tic_tac_toe()
    for seed in (0, 1):
        rows = np.random.default_rng(seed).permutation(958)
        X, y = data.X[rows], data.y[rows]
        pos, neg = X[:500][y[:500] == 1], X[:500][y[:500] == 0]
        H = pnorm.rankers.normalized(pos, neg, -1, 1)
        f_by_p = {}
        for i, p in enumerate((1, 2, 4, 8, 16, 64)):
            lam, trace = pnorm.train(pos, neg, H, p, 200)
            f = f_by_p[p] = pnorm.score(X, H, lam)
            assert of.objective[seed, i] == trace.log_objective[-1]
            assert of.status[seed][i] == trace.status
            for part, here in enumerate((slice(0, 500), slice(500, None))):
                f_pos, f_neg = f[here][y[here] == 1], np.sort(f[here][y[here] == 0])[::-1]
                assert of.top[seed, part, i] == pnorm.metrics.positives_at_top(f_pos, f_neg)
                assert of.auc[seed, part, i] == pytest.approx(pnorm.metrics.auc(f_pos, f_neg), rel=1e-12)
                assert list(of.above[seed, part, i]) == [(f_pos > bad).sum() for bad in f_neg[:20]]
        rocs = [pnorm.metrics.roc_counts(f_by_p[p][500:][y[500:] == 1], f_by_p[p][500:][y[500:] == 0]) for p in (1, 64)]
        assert of.crossing[seed, 1] == pnorm.metrics.crossing(*rocs).false_positives
        order = [np.argsort(-f_by_p[p][500:], kind="stable") for p in (1, 64)]
        plain, pushed = (np.cumsum(y[500:][rank] == 1) for rank in order)
        first = np.flatnonzero(plain != pushed)
        if len({*f_by_p[1][500:]}) == len({*f_by_p[64][500:]}) == 458:  # else ties blur the walk
            assert of.ahead[seed, 1] == (np.sign(pushed[first[0]] - plain[first[0]]) if first.size else 0)
    assert of.rows == (500, 458)
    assert of.seeds == [0, 1]


def test_rounds_are_as_many_as_asked_for():
    of = reproduce.measure("tic-tac-toe", range(1), rounds=3)
    data = pnorm.datasets.tic_tac_toe()
    rows = np.random.default_rng(0).permutation(958)[:500]
    pos, neg = (data.X[rows][data.y[rows] == label] for label in (1, 0))
    _, trace = pnorm.train(pos, neg, pnorm.rankers.normalized(pos, neg, -1, 1), 16, 3)
    assert of.objective[0, 4] == trace.log_objective[-1]
    assert of.rounds == 3


def test_splits_on_threads_come_in_their_order_with_the_same_bits():
    one, several = (reproduce.measure("tic-tac-toe", [5, 3, 8, 1], rounds=5, n_threads=n) for n in (1, 4))
    assert one.seeds == several.seeds == [5, 3, 8, 1]
    for name in ("above", "auc", "objective", "crossing", "ahead"):
        np.testing.assert_array_equal(getattr(one, name), getattr(several, name))
    assert len(set(one.objective[:, 0])) == 4
    assert one.objective[1, 2] == reproduce.measure("tic-tac-toe", [3], rounds=5).objective[0, 2]


def test_the_rule_of_choice_is_the_one_asked_for(tmp_path):
    of = reproduce.measure("tic-tac-toe", range(2), rounds=40, selection="signed")
    data = pnorm.datasets.tic_tac_toe()
    rows = np.random.default_rng(0).permutation(958)[:500]
    pos, neg = (data.X[rows][data.y[rows] == label] for label in (1, 0))
    H = pnorm.rankers.normalized(pos, neg, -1, 1)
    runs = [pnorm.train(pos, neg, H, 64, 40, selection=rule)[1].log_objective[-1] for rule in ("signed", "absolute")]
    assert of.objective[0, 5] == runs[0] > runs[1]
    about = ["--setting", "tic-tac-toe", "--splits", "2", "--rounds", "40", "--out", str(tmp_path)]
    reproduce.main([*about, "--selection", "signed"])
    found = json.loads((tmp_path / "results.json").read_text())["settings"]["tic-tac-toe"]
    assert found["selection"] == "signed"
    assert found["splits"][0]["log_objective"]["64"] == runs[0]
    assert "P-Norm Push, signed selection, 40 rounds" in (tmp_path / "claims.md").read_text(encoding="utf-8")


def test_who_is_ahead_before_the_curves_cross():
    plain, pushed = pnorm.metrics.roc_counts([8, 7, 6], [9, 5, 4]), pnorm.metrics.roc_counts([9, 8, 1], [7, 6, 5])
    assert reproduce._meeting(plain, pushed) == (1.0, 1.0)
    assert reproduce._meeting(pushed, plain) == (1.0, -1.0)
    met, ahead = reproduce._meeting(plain, plain)
    assert (np.isnan(met), ahead) == (True, 0.0)


def test_paired_tests():
    d = np.random.default_rng(0).normal(0.4, 1, 40)
    pair = reproduce.paired(d, 0.5)
    assert pair.p_value == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-10)
    t = d.mean() / np.sqrt((1 / 40 + 0.5) * d.var(ddof=1))
    assert pair.corrected == pytest.approx(2 * stats.t.sf(t, 39), rel=1e-10)
    assert (pair.more, pair.less) == ((d > 0).mean(), (d < 0).mean())


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([5, 6, 7, 5, 6] * 2, "holds"),
        ([-5, -6, -7, -5, -6] * 2, "the reverse holds"),
        ([1, -1, 0, 1, -1] * 2, "not shown"),
        ([0] * 10, "not shown"),
        ([2] * 10, "holds"),
        ([5, 6, 7, 5, 6], "too few splits"),
    ],
)
def test_verdicts(differences, verdict):
    assert reproduce.paired(differences, 0.5).verdict == verdict


def made(name, growth, n=30):
    """A result in which p adds so many positives at the top, in training and testing, with noise."""
    rng = np.random.default_rng(0)
    above = rng.integers(0, 3, (n, 2, 6, 20)) + np.arange(6)[:, None] * np.array(growth).reshape(2, 1, 1) + 20
    auc = 0.8 - 0.001 * np.arange(6) + rng.normal(0, 1e-4, (n, 2, 6))
    crossing, ahead = np.where(rng.random((n, 2)) < 0.05, np.nan, 7.0), np.tile([1, -1], (n, 1))
    more = ["t_max"] * 6, crossing, ahead, []
    return reproduce.Result(
        name, 200, (300, 468), "", list(range(n)), above, auc, np.zeros((n, 6)), [more[0]] * n, *more[1:]
    )


def test_claims_follow_the_numbers():
    found = reproduce.claims({"pima": made("pima", (4, -4)), "pima-50": made("pima-50", (0, -4))})
    verdicts = {(claim.setting, claim.claim): claim.verdict for claim in found}
    real, few = "Pima, real features", "Pima, 50 to train on"
    assert verdicts[real, "Training: p = 64 is above p = 1 at the first negative"] == "holds"
    assert verdicts[real, "Testing: p = 64 is above p = 1 at the first negative"] == "the reverse holds"
    never = "The number at the first negative never falls as p grows, in training and testing"
    assert verdicts[real, never] == "not in most splits"
    assert verdicts[real, "AUC hardly changes from p = 1 to p = 64, by 0.02 at most"] == "holds"
    assert verdicts[real, "Training: 4 at p = 1, 22 at p = 64"] == "not in most splits"
    assert verdicts[real, "Training: p = 64 is ahead first, and p = 1 after a crossing"] == "in most splits"
    assert verdicts[real, "Testing: p = 64 is ahead first, and p = 1 after a crossing"] == "not in most splits"
    assert verdicts[few, "Testing: p = 2 is above p = 1: small p generalise"] == "the reverse holds"
    assert verdicts[few, "Testing: p = 64 is below p = 8: large p do not, with so few rows"] == "holds"
    assert any("median after 7 negatives" in claim.finding for claim in found)
    assert all(("corrected" in claim.finding) == claim.claim.startswith("Testing")
               for claim in found if "more in" in claim.finding)  # fmt: skip
    wider = made("wdbc", (1, 1))
    wider.auc[..., -1] -= 0.1
    verdicts = {claim.claim: claim.verdict for claim in reproduce.claims({"wdbc": wider})}
    assert verdicts["AUC hardly changes from p = 1 to p = 64, by 0.02 at most"] == "does not hold"
    assert verdicts["Testing: p = 64 is slightly below p = 16"] == "the reverse holds"
    assert verdicts["Testing: p = 64 is above p = 1 down to the 10th negative (mean over these)"] == "holds"
    assert not any("p = 16" in claim.claim for claim in reproduce.claims({"wdbc-200": made("wdbc-200", (1, 1))}))


def test_the_command_writes_numbers_pictures_and_verdicts(capsys, tmp_path):
    out = tmp_path / "made" / "here"
    reproduce.main(["--setting", "tic-tac-toe", "--splits", "3", "--out", str(out)])
    assert sorted(path.name for path in out.iterdir()) == ["claims.md", "results.json", "tic-tac-toe.png"]
    assert (out / "tic-tac-toe.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    numbers = json.loads((out / "results.json").read_text())
    assert numbers["powers"] == [1, 2, 4, 8, 16, 64]
    splits = numbers["settings"]["tic-tac-toe"]["splits"]
    assert [split["seed"] for split in splits] == [0, 1, 2]
    of = reproduce.measure("tic-tac-toe", range(3))
    assert [split["train"]["positives_above_negative"]["64"] for split in splits] == of.above[:, 0, -1].tolist()
    assert [split["test"]["auc"]["1"] for split in splits] == of.auc[:, 1, 0].tolist()
    roc = numbers["settings"]["tic-tac-toe"]["roc_of_first_split"]["test"]["4"]
    np.testing.assert_array_equal(roc, of.curves[1][2])
    judged = reproduce.claims({"tic-tac-toe": of})
    assert [claim["finding"] for claim in numbers["claims"]] == [claim.finding for claim in judged]
    text, printed = (out / "claims.md").read_text(encoding="utf-8"), capsys.readouterr().out
    for claim in judged:
        assert f"| {claim.claim} | {claim.source} | {claim.verdict} | {claim.finding} |" in text
        assert claim.claim in printed
    assert f"{of.top[:, 0, -1].mean():.1f} ± {of.top[:, 0, -1].std(ddof=1):.1f}" in text
    assert max(map(len, printed.splitlines()[:-1])) <= 110


@pytest.mark.parametrize(
    ("arguments", "without", "told"),
    [
        (["--splits", "1"], None, "--splits must be at least 2 and below 2**31; got 1"),
        (["--rounds", "0"], None, "--rounds must be at least 1; got 0"),
        (["--setting", "boston"], None, "invalid choice: 'boston'"),
        (["--setting", "wdbc", "--data", "."], "sklearn.datasets", "wdbc.data is not in"),
        (["--setting", "tic-tac-toe"], "matplotlib", "with Matplotlib"),
    ],
)
def test_what_the_command_refuses(capsys, tmp_path, monkeypatch, arguments, without, told):
    monkeypatch.chdir(tmp_path)
    if without:
        monkeypatch.setitem(sys.modules, without, None)
    with pytest.raises(SystemExit) as stopped:
        reproduce.main([*arguments, "--out", "out"])
    assert stopped.value.code == 2
    assert tells(capsys.readouterr().err, told)
    assert not (tmp_path / "out").exists()


def test_without_tqdm_a_line_says_what_is_done(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    reproduce.main(["--setting", "tic-tac-toe", "--splits", "2", "--rounds", "2", "--out", str(tmp_path)])
    assert "tic-tac-toe" in capsys.readouterr().err
