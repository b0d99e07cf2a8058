"""Data: what is embedded against the rules, what is simulated, what is read against other readers, and wrong files."""

import bz2
import gzip
import re
import sys

import numpy as np
import pytest
import scipy.sparse
from facts import raises
from problems import HOME, needs

import pnorm


def test_tic_tac_toe_is_958_distinct_boards_of_which_x_wins_626():
    data = pnorm.datasets.tic_tac_toe()
    assert data.X.shape == (958, 9)
    assert len(data.names) == len(set(data.names)) == 9
    assert len({tuple(board) for board in data.X}) == 958
    assert (len(data.pos), len(data.neg)) == (626, 332)
    assert "10.24432/C5688J" in data.citation


def test_tic_tac_toe_follows_the_rules():
    data = pnorm.datasets.tic_tac_toe()
    lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
    for board, label in zip(data.X, data.y, strict=True):
        x, o = (board == 1).sum(), (board == 0).sum()
        x_wins, o_wins = (any((board[line] == mark).all() for line in lines) for mark in (1, 0))
        assert label == x_wins
        assert x - o in (0, 1)
        assert not (x_wins and o_wins)
        assert x_wins or o_wins or (board != 2).all()
        if x_wins:
            assert x == o + 1
        if o_wins:
            assert x == o


@needs("tic-tac-toe.data")
def test_tic_tac_toe_is_the_set_at_uci():
    code = {"o": 0, "x": 1, "b": 2, "positive": 1, "negative": 0}
    theirs = {tuple(code[word] for word in line.split(",")) for line in (HOME / "tic-tac-toe.data").read_text().split()}
    data = pnorm.datasets.tic_tac_toe()
    ours = {tuple(int(v) for v in (*board, label)) for board, label in zip(data.X, data.y, strict=True)}
    assert ours == theirs


def test_each_call_returns_data_of_its_own():
    first = pnorm.datasets.tic_tac_toe()
    first.X[:] = 9
    assert np.isin(pnorm.datasets.tic_tac_toe().X, [0, 1, 2]).all()


# Simulated --------------------------------------------------------------------------------------------


def test_insurance_claims_are_rows_that_a_person_can_read():
    data = pnorm.datasets.insurance_claims(3000, seed=5)
    assert data.X.shape == (3000, 6) == (len(data.y), len(set(data.names)))
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)
    assert set(data.y) == {0, 1}
    assert len(data.pos) + len(data.neg) == 3000
    assert "Simulated" in data.citation
    assert (data.X >= 0).all()
    amount, days, missing, photos, years, earlier = data.X.T
    for counts in (amount, days, missing, photos, earlier):
        np.testing.assert_array_equal(counts, counts.round())
    np.testing.assert_array_equal(years, years.round(1))
    assert set(photos) == {0, 1}
    assert len(pnorm.datasets.insurance_claims().y) == 20_000
    assert pnorm.datasets.insurance_claims(1).X.shape == (1, 6)


def test_insurance_claims_repeat_with_their_seed():
    first, again, other = (pnorm.datasets.insurance_claims(500, seed) for seed in (1, np.random.default_rng(1), 2))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert (first.X != other.X).any()
    rng = np.random.default_rng(1)
    assert (pnorm.datasets.insurance_claims(500, rng).X != pnorm.datasets.insurance_claims(500, rng).X).any()


def test_insurance_claims_have_the_means_of_their_table():
    text = pnorm.datasets.insurance_claims.__doc__
    found = re.findall(r"^ *``([a-z ]+)`` +([\d.]+) +([\d.]+) +([\d.]+) ", text, re.MULTILINE)
    table = {name: list(map(float, means)) for name, *means in found}
    n = 200_000
    careless, staged = (pnorm.datasets.insurance_claims(n, 3, staged=share) for share in (0.0, 1.0))
    assert tuple(table) == careless.names
    for data in (careless, staged):
        assert abs((data.y == 0).mean() - 0.2) < 5 * 0.4 / n**0.5
    for kind, rows in enumerate((careless.pos, careless.neg, staged.neg)):
        for column, means in zip(rows.T, table.values(), strict=True):
            error = 5 * column.std() / len(rows) ** 0.5
            expected = means[kind]
            if means is table["days to report"]:  # rounded down
                expected = 1 / np.expm1(1 / expected)
            assert abs(column.mean() - expected) <= error
    mixed = pnorm.datasets.insurance_claims(n, 3, staged=0.25)
    expected = [0.75 * a + 0.25 * b for a, b in zip(careless.neg.mean(axis=0), staged.neg.mean(axis=0), strict=True)]
    np.testing.assert_allclose(mixed.neg.mean(axis=0), expected, rtol=0.03)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be at least 1; got 0"),
        ({"n": 10.0}, TypeError, r"n must be an integer; got 10\.0 \(float\)"),
        ({"n": "10"}, TypeError, "n must be an integer; got '10'"),
        ({"seed": -1}, ValueError, r"seed must be an integer, zero or more, or a numpy\.random\.Generator; got -1"),
        ({"seed": "a"}, ValueError, "seed must be an integer, zero or more, or .*; got 'a'"),
        ({"staged": -0.1}, ValueError, "staged must be between 0 and 1; got -0.1"),
        ({"staged": 1.5}, ValueError, "staged must be between 0 and 1; got 1.5"),
        ({"staged": float("nan")}, ValueError, "staged must be finite; got nan"),
        ({"staged": "all"}, TypeError, "staged must be a real number; got 'all'"),
    ],
)
def test_insurance_claims_that_cannot_be(given, error, message):
    with raises(error, f"^{message}"):
        pnorm.datasets.insurance_claims(**given)


