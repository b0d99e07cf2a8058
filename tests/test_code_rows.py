"""Rows that are read batch by batch and kept as codes, against the same rows in memory."""

import numpy as np
import pytest
from facts import raises
from repeats import each_value

import pnorm
from pnorm._coded import code_rows
from pnorm._coded.sample import TableSample
from pnorm._tables import delimited
from pnorm.rankers import _hashes

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 4))
X[:, 0] = np.round(X[:, 0])
Y = X @ [1.0, 0.5, 0.0, 0.0] + rng.normal(size=N) > 0.5
H = pnorm.rankers.quantile_thresholds(X[Y], X[~Y], 15)
OF_ROWS = {
    "plain": {},
    "weights": {"weight": rng.integers(0, 3, N).astype(float)},
    "groups": {"group": rng.integers(0, 6, N)},
}
KINDS = {
    "cuts": H,
    "columns": None,
    "closed": pnorm.rankers.closed(H),
    "closed columns": pnorm.rankers.closed(pnorm.rankers.normalized(X[Y], X[~Y])),
    "functions": [lambda A: A[:, 1], lambda A: A[:, 2] > 0.0],
    "both": H + pnorm.rankers.columns(4),
}


@pytest.fixture(autouse=True)
def _short_batches(monkeypatch):
    monkeypatch.setattr(code_rows, "ROWS", 37)


def sides(of_rows):
    """Weights and groups as functions of two sides take them."""
    return {f"{side}_{name}": x[rows] for name, x in of_rows.items() for side, rows in (("pos", Y), ("neg", ~Y))}


@each_value(times=2)
@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("of_rows", OF_ROWS)
@pytest.mark.parametrize("kind", KINDS)
def test_training_finds_what_it_finds_in_memory(kind, of_rows, on_disk, tmp_path):
    G, more = KINDS[kind], OF_ROWS[of_rows]
    rows = pnorm.code_rows(X, Y, G, folder=tmp_path if on_disk else None, **more)
    assert not list(tmp_path.iterdir())
    assert (
        (len(rows.pos), len(rows.neg)) == (np.count_nonzero(Y[c > 0]), np.count_nonzero(~Y[c > 0]))
        if (c := more.get("weight")) is not None
        else (Y.sum(), (~Y).sum())
    )
    expected = pnorm.train(X[Y], X[~Y], G, 4, 20, **sides(more))
    lam, trace = pnorm.train(rows, p=4, t_max=20)
    np.testing.assert_allclose(lam, expected[0], atol=1e-9)
    np.testing.assert_array_equal(trace.ranker, expected[1].ranker)
    lam, _ = pnorm.minimize(rows, p=4, l2=0.1)
    np.testing.assert_allclose(lam, pnorm.minimize(X[Y], X[~Y], G, 4, l2=0.1, **sides(more))[0], atol=1e-7)


def test_all_that_takes_two_sides_takes_coded_rows():
    rows, G = pnorm.code_rows(X, Y, H), H
    pos, neg = X[Y], X[~Y]
    path, other = pnorm.minimize_path(rows, p=4, l2=[1.0, 0.1]), pnorm.minimize_path(pos, neg, G, 4, l2=[1.0, 0.1])
    np.testing.assert_allclose(path.lam, other.lam, atol=1e-7)
    how = {"p": [1, 4], "l2": [1.0, 0.1], "folds": 3, "seed": 5}
    found, expected = pnorm.cross_validate(rows, **how), pnorm.cross_validate(pos, neg, G, **how)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-9)
    found = pnorm.cross_validate(rows, p=4, t_max=20, folds=3)
    np.testing.assert_allclose(found.scores, pnorm.cross_validate(pos, neg, G, 4, 20, folds=3).scores, atol=1e-9)
    lam = path.lam[-1]
    for side, A in ((rows.pos, pos), (rows.neg, neg)):
        np.testing.assert_allclose(pnorm.score(side, None, lam), pnorm.score(A, G, lam), atol=1e-12)
        np.testing.assert_array_equal(pnorm.score(side, G, lam), pnorm.score(side, rows.H, lam))
    d = pnorm.diagnostics
    assert d.certificate(*rows, 4, lam, l2=0.1).gap < 1e-9
    assert d.separability(*rows).kind == d.separability(pos, neg, G).kind
    assert "converged" in repr(pnorm.minimize(rows, p=4, l2=0.1, penalty="shapes")[1])


