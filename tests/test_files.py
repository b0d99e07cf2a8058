"""Models in files: what comes back, what is refused, and what is left of a file when writing fails."""

import errno
import json
import os
import stat

import numpy as np
import pandas as pd
import pytest
from facts import raises, warns
from hypothesis import given
from hypothesis import strategies as st
from test_collections import many

import pnorm
from pnorm import _files
from pnorm._command import scores_file
from pnorm._storage import growing


def written(path, lam=(0.5, -1.0), H=None, **more):
    """A saved model as a dictionary."""
    pnorm.save(path, lam, H, **more)
    return json.loads(path.read_text())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


# What comes back


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", many())
def test_every_collection_comes_back_bit_for_bit(path, kind):
    H, rows = many()[kind]
    lam = np.random.default_rng(0).normal(size=len(H)) * 10.0 ** np.random.default_rng(1).integers(-300, 300, len(H))
    lam[::3] = 0.0
    assert pnorm.save(path, lam, H, p=1 + 1 / 3, metadata={"kind": kind}) is None
    model = pnorm.load(path)
    assert model.lam.tobytes() == lam.tobytes()
    assert model.H.to_dict() == H.to_dict()
    assert model.p == 1 + 1 / 3
    assert model.metadata == {"kind": kind}
    assert model.version == pnorm.__version__
    np.testing.assert_array_equal(model.score(rows), pnorm.score(rows, H, lam))
    before = path.read_bytes()
    pnorm.save(path, model.lam, model.H, model.p, model.metadata)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="read-only"):
        model.lam[0] = 1.0


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_every_double_comes_back(tmp_path_factory, lam):
    path = tmp_path_factory.mktemp("doubles") / "model.json"
    lam = np.array([*lam, -0.0, 5e-324, np.finfo(float).max, 0.1 + 0.2])
    pnorm.save(path, lam)
    assert pnorm.load(path).lam.tobytes() == lam.tobytes()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_metadata_comes_back(tmp_path_factory, metadata):
    path = tmp_path_factory.mktemp("metadata") / "model.json"
    pnorm.save(path, [1.0], metadata=metadata)
    again = pnorm.load(path).metadata
    assert again == metadata
    assert json.dumps(again) == json.dumps(metadata)  # 1, 1.0 and True are equal


def test_columns_as_they_are_come_back_by_position(path):
    frame = pd.DataFrame({"age": [1.0, 2.0], "pay": [3.0, 5.0]})
    pnorm.save(path, [2.0, 1.0])
    model = pnorm.load(path)
    assert model.H.names == ("x0", "x1")
    assert (model.p, model.metadata) == (None, {})
    np.testing.assert_array_equal(model.score(frame), [5.0, 9.0])
    np.testing.assert_array_equal(model.score(frame[["pay", "age"]]), [7.0, 12.0])
    with raises(ValueError, "X has 1 columns; these weak rankers were made for 2"):
        model.score(frame[["age"]])
    pnorm.save(path, [2.0, 1.0], pnorm.rankers.columns(frame))
    np.testing.assert_array_equal(pnorm.load(path).score(frame[["pay", "age"]]), [5.0, 9.0])


def test_what_a_model_says_of_itself(path):
    H = pnorm.rankers.thresholds([[0.5, 1.5, 2.5]])
    pnorm.save(str(path), [0.0, 0.25, 0.0], H, p=4)
    assert repr(pnorm.load(str(path))) == "<ScoringFunction: 1 of 3 weak rankers in use, p = 4>"
    pnorm.save(path, [1.0, 0.25, 0.0], H)
    assert repr(pnorm.load(path)) == "<ScoringFunction: 2 of 3 weak rankers in use>"
    with raises(TypeError, r"got ScoringFunction\. Call model\.score\(X\)"):
        pnorm.score([[1.0]], H, pnorm.load(path))