# Files ------------------------------------------------------------------------------------------------

FILES = {
    "pima": ("pima-indians-diabetes.csv", (768, 8), 268, {"glucose": 148, "age": 50}),
    "wdbc": ("wdbc.data", (569, 30), 212, {"mean radius": 17.99, "worst fractal dimension": 0.1189}),
    "housing": ("housing.csv", (506, 13), 35, {"CRIM": 0.00632, "NOX": 0.538, "RAD": 1, "MEDV": 24}),
    "ionosphere": (
        "ionosphere.data",
        (351, 34),
        225,
        {"real part of pulse 1": 1, "imaginary part of pulse 2": -0.05889},
    ),
    "spambase": ("spambase.data", (4601, 57), 1813, {"address": 0.64, "!": 0.778, "capitals": 278}),
    "magic": ("magic04.data", (19020, 10), 12332, {"fLength": 28.7967, "fDist": 81.8828}),
    "a9a": ("a9a.libsvm.gz", (32561, 123), 7841, {"a3": 1, "a4": 0}),
}
each = pytest.mark.parametrize("name", [pytest.param(name, marks=needs(FILES[name][0])) for name in FILES])


@each
def test_a_file_is_read(name):
    _, shape, positives, first = FILES[name]
    data = getattr(pnorm.datasets, name)(HOME)
    assert data.X.shape == shape
    assert data.X.dtype == np.float64
    assert data.y.sum() == positives == data.pos.shape[0]
    assert data.neg.shape == (shape[0] - positives, shape[1])
    assert len(set(data.names)) == shape[1]
    assert len(data.citation) > 50
    assert repr(data) == f"<{positives} positives and {shape[0] - positives} negatives in {shape[1]} columns>"
    row = data.X[:1].toarray()[0] if name == "a9a" else data.X[0]
    for column, value in first.items():
        assert row[data.names.index(column)] == value
    lam, _ = pnorm.train(data.pos[:40], data.neg[:40], t_max=3)
    assert lam.shape == (shape[1],)


@needs("wdbc.data")
def test_wdbc_is_that_of_scikit_learn(monkeypatch):
    theirs = pytest.importorskip("sklearn.datasets").load_breast_cancer()
    monkeypatch.setenv("PNORM_DATA", str(HOME))
    data = pnorm.datasets.wdbc()
    np.testing.assert_array_equal(data.X, theirs.data)
    np.testing.assert_array_equal(data.y, 1 - theirs.target)
    assert [name.replace("error of ", "").replace("mean ", "") for name in data.names[:20]] == [
        name.replace(" error", "").replace("mean ", "") for name in theirs.feature_names[:20]
    ]


@needs("a9a.libsvm.gz")
def test_a9a_is_what_scikit_learn_reads():
    X, y = pytest.importorskip("sklearn.datasets").load_svmlight_file(str(HOME / "a9a.libsvm.gz"))
    data = pnorm.datasets.a9a(HOME)
    assert (abs(data.X - X)).max() == 0
    np.testing.assert_array_equal(data.y, y > 0)


@needs("wdbc.data")
def test_another_version_of_a_file_is_refused(tmp_path):
    text = (HOME / "wdbc.data").read_bytes()
    (tmp_path / "wdbc.data").write_bytes(text.replace(b"\n", b"\r\n"))
    with raises(ValueError, r"wdbc.data has the sha256 [0-9a-f]{64}, and d606af41.* was expected"):
        pnorm.datasets.wdbc(tmp_path)