def test_push_at_the_bottom_and_another_loss():
    rows = pnorm.code_rows(X, Y, H)
    for how in ({"push": "bottom"}, {"loss": "logistic"}):
        found, expected = pnorm.train(rows, p=2, t_max=10, **how), pnorm.train(X[Y], X[~Y], H, 2, 10, **how)
        np.testing.assert_allclose(found[0], expected[0], atol=1e-9)


def test_held_out_rows_are_the_others():
    rows = pnorm.code_rows(X, Y, H)
    train, test = rows.hold_out(0.25, seed=3)
    lam = np.ones(len(H))
    for whole, one, other in zip(rows, train, test, strict=True):
        if whole is H:
            continue
        f = [pnorm.score(side, None, lam) for side in (whole, one, other)]
        assert len(other) == round(0.25 * len(whole))
        np.testing.assert_array_equal(np.sort(f[0]), np.sort(np.concatenate(f[1:])))
    again = rows.hold_out(0.25, seed=3)[1]
    np.testing.assert_array_equal(pnorm.score(again.pos, None, lam), pnorm.score(test.pos, None, lam))
    with pytest.raises(ValueError, match="share must be"):
        rows.hold_out(1.5)
    one = pnorm.code_rows(X[:3], [1, 0, 0], None)
    with raises(ValueError, "there is 1 positive row, and 2 are needed"):
        one.hold_out()


def test_groups_are_held_out_whole():
    group = np.arange(N) % 10
    train, test = pnorm.code_rows(X, Y, H, group=group).hold_out(0.3)
    held = [set(part.pos.group) | set(part.neg.group) for part in (train, test)]
    assert len(held[1]) == 3
    assert not held[0] & held[1]
    with raises(ValueError, "groups with both sides: 1; 2 are needed"):
        pnorm.code_rows(X, Y, H, group=np.zeros(N, int)).hold_out()


@pytest.mark.parametrize("group", [None, np.arange(9) % 3], ids=["rows", "groups"])
@pytest.mark.parametrize("share", [0.001, 0.999])
def test_both_parts_have_rows_of_both_sides_whatever_the_share(share, group):
    parts = pnorm.code_rows(np.arange(9.0)[:, None], np.arange(9) < 3, None, group=group).hold_out(share)
    sizes = [(len(part.pos), len(part.neg)) for part in parts]
    assert min(sizes) == (1, 1 if group is None else 2)
    assert max(sizes) == (2, 5 if group is None else 4)


@pytest.mark.filterwarnings("ignore::pnorm.rankers.TableWarning")
def test_a_value_that_does_not_read_is_told_by_its_row_in_the_source(monkeypatch):
    monkeypatch.setattr("pnorm._coded.code_rows.ROWS", 64)
    words = [str(3.5 * (37 * k % 200)) for k in range(200)]
    words[150] = words[151] = "n.d."
    table = {"x": words, "y": np.arange(200) % 2, "w": (np.arange(200) > 5) * 1.0}
    note = pnorm.code_rows(table, "y", weight="w").H.plan[0].note
    assert "'n.d.', first in row 150 of source" in note