def test_the_file_is_what_the_documentation_says(path):
    H = pnorm.rankers.thresholds([[0.5]], names=["Größe \ud800"])
    data = written(path, [1 / 3], H, p=4, metadata={"of": ("a", 1)})
    assert list(data) == ["format", "version", "pnorm", "p", "metadata", "lam", "H"]
    assert list(written(path, [1 / 3], H, p=4, intercept=-0.5)) == [*list(data)[:4], "intercept", *list(data)[4:]]
    found = pnorm.cutoff(np.arange(30.0), np.arange(-30.0, 5.0), precision=0.7)
    assert list(written(path, [1 / 3], H, p=4, cutoff=found)) == [*list(data)[:4], "cutoff", *list(data)[4:]]
    model = pnorm.ScoringFunction([1 / 3], H, average=[0.5], compared_with="é")
    assert written(path, model)["compared_with"] == {"rows": "é", "parts": [0.5]}
    data = written(path, [1 / 3], H, p=4, metadata={"of": ("a", 1)})
    assert data["H"] == H.to_dict()
    assert data["metadata"] == {"of": ["a", 1]}
    text = path.read_bytes().decode("ascii")
    assert [line.split(":")[0].strip('"') for line in text.splitlines()[1:-1]] == list(data)
    assert pnorm.load(path).H.names == H.names


# Cut-offs

F_POS, F_NEG = np.arange(0.0, 40.0), np.arange(-40.0, 10.0)


@pytest.mark.parametrize(
    "asked",
    [{"precision": 0.7}, {"precision": 0.7, "at_least": 0.3}, {"budget": 20, "of": 900}, {"recall": 0.8, "prior": 0.1}],
    ids=str,
)
def test_a_cut_off_comes_back_and_says_which_rows_to_take(path, asked):
    found = pnorm.cutoff(F_POS, F_NEG, **asked)
    pnorm.save(path, [1.0], cutoff=found)
    model = pnorm.load(path)
    assert model.cutoff.to_dict() == found.to_dict()
    assert str(model.cutoff) == str(found)  # the score has as many digits
    old = found.to_dict() | {"written": None}
    at = f"{found.score!r}".removesuffix(".0")
    assert str(pnorm.Cutoff.from_dict(old)) == str(found).replace(f"score of {found.written} ", f"score of {at} ")
    for text in ("", "1_0", "high", f"{found.score + 1}"):
        with raises(ValueError, "'written' of the cut-off must be 'nearest', rounded to six digits or more"):
            pnorm.Cutoff.from_dict(old | {"written": text})
    X = np.append(np.linspace(-40.0, 40.0, 999), found.score)[:, None]
    taken = model.predict(X)
    assert taken.dtype == bool
    np.testing.assert_array_equal(taken, X[:, 0] >= found.score)
    assert taken[-1]
    assert not taken.all()


def test_a_model_made_in_memory_is_that_of_its_parts(path):
    data = pnorm.datasets.tic_tac_toe()
    H = pnorm.rankers.thresholds([[0.5, 1.5]] * 9)
    lam, trace = pnorm.minimize(data.pos, data.neg, H, p=4, l2=0.01)
    cut = pnorm.cutoff(pnorm.score(data.pos, H, lam), pnorm.score(data.neg, H, lam), precision=0.8)
    model = pnorm.ScoringFunction(lam, H, p=4, intercept=trace.intercept, cutoff=cut, metadata={"a": 1})
    np.testing.assert_array_equal(model.score(data.X), pnorm.score(data.X, H, lam))
    expected = pnorm.probability(data.X, H, lam, 4, trace.intercept)
    np.testing.assert_array_equal(model.probability(data.X), expected)
    np.testing.assert_array_equal(model.predict(data.X), cut.takes(model.score(data.X)))
    lam[0] += 1.0  # the model has its own
    pnorm.save(path, model)
    loaded = pnorm.load(path)
    np.testing.assert_array_equal(loaded.probability(data.X), expected)
    assert (loaded.metadata, loaded.cutoff, loaded.version, loaded.p) == ({"a": 1}, cut, pnorm.__version__, 4.0)
    pnorm.save(path, loaded, metadata={"b": 2})
    assert pnorm.load(path).metadata == {"b": 2}
    with raises(ValueError, "a ScoringFunction brings its own p; leave p out"):
        pnorm.save(path, model, p=2)
    assert pnorm.ScoringFunction([1.0, 2.0]).score([[1.0, 1.0]]).tolist() == [3.0]
    assert pnorm.ScoringFunction([2.0], [lambda X: X[:, 0]]).score(np.ones((1, 1))).tolist() == [2.0]
    with pytest.raises(ValueError, match="saved without p"):
        pnorm.ScoringFunction([1.0]).probability([[1.0]])