@needs("a9a.libsvm.gz")
def test_a_damaged_file_is_refused(tmp_path):
    content = (HOME / "a9a.libsvm.gz").read_bytes()
    for damaged in (b"no gzip", content[:5000], content[:5000] + bytes(100) + content[5100:]):
        (tmp_path / "a9a.libsvm.gz").write_bytes(damaged)
        with raises(ValueError, "another version of the data"):
            pnorm.datasets.a9a(tmp_path)


# Files of queries -------------------------------------------------------------------------------------

LINES = "2 qid:7 1:0.5 3:1e-3 # document A\n# a comment\n\n0 qid:7 1:-0.25\n1.5 qid:4 2:3 # B\n0 qid:4\n"


def test_a_file_of_queries_is_read(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(LINES)
    for file in (path, str(path)):
        X, y, group = data = pnorm.datasets.read_svmlight(file)
        assert repr(data) == "<4 rows of 2 lists in 3 columns, grades 0 to 2>"
        assert isinstance(X, scipy.sparse.csr_array)
        assert X.indices.dtype == X.indptr.dtype == np.int32
        assert X.toarray().tolist() == [[0.5, 0, 0.001], [-0.25, 0, 0], [0, 3, 0], [0, 0, 0]]
        assert (y.tolist(), group.tolist()) == ([2.0, 0.0, 1.5, 0.0], [7, 7, 4, 4])
    w, _ = pnorm.listwise.train(*data, epochs=3)
    assert pnorm.metrics.ndcg(X @ w, y, group=group).groups.tolist() == [7, 4]


def test_files_of_a_set_get_the_same_columns(tmp_path):
    train, test = tmp_path / "train.txt", tmp_path / "test.txt.gz"
    train.write_text(LINES)
    test.write_bytes(gzip.compress(b"1 qid:9 5:2\n"))
    first, second = pnorm.datasets.read_svmlight([train, test])
    assert (first.X.shape, second.X.shape) == ((4, 5), (1, 5))
    assert second.X.toarray().tolist() == [[0, 0, 0, 0, 2]]
    (alone,) = pnorm.datasets.read_svmlight((train,))
    alone.X.resize((4, 5))
    assert (alone.X != first.X).nnz == 0
    test.write_bytes(gzip.compress(b"1 qid:9 0:2\n"))  # columns of both files are counted from 0
    first, second = pnorm.datasets.read_svmlight([train, test])
    assert (first.X.shape, second.X.toarray().tolist()) == ((4, 4), [[2, 0, 0, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1 1:1\nbad qid:1 1:1\n", "line 2: could not convert string to float: b'bad'"),
        ("# comment\n1 qid:1 1:1\n\n1 qid:x 1:1\n1 qid:1 1:1\n", "line 4: invalid literal for int.* b'x'"),
        ("1 qid:1 1:1 two:3\n", "line 1: invalid literal .* b'two'; a line is grade qid:query column:value"),
        ("1 qid:1 2:1 1:3\n", "line 1: .* sorted and unique"),
        ("1 qid:99999999999999999999 1:1\n", "line 1: Python int too large"),
        ("1 qid:1 1:1\n1 1:1\n", "has 2 rows, and 1 of them have a query .*load_svmlight_file reads rows without"),
        ("1 1:1\n", "has 1 rows, and 0 of them have a query"),
        ("1 qid:1 1:1\nnan qid:1 1:1\n", "has the grade nan in row 1; grades must be finite"),
        ("inf qid:1 1:1\n1 qid:1 1:1\n", "has the grade inf in row 0; grades must be finite"),
        ("# nothing\n", "has no rows"),
    ],
)
def test_a_file_of_queries_that_is_wrong(tmp_path, text, message):
    good, wrong = tmp_path / "good.txt", tmp_path / "wrong.txt"
    good.write_text(LINES)
    wrong.write_text(text)
    for files in (wrong, [good, wrong]):
        with raises(ValueError, rf"^\S*wrong\.txt(, | ){message}"):
            pnorm.datasets.read_svmlight(files)


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2")])
def test_a_compressed_file_of_queries_that_is_damaged(tmp_path, pack, ending):
    path = tmp_path / f"train.txt{ending}"
    packed = pack(LINES.encode() * 100)
    for damaged in (b"no such file", packed[:-12], packed[:40] + bytes(10) + packed[50:]):
        path.write_bytes(damaged)
        with raises(ValueError, r"train\.txt\.\w*, line \d+: .*; the file cannot be unpacked: it is damaged or"):
            pnorm.datasets.read_svmlight(path)


def test_files_that_are_none(tmp_path, monkeypatch):
    for files in (5, [], [5], b"train.txt"):
        with raises(TypeError, "files must be the path of a file, or a list of paths; got"):
            pnorm.datasets.read_svmlight(files)
    with pytest.raises(FileNotFoundError, match=r"train\.txt"):
        pnorm.datasets.read_svmlight(tmp_path / "train.txt")
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with raises(
        ImportError, 'read_svmlight needs scikit-learn\\. Install it with: pip install "pnorm-push\\[sklearn\\]" '
    ):
        pnorm.datasets.read_svmlight(tmp_path / "train.txt")


# OpenML -----------------------------------------------------------------------------------------------


def at_openml(name):
    """The set as `fetch_openml` returns it, rows in another order."""
    data = getattr(pnorm.datasets, name)(HOME)
    order = np.random.default_rng(0).permutation(len(data.y)) if name != "a9a" else np.arange(len(data.y))
    X, y, names, categories = data.X[order], data.y[order], list(data.names), {}
    spelling = {"pima": ("tested_negative", "tested_positive"), "wdbc": ("1", "2"), "ionosphere": ("b", "g"),
                "spambase": ("0", "1"), "magic": ("h", "g"), "housing": ("", "")}  # fmt: skip
    if name == "magic":
        names = [f"{column}:" for column in names]
    if name == "a9a":
        more = scipy.sparse.csr_array((16281, 123))
        X, target = scipy.sparse.vstack([X, more], format="csr"), np.concatenate([2.0 * y - 1, np.ones(16281)])
    else:
        target = np.array(spelling[name], dtype=object)[y]
    if name == "housing":  # CHAS and RAD are nominal, in a declared order of their own
        target, X, names = X[:, 12].copy(), np.insert(X[:, :12], 3, y, axis=1), [*names[:3], "CHAS", *names[3:12]]
        categories = {"CHAS": ["0", "1"], "RAD": [str(v) for v in (24, 8, 7, 6, 5, 4, 3, 2, 1)]}
        X[:, 8] = [categories["RAD"].index(str(int(value))) for value in X[:, 8]]
    return {"data": X, "target": target, "feature_names": names, "categories": categories or None}


@each
def test_a_set_that_is_not_there_is_fetched(name, monkeypatch, tmp_path):
    sklearn = pytest.importorskip("sklearn.datasets")
    seen, bunch = {}, at_openml(name)
    monkeypatch.setattr(sklearn, "fetch_openml", lambda **asked: seen.update(asked) or sklearn._base.Bunch(**bunch))
    data, file = getattr(pnorm.datasets, name)(tmp_path), getattr(pnorm.datasets, name)(HOME)
    assert seen["data_home"] == str(tmp_path)
    assert not seen["as_frame"]
    assert data.names == file.names
    sides = [
        (a.toarray(), b.toarray()) if name == "a9a" else (a, b) for a, b in ((data.pos, file.pos), (data.neg, file.neg))
    ]
    for ours, theirs in sides:
        np.testing.assert_array_equal(ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)])

    (bunch["data"].data if name == "a9a" else bunch["data"][0])[1] = 12345.0
    with raises(ValueError, rf"{FILES[name][0]} is not in .*, and the set \d+ at OpenML does not hold its rows"):
        getattr(pnorm.datasets, name)(tmp_path)


def test_without_file_and_network(monkeypatch, tmp_path):
    sklearn = pytest.importorskip("sklearn.datasets")

    def fetch(**asked):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn, "fetch_openml", fetch)
    with raises(FileNotFoundError, r"spambase.data is not in .*, and OpenML \(its set 44\) could not be "
                                                r"reached \(no route to host\): put spambase.data \(sha256"):  # fmt: skip
        pnorm.datasets.spambase(tmp_path)
    missing = tmp_path / "typo"
    with raises(FileNotFoundError, r"data_home must be a folder with pima.*; there is no folder .*typo"):
        pnorm.datasets.pima(missing)
    assert not missing.exists()
    monkeypatch.setenv("PNORM_DATA", str(missing))
    with raises(FileNotFoundError, r"PNORM_DATA must be a folder with wdbc\.data"):
        pnorm.datasets.wdbc()
    with raises(TypeError, "data_home must be the path of a folder; got 5"):
        pnorm.datasets.wdbc(5)
    monkeypatch.delenv("PNORM_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with raises(FileNotFoundError, r"PNORM_DATA is not set: put magic04.data .* extra 'sklearn' of pnorm"):
        pnorm.datasets.magic()