def test_labels_in_words_and_columns_by_name():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": np.ones(N), "y": np.where(Y, "fraud", "ok")})
    rows = pnorm.code_rows(table, "y", None, pos_label="fraud", weight="w")
    assert rows.positive == "fraud"
    assert rows.H.names == ("a", "b")
    with raises(ValueError, r"column 'y' has the labels .*; name the positive label with pos_label=\.\.\."):
        pnorm.code_rows(table, "y", None)
    with raises(ValueError, "no row has the label 'bad' in column 'y'; its labels are"):
        pnorm.code_rows(table, "y", None, pos_label="bad")
    with raises(ValueError, r"label = 'z' is no column of .*: it has 'a', 'b'"):
        pnorm.code_rows(table, "z", None)
    with raises(ValueError, r"the weight .w. is -1\.0 in row 5"):
        pnorm.code_rows(
            table.assign(w=np.where(np.arange(N) == 5, -1.0, 1.0)), "y", None, pos_label="fraud", weight="w"
        )
    rows = pnorm.code_rows(table, Y, None, ignore=["y", "w"])
    assert rows.H.names == ("a", "b")
    with raises(ValueError, "no column to learn from"):
        pnorm.code_rows(table[["y"]], "y", None)
    truths = pandas.DataFrame({"a": X[:, 0], "y": ["yes" if y else "no" for y in Y]})
    assert pnorm.code_rows(truths, "y", None).positive == "yes"


def test_what_cannot_be_used():
    rows = pnorm.code_rows(X, Y, H)
    for run in (pnorm.train, pnorm.minimize, pnorm.minimize_path, pnorm.cross_validate):
        with raises(TypeError, "neg is missing: pass the negative rows, or the label of every row"):
            run(X)
        with raises(TypeError, "coded rows have both sides, and weak rankers: neg is given as well"):
            run(rows, X)
        with raises(TypeError, "coded rows have both sides, and weak rankers: H is given as well"):
            run(rows, H=H)
    with raises(TypeError, "pos is coded rows, and neg is of type ndarray"):
        pnorm.train(rows.pos, X[~Y])
    with raises(TypeError, "neg is coded rows, and pos is of type list"):
        pnorm.train([[1.0]], rows.neg)
    with raises(ValueError, "H is not what these rows were coded with"):
        pnorm.train(rows.pos, rows.neg, pnorm.rankers.columns(4))
    with raises(ValueError, "H is not what these rows were coded with"):
        pnorm.score(rows.pos, pnorm.rankers.columns(4), np.ones(4))
    with raises(TypeError, "coded rows, of which the values are not kept"):
        np.asarray(rows.pos)
    other = pnorm.code_rows(X, Y, None)
    with raises(ValueError, "neg was coded with other weak rankers than pos"):
        pnorm.train(rows.pos, other.neg)
    weighted = pnorm.code_rows(X, Y, H, weight=np.ones(N))
    with raises(ValueError, "pos_weight is given, and the coded rows have weights of their own"):
        pnorm.train(weighted, pos_weight=np.ones(Y.sum()))
    with raises(ValueError, "column 'label' has only one label, True"):
        pnorm.code_rows(X, np.ones(N, bool), H)
    with pytest.raises(ValueError, match="label has 299 values"):
        pnorm.code_rows(X, Y[1:], H)
    with raises(ValueError, r"label has 301 values, and .* has 300 rows"):
        pnorm.code_rows(X, np.r_[Y, True], H)
    with raises(ValueError, "no positive row of positive weight"):
        pnorm.code_rows(X, Y, H, weight=(~Y).astype(float))
    with raises(ValueError, "weights are zero or more"):
        pnorm.code_rows(X, Y, H, weight=-np.ones(N))
    with raises(ValueError, r"weight = 'w' names a column, and .* has no names"):
        pnorm.code_rows(X, Y, H, weight="w")
    with pytest.raises(ValueError, match="H must be"):
        pnorm.code_rows(X, Y, "columns")
    with raises(TypeError, "n_cuts is for H='table', and H is given"):
        pnorm.code_rows(X, Y, H, n_cuts=3)
    with raises(ValueError, "folder must be a folder that is there"):
        pnorm.code_rows(X, Y, H, folder="/nowhere")
    bad = X.copy()
    bad[200, 1] = np.nan
    with raises(ValueError, r"in the 37 rows from .* on: source has nan at row 15"):
        pnorm.code_rows(bad, Y, H)