def test_the_reasons_of_a_loaded_model_are_those_of_the_estimator(path):
    """They do not depend on the other rows, nor need any."""
    data = pnorm.datasets.insurance_claims(600)
    for push in ("top", "bottom"):
        model = pnorm.sklearn.PNormPush(p=2, l2=0.1, push=push).fit(data.X, data.y)
        pnorm.save(path, model)
        loaded = pnorm.load(path)
        row = "the average positive training row" if push == "bottom" else "the average negative training row"
        expected = model.explain(data.X[:5])
        assert expected.compared_with == row
        for found in (loaded.explain(data.X[:5]), loaded.explain(data.X[:1])):
            few = len(found.scores)
            assert found.contributions.tobytes() == expected.contributions[:few].tobytes()
            assert (found.base, found.compared_with) == (expected.base, row)
            assert str(found).splitlines()[-1].endswith(f": {row}")
        side = data.X[(data.y == 1) == (push == "bottom")]
        slow = loaded.explain(data.X[:5], reference=side)
        np.testing.assert_allclose(slow.contributions, expected.contributions, rtol=0, atol=1e-9)
        assert slow.compared_with == "the average of the reference"
        assert loaded.explain(data.X[:5], reference=data.X[9]).compared_with == "the reference"
        pnorm.save(path, loaded)  # once more
        assert pnorm.load(path).average.tobytes() == loaded.average.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        loaded.average[0] = 1.0
    by_hand = pnorm.ScoringFunction([1.0, 2.0])
    assert (by_hand.average, by_hand.explain([[1.0, 2.0], [3.0, 4.0]]).compared_with) == (
        None,
        "the average of these rows",
    )
    own = pnorm.ScoringFunction([1.0, 2.0], average=[1, 1], compared_with="a usual day")
    assert own.explain([[3.0, 3.0]]).contributions.tolist() == [[2.0, 5.0]]  # parts 3 and 6
    assert str(own.explain([[3.0, 3.0]])).endswith("base 2.00: a usual day")


def test_a_model_in_memory_warns_of_separable_rows_as_its_intercept_does():
    lam, trace = pnorm.minimize([[1.0], [2.0]], [[0.0], [0.5]], p=4)
    with pytest.warns(pnorm.diagnostics.SeparationWarning):
        pnorm.ScoringFunction(lam, p=4, intercept=trace.intercept).probability([[1.0]])


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"lam": [1.0], "H": pnorm.rankers.columns(2)}, ValueError, "lam"),
        ({"lam": [1.0], "p": 0.5}, ValueError, "p must be"),
        ({"lam": [1.0], "intercept": "b"}, TypeError, "intercept"),
        ({"lam": [1.0], "cutoff": 3.0}, TypeError, "cutoff must be what pnorm.cutoff returns"),
        ({"lam": [1.0], "average": [1.0, 2.0]}, ValueError, "average must have shape .1,., one number per column"),
        ({"lam": [1.0], "average": [1.0], "compared_with": None}, TypeError, "compared_with must be words"),
    ],
)
def test_parts_that_are_no_model(how, error, message):
    with raises(error, message):
        pnorm.ScoringFunction(**how)


def test_a_model_without_a_cut_off(path):
    pnorm.save(path, [1.0])
    model = pnorm.load(path)
    assert model.cutoff is None
    with raises(TypeError, r"cutoff must be what pnorm\.cutoff returns; got float"):
        pnorm.save(path, [1.0], cutoff=0.5)
    with raises(ValueError, r"has no cut-off: choose one with pnorm.cutoff.*cutoff=found"):
        model.predict([[1.0]])


@pytest.mark.parametrize("f_neg", [F_NEG, F_POS], ids=["too few rows", "no cut"])
def test_a_cut_off_that_keeps_nothing_takes_no_row_and_warns(path, f_neg):
    found = pnorm.cutoff(F_POS if f_neg is F_NEG else [1.0, 1.0], f_neg if f_neg is F_NEG else [1.0], precision=0.999)
    pnorm.save(path, [1.0], cutoff=found)
    model = pnorm.load(path)
    assert model.cutoff.to_dict() == found.to_dict()
    with warns(UserWarning, r"no row is taken: no cut-off keeps a precision of 99.9 % with 95 %") as told:
        assert model.predict([[1.0], [99.0]]).tolist() == [False, False]
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"asked": "hits"}, "'asked' of the cut-off must be one of 'precision', 'budget', 'recall'; got 'hits'"),
        ({"target": 1.5}, "'target' of the cut-off must be above 0 and below 1; got 1.5"),
        ({"asked": "budget", "target": 90.0}, "'target' of the cut-off, a budget, must be less than 'of'"),
        ({"kept": 1}, "'kept' of the cut-off must be true or false; got 1"),
        ({"kept": False}, "'score' of the cut-off must be 'nearest' where 'kept' is true, and null where it is false"),
        ({"score": None}, "'score' of the cut-off must be"),
        ({"score": 7.0}, "'score' of the cut-off must be"),
        ({"score": "7"}, "'score' of the cut-off must be a real number; got '7'"),
        ({"confidence": 1}, "'confidence' of the cut-off must be above 0 and below 1"),
        ({"depth": 91}, "'depth' of the cut-off must be n_pos"),
        ({"depth": 1.5}, "'depth' of the cut-off must be"),
        ({"n_neg": 0}, "'n_neg' of the cut-off must be at least 1"),
        ({"prior": 0.0}, "'prior' of the cut-off must be above 0 and below 1"),
        ({"of": -1.0}, "'of' of the cut-off must be above 0"),
        ({"share": 1.5}, "'share' 1 at most"),
        ({"hits": None}, "must all be null, or none of them"),
        ({"hits": 3.0}, "'hits' of the cut-off must be a dictionary; got 3.0"),
        ({"hits": {"value": 1.0, "low": 2.0, "high": 1.5}}, "'hits' of the cut-off must have 'low' at or below 'high'"),
        ({"hits": {"value": 1.0, "low": 0.0}}, "'hits' of the cut-off must have the field 'high'"),
        ({"recall": {"value": 2.0, "low": 1.0, "high": 3.0}}, "'recall' of the cut-off must be a share from 0 to 1"),
        ({"one_list": [3, 2]}, "'one_list' of the cut-off must be two numbers of rows in order"),
        ({"one_list": [1]}, "'one_list' of the cut-off must be a list of 2"),
        ({"more": 1}, "the field 'more' of the cut-off is not known"),
    ],
    ids=str,
)
def test_a_cut_off_that_does_not_fit_is_refused_by_name(path, change, message):
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.7).to_dict()
    for make in (pnorm.Cutoff.from_dict, lambda data: rewritten(path, data)):
        with raises((ValueError, TypeError), message):
            make(found | change)


def test_a_cut_off_that_lacks_a_field_is_refused():
    found = pnorm.cutoff(F_POS, F_NEG, precision=0.7).to_dict()
    for key in found:
        with raises(ValueError, f"the cut-off must have the field '{key}'"):
            pnorm.Cutoff.from_dict({name: value for name, value in found.items() if name != key})
    with raises(TypeError, "the cut-off must be a dictionary, as to_dict returns it; got list"):
        pnorm.Cutoff.from_dict([found])


def rewritten(path, cutoff):
    """Load a model in whose file the cut-off is another one."""
    data = written(path, [1.0], cutoff=pnorm.cutoff(F_POS, F_NEG, precision=0.7))
    path.write_text(json.dumps(data | {"cutoff": cutoff}))
    return pnorm.load(path)