def test_files_of_text_serve_weak_rankers_of_numbers(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1].round(3), "c": np.where(X[:, 2] > 0.0, "x", "z")})
    for k in range(3):
        table.assign(y=Y.astype(int))[100 * k : 100 * (k + 1)].to_csv(tmp_path / f"{k}.csv", index=False)
    pos, neg = table[Y], table[~Y]
    of_two = pnorm.rankers.quantile_thresholds(pos[["a", "b"]], neg[["a", "b"]], 9)
    both = pnorm.rankers.categories(pos[["c"]], neg[["c"]]) + pnorm.rankers.columns(pos[["a", "b"]])
    for G, ignore in ((None, ["c"]), (of_two, ["c"]), (both, [])):
        rows = pnorm.code_rows(tmp_path, "y", G, ignore=ignore)
        lam, _ = pnorm.minimize(rows, p=2, l2=0.1)
        known = table.drop(columns=ignore)
        np.testing.assert_allclose(lam, pnorm.minimize(known[Y], known[~Y], G, 2, l2=0.1)[0], atol=1e-9)
        if G is not None:
            np.testing.assert_allclose(pnorm.score(tmp_path, G, lam), pnorm.score(known, G, lam), atol=1e-12)


def test_what_is_no_option_is_said_before_anything_is_read():
    with raises(TypeError, r"weights is no option of code_rows, .*; did you mean weight\?"):
        pnorm.code_rows("/nowhere", "y", weights="w")
    with raises(TypeError, r"neg is missing: pnorm.code_rows\(source, label\) reads files"):
        pnorm.train("sales/")


# Rows that change between two readings

D = np.random.default_rng(1)
DAYS = np.datetime64("2026-01-01") + D.integers(0, 300, N)
WORDS = [f"{'é' * (k % 3)}{k}" for k in D.integers(0, 90, N).tolist()]
LISTS = {
    "numbers": D.normal(size=N).tolist(),
    "numbers in text": [f"{x:.3f}" for x in D.normal(size=N)],
    "words": WORDS,
    "words and none": [None if k % 7 == 0 else word for k, word in enumerate(WORDS)],
    "words and numbers": [k if k % 7 == 0 else word for k, word in enumerate(WORDS)],
    "long words": [f"{'x' * 70_000}{k}" if k < 3 else word for k, word in enumerate(WORDS)],
    "days": DAYS.tolist(),
    "large integers": [10**400 + k for k in D.integers(0, 90, N).tolist()],
}


def of_arrow(column):
    return pytest.importorskip("pyarrow").array(column)


def in_chunks(column):
    pa = pytest.importorskip("pyarrow")
    return pa.chunked_array([pa.array(["before", *column[:99]]).slice(1), pa.array([], pa.string()), column[99:]])


def of_pandas(column, dtype=None):
    return pytest.importorskip("pandas").Series(column, dtype=dtype)


def of_polars(column, dtype=None):
    return pytest.importorskip("polars").Series(column, dtype=dtype)


COLUMNS = {
    **{name: (list, column) for name, column in LISTS.items()},
    "array": (np.array, LISTS["numbers"]), "array of whole": (np.array, D.integers(0, 9, N).tolist()),
    "array of truths": (np.array, (D.random(N) < 0.5).tolist()), "array of words": (np.array, WORDS),
    "array of days": (np.array, DAYS), "array of objects": (lambda column: np.array(column, object), WORDS),
    **{f"Arrow {name}": (of_arrow, LISTS[name]) for name in ("numbers", "words", "words and none", "days")},
    "Arrow chunks": (in_chunks, LISTS["words and none"]),
    "Arrow dictionary": (lambda column: of_arrow(column).dictionary_encode(), WORDS),
    **{f"pandas {name}": (of_pandas, LISTS[name]) for name in ("numbers", "words", "words and none", "words and numbers")},
    "pandas days": (of_pandas, DAYS), "pandas category": (lambda column: of_pandas(column, "category"), WORDS),
    "pandas string": (lambda column: of_pandas(column, "string"), LISTS["words and none"]),
    "pandas whole and none": (lambda column: of_pandas(column, "Int64"), [None, *range(N - 1)]),
    **{f"polars {name}": (of_polars, LISTS[name]) for name in ("numbers", "words", "words and none", "days")},
}  # fmt: skip