# What cannot be saved


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1.0], [len]), TypeError, "keep the code that makes these weak rankers, and write lam alone with numpy.save"),
        (([1.0, 2.0], pnorm.rankers.columns(1) + pnorm.rankers.callables([len])), TypeError, "numpy.save"),
        (([1.0], "x"), TypeError, "H must be"),
        (([1.0, np.nan],), ValueError, "lam has nan at position 1"),
        (([],), ValueError, "lam is empty"),
        (([[1.0]],), ValueError, "lam must have shape"),
        (([1.0], pnorm.rankers.columns(2)), ValueError, r"lam must have shape \(2,\), one coefficient per weak ranker"),
        (([1.0], None, 0.5), ValueError, "p must be at least 1"),
        (([1.0], None, True), TypeError, "p must be a real number"),
        (([1.0], None, 4, [1]), TypeError, "metadata must be a dictionary; got list"),
        (([1.0], None, 4, {1: 2}), TypeError, "metadata has the key 1; keys must be strings"),
        (
            ([1.0], None, 4, {"a": {"b": [0, np.nan]}}),
            ValueError,
            r"metadata\['a'\]\['b'\]\[1\] must be finite; got nan",
        ),
        (([1.0], None, 4, {"a": np.ones(2)}), TypeError, r"\['a'\] is of type ndarray; .* pass metadata\['a'\].tolist"),
        (([1.0], None, 4, {"a": {1}}), TypeError, r"metadata\['a'\] is of type set"),
        (
            ([1.0], None, 4, {"a": 10**400}),
            ValueError,
            r"metadata\['a'\] is an integer of more than 309 digits; make it a",
        ),
        (([1.0], None, 4, {"a": 10**9999}), ValueError, "an integer of more than 309 digits"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_before_it_is_touched(path, arguments, error, message):
    path.write_text("old")
    with raises(error, message):
        pnorm.save(path, *arguments)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


def test_metadata_without_an_end():
    loop = {}
    loop["a"] = [loop, loop]
    with pytest.raises(ValueError, match="more than 64 deep"):
        pnorm.save("never.json", [1.0], metadata=loop)


# What is not read


def changes():
    def put(*keys):
        *path, last, value = keys

        def change(data):
            for key in path:
                data = data[key]
            data[last] = value

        return change

    return [
        (put("format", "pnorm.rankers"), "must have the format 'pnorm.model'"),
        (put("version", 2), "version 2 of the format, and this pnorm reads version 1"),
        (put("version", None), "version None"),
        (lambda d: d.pop("lam"), "must have the field 'lam'"),
        (lambda d: d.pop("metadata"), "must have the field 'metadata'"),
        (put("price", 3), "the field 'price' of .* is not known to this version"),
        (put("H", "scale", 3), "the field 'scale' of the weak rankers is not known"),
        (put("lam", [1.0]), "'lam' of its contents must be a list of 2"),
        (put("lam", [1.0, 2.0, 3.0]), "'lam' of its contents must be a list of 2"),
        (put("lam", [1.0, "2"]), "must be a sequence of numbers"),
        (put("lam", [1.0, True]), "must be a sequence of numbers"),
        (put("lam", [1.0, 10**308 * 9]), "must be finite"),
        (put("lam", {"0": 1}), "must be a list"),
        (put("p", 0.5), "p must be at least 1"),
        (put("intercept", "1"), "'intercept' of its contents must be a real number"),
        (put("intercept", None), "'intercept' of its contents must be a real number"),
        (put("intercept", 10**400), "it has an integer of 401 digits"),
        (put("p", "4"), "p must be a real number"),
        (put("metadata", None), "'metadata' of its contents must be a dictionary"),
        (put("pnorm", 1), "'pnorm' of its contents must be a string"),
        (put("H", None), "the weak rankers must be a dictionary"),
        (put("H", "kind", "code"), "must be one of 'closed'"),
        (put("H", "kind", ["columns"]), "must be one of 'closed'"),
        (put("H", "version", 9), "the weak rankers have version 9"),
        (put("H", "names", ["x0"]), "must be a list of 2"),
        (put("H", "width", 10**30), "must be a number of columns; got 1000000000"),
        (put("H", "kind", "x" * 10**6), "must be one of"),
        (put("p", [[0] * 10**6]), "p must be a real number"),
        (put("version", "9" * 10**6), "and this pnorm reads"),
        (
            put(
                "H",
                {
                    "format": "pnorm.rankers",
                    "version": 1,
                    "kind": "categories",
                    "levels": [list(range(2**16))],
                    "columns": None,
                    "missing": False,
                    "names": ["a"],
                },
            ),
            "a column has 65536 levels",
        ),
        (put("H", {"format": "pnorm.rankers", "version": 1, "kind": "closed", "of": 7, "names": ["a"]}), "dictionary"),
    ]


@pytest.mark.parametrize(("change", "message"), changes())
def test_what_it_does_not_know_it_refuses(path, change, message):
    data = written(path)
    change(data)
    path.write_text(json.dumps(data))
    with raises(ValueError, message) as caught:
        pnorm.load(path)
    assert str(caught.value).startswith(f"{path} is no model")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON, or not all of it is there"),
        ("hello", "not JSON"),
        ("7", "must be a dictionary"),
        ("[]", "must be a dictionary"),
        ('"lam"', "must be a dictionary"),
        ("null", "must be a dictionary"),
        ('{"lam": NaN}', "the number NaN; every number must be finite"),
        ('{"lam": [-Infinity]}', "the number -Infinity"),
        ('{"lam": 1e999}', "the number 1e999, more than a double holds"),
        ('{"lam": -1e999}', "the number -1e999"),
        ('{"lam": ' + "9" * 100_000 + "}", "an integer of 100000 digits"),
        ('{"metadata": -' + "1" * 5_000 + "}", "an integer of 5000 digits"),
        ('{"metadata": ' + "1" * 310 + "}", "an integer of 310 digits"),
        ('{"metadata": 1e' + "9" * 5_000 + "}", "more than a double holds"),
        ('{"lam": 1, "p": 2, "lam": 3}', "the field 'lam' appears twice"),
        ('{"metadata": {"a": {"b": 1, "b": 1}}}', "the field 'b' appears twice"),
        ("[" * 100_000, "it has 100000 lists and dictionaries in 100000 characters"),
        ("[" * 100_000 + "]" * 100_000, "it has 100000 lists and dictionaries"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "it has 100000 lists and dictionaries"),
        ("[" * 1_200, "nested|deep|not JSON"),
        ("[" * 1_500 + "]" * 1_500, "more than 64 deep"),
        ('{"a":' * 1_000 + "1" + "}" * 1_000, "more than 64 deep"),
        ("[" * 200 + "]" * 200, "more than 64 deep"),
        ("{} {}", "not JSON"),
        ("\x00" * 9, "not JSON"),
    ],
)
def test_text_that_is_no_model(path, text, message):
    path.write_text(text)
    with raises(ValueError, message) as caught:
        pnorm.load(path)
    assert len(str(caught.value)) < 400


def test_bytes_that_are_no_text(path):
    path.write_bytes(np.arange(256, dtype=np.uint8).tobytes())
    with pytest.raises(ValueError, match="not UTF-8 text"):
        pnorm.load(path)
    with pytest.raises(FileNotFoundError):
        pnorm.load(path.parent / "none")
    with pytest.raises(IsADirectoryError):
        pnorm.load(path.parent)


def test_collections_within_each_other_do_not_overflow_the_stack(path):
    data = written(path)
    for _ in range(70):
        data["H"] = {
            "format": "pnorm.rankers",
            "version": 1,
            "kind": "union",
            "parts": [data["H"]],
            "names": ["x0", "x1"],
        }
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="more than 64 deep"):
        pnorm.load(path)


# Where a file is written


def test_modes_and_links_are_kept(path):
    mask = os.umask(0o027)
    try:
        pnorm.save(path, [1.0])
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o600)
        link = path.parent / "latest.json"
        link.symlink_to(path.name)
        pnorm.save(link, [2.0])
    finally:
        os.umask(mask)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert pnorm.load(path).lam.tolist() == [2.0]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o664, None])
def test_nobody_reads_half_a_file_who_could_not_read_the_whole(path, monkeypatch, mode):
    """The mode of the file that is written beside the old one, while it is written and at the end."""
    seen, sync, replace = [], os.fsync, os.replace

    def mode_of(of):
        return stat.S_IMODE(os.stat(of).st_mode)

    def looked_at(descriptor):
        seen.append(mode_of(descriptor))
        sync(descriptor)

    def replaced(temporary, target):
        seen.append(mode_of(temporary))
        replace(temporary, target)

    if mode is not None:
        path.touch()
        path.chmod(mode)
    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(os, "fsync", looked_at)
    monkeypatch.setattr(os, "replace", replaced)
    mask = os.umask(0o002)
    try:
        pnorm.save(path, [1.0])
    finally:
        os.umask(mask)
    assert seen[:2] == ([0o664, 0o664] if mode is None else [0o600, mode])
    assert mode_of(path) == (0o664 if mode is None else mode)