def checksum(table):
    return _hashes.checksum(_hashes.of_columns(table))


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_checksum_tells_rows_that_differ(kind):
    make, column = COLUMNS[kind]
    column = list(column)

    def rows_of(places, of=column):
        return sorted([(repr(of[k]), x) for k, x in zip(places, range(N), strict=True)])

    def sums_of(places, of=column):
        return checksum({"a": np.arange(N), "b": make([of[k] for k in places])})

    here, swapped = list(range(N)), list(range(N))
    other = next(k for k in here if column[k] != column[5])
    swapped[5], swapped[other] = other, 5
    changed = [*column[:5], column[other], *column[6:]]
    assert sums_of(here) == sums_of(here)
    assert (rows_of(swapped) == rows_of(here), sums_of(swapped) == sums_of(here)) == (False, False)
    assert (rows_of(here, changed) == rows_of(here), sums_of(here, changed) == sums_of(here)) == (False, False)
    order = D.permutation(N)
    parts = [{"a": order[at], "b": make([column[k] for k in order[at]])} for at in (slice(0, 7), slice(7, N))]
    assert sum(map(checksum, parts)) % 2**64 == sums_of(here)


def written_as(kind, path, table):
    """A file of a table, as `code_rows` reads it."""
    pandas = pytest.importorskip("pandas")
    if kind == "folder":
        path.mkdir(exist_ok=True)
        for k in range(2):
            pandas.DataFrame(table)[k::2].to_csv(path / f"{k}.csv", index=False)
    elif kind == "Parquet":
        pandas.DataFrame(table).to_parquet(path)
    else:
        pandas.DataFrame(table).to_csv(path, index=False)
    return path


TABLE = {"x": X[:, 1], "c": np.where(X[:, 2] > 0, "a", "b"), "w": np.arange(N) % 5 + 1.0, "y": Y.astype(int)}
SWAPPED = np.r_[np.flatnonzero(Y), np.flatnonzero(~Y)]
CHANGES = {
    "none": (TABLE, True),
    "the order": ({name: column[SWAPPED] for name, column in TABLE.items()}, True),
    "a number": (TABLE | {"x": np.r_[X[:-1, 1], 7.0]}, False),
    "numbers of other rows": (TABLE | {"x": X[::-1, 1]}, False),
    "words of other rows": (TABLE | {"c": TABLE["c"][::-1]}, False),
    "labels of other rows": (TABLE | {"y": TABLE["y"][::-1]}, False),
    "weights of other rows": (TABLE | {"w": TABLE["w"][::-1]}, False),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["CSV", "CSV by pyarrow", "folder", "Parquet", "dictionary"])
def test_rows_that_change_between_two_readings_are_refused(tmp_path, monkeypatch, kind, change):
    if kind == "CSV by pyarrow":
        monkeypatch.setattr(delimited, "_LARGE", 1)
        monkeypatch.setattr(delimited, "_WIDE", 1)
    other, is_same = CHANGES[change]
    made = TableSample.rankers

    def changing(*arguments, **options):
        if kind == "dictionary":
            for name, column in other.items():
                source[name][:] = column
        else:
            written_as(kind, tmp_path / "t", other)
        return made(*arguments, **options)

    source = {name: column.copy() for name, column in TABLE.items()}
    if kind != "dictionary":
        source = written_as(kind, tmp_path / "t", TABLE)
    monkeypatch.setattr(TableSample, "rankers", changing)
    if is_same:
        assert len(pnorm.code_rows(source, "y", weight="w").pos) == Y.sum()
    else:
        with raises(ValueError, "had other values when it was read first"):
            pnorm.code_rows(source, "y", weight="w")


@pytest.mark.parametrize(
    "words", [["a" * 65536, "", "b", ""], ["x"] * 65536 + [""], ["", "\0", ""], ["é" * 40_000, "q"]], ids=range(4)
)
def test_hashes_of_words_are_polynomials_in_their_bytes(words):
    found = _hashes._hashes_of_words(words)
    for word, hashed in list(zip(words, found.tolist(), strict=True))[-4:]:
        letters = word.encode()
        terms = [letter * pow(0x9E3779B97F4A7C15, k, 2**64) for k, letter in enumerate(letters)]
        assert hashed == (len(letters) + sum(terms)) % 2**64