def test_where_no_file_can_be(path, monkeypatch):
    with raises(ValueError, "is a folder or a device"):
        pnorm.save(path.parent, [1.0])
    with raises(ValueError, "is a folder or a device"):
        pnorm.save(os.devnull, [1.0])
    with pytest.raises(FileNotFoundError, match="no such folder"):
        pnorm.save(path / "model.json", [1.0])
    for wrong in (3, None, open):
        with raises(TypeError, "path must be the name of a file"):
            pnorm.save(wrong, [1.0])
    pnorm.save(path, [1.0])
    monkeypatch.setattr(os, "access", lambda *_: False)
    with raises(PermissionError, "may not be written"):
        pnorm.save(path, [2.0])
    assert pnorm.load(path).lam.tolist() == [1.0]


# Where the disk is full


@pytest.fixture
def full_disk():
    """No file can be longer than 99 bytes."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (99, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


ROWS = np.random.default_rng(0).normal(size=(3000, 2))
LABELS = ROWS[:, 0] > 1.0


@pytest.mark.parametrize(
    "write",
    [
        lambda path: pnorm.save(path, np.arange(99.0)),
        lambda path: pnorm.report_html(path, ROWS, LABELS, None, [1.0, 2.0]),
        lambda path: _files.write(path, bytes(10**6)),
        lambda path: scores_file.write(str(path), {"score": ROWS[:, 0]}, np.arange(3000)),
    ],
    ids=["a model", "a report", "bytes", "scores"],
)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_full_disk_is_told_with_the_file(tmp_path, request, write, name, is_there):
    path = tmp_path / name
    if is_there:
        path.write_text("old")
    request.getfixturevalue("full_disk")
    with pytest.raises(OSError, match="too large") as raised:
        write(path)
    assert raised.value.filename == str(path)
    assert {of.name: of.read_text() for of in tmp_path.iterdir()} == ({name: "old"} if is_there else {})


def test_codes_on_a_full_disk(tmp_path, full_disk):
    with pytest.raises(OSError, match="too large") as raised:
        pnorm.code_rows(ROWS, LABELS, pnorm.rankers.quantile_thresholds(ROWS, ROWS, 99), folder=tmp_path)
    assert raised.value.filename == str(tmp_path)


def test_codes_for_which_no_place_is_left_are_refused_before_they_are_written(tmp_path, monkeypatch):
    """To write into a map of a file that has no place on the disk ends the process."""

    def none_left(descriptor, start, size):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", none_left, raising=False)
    with raises(OSError, "No space left on device") as raised:
        pnorm.code_rows(ROWS, LABELS, pnorm.rankers.quantile_thresholds(ROWS, ROWS, 99), folder=tmp_path)
    assert raised.value.filename == str(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows tells no blocks")
@pytest.mark.parametrize("has_call", [True, False])
def test_a_file_of_codes_has_its_place_on_the_disk(tmp_path, monkeypatch, has_call):
    if not has_call:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(growing, "_BLOCK", 1000)
    with open(tmp_path / "t", "w+b") as file:
        growing._allocate(file, 10**5)
        assert os.fstat(file.fileno()).st_size == 10**5
        assert os.fstat(file.fileno()).st_blocks * 512 >= 10**5
