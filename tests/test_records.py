"""Rows that are dictionaries, as json.load gives them."""

import json

import numpy as np
import pandas as pd
from facts import raises

import pnorm
from pnorm.sklearn import PNormPush

RNG = np.random.default_rng(3)


def some(n, shift):
    """Records whose keys come in any order, and may be missing."""
    rows = []
    for _ in range(n):
        row = {
            "age": round(float(RNG.normal(shift)), 2),
            "town": str(RNG.choice(["Ulm", "Bonn", "Rome"])),
            "since": f"2024-{RNG.integers(1, 13):02}-{RNG.integers(1, 29):02}",
        }
        keys = [key for key in RNG.permutation(list(row)) if RNG.random() < 0.9]
        rows.append({str(key): row[key] for key in keys})
    return json.loads(json.dumps(rows))


POS, NEG = some(60, 1.0), some(90, 0.0)
NEG[4]["vip"] = True  # a key that no positive has
NAMES = ["age", "town", "since", "vip"]


def frame(rows):
    return pd.DataFrame(rows, columns=NAMES)


def test_weak_rankers_and_scores_are_those_of_the_frame():
    H = pnorm.rankers.from_table(POS, NEG)
    expected = pnorm.rankers.from_table(frame(POS), frame(NEG))
    assert set(H.names) == set(expected.names)
    assert {"age is missing", "town = Ulm", "since is missing"} <= set(H.names)
    at = [expected.names.index(name) for name in H.names]
    np.testing.assert_array_equal(H.evaluate(POS), expected.evaluate(frame(POS))[:, at])
    assert {(of.name, of.kind, of.missing) for of in H.plan} == {(of.name, of.kind, of.missing) for of in expected.plan}
    lam, _ = pnorm.train(POS, [*NEG], H, 2, 20)
    same, _ = pnorm.train(frame(POS), frame(NEG), H, 2, 20)
    np.testing.assert_array_equal(lam, same)
    new = [*POS[:3], *NEG[:5]]
    np.testing.assert_array_equal(pnorm.score(new, H, lam), pnorm.score(frame(new), H, lam))
    np.testing.assert_array_equal(pnorm.score(tuple(new), H, lam), pnorm.score(frame(new), H, lam))


def test_a_model_is_that_of_the_frame():
    X, y = [*POS, *NEG], [1] * len(POS) + [0] * len(NEG)
    model, expected = PNormPush(t_max=20), PNormPush(t_max=20)
    model.fit(X, y)
    names = model.feature_names_in_.tolist()
    assert sorted(names) == sorted(NAMES)
    of_frame = pd.DataFrame(X, columns=names)
    expected.fit(of_frame, y)
    np.testing.assert_array_equal(model.lam_, expected.lam_)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(of_frame))
    np.testing.assert_array_equal(model.predict(X), expected.predict(of_frame))
    assert model.explain(X[:2]).top(0) == expected.explain(of_frame[:2]).top(0)


def test_the_score_of_a_record_does_not_depend_on_the_others():
    H = pnorm.rankers.from_table(POS, NEG)
    lam = RNG.normal(size=len(H))
    f = pnorm.score(NEG, H, lam)
    np.testing.assert_array_equal([pnorm.score([row], H, lam)[0] for row in NEG[:9]], f[:9])
    model = PNormPush(t_max=9).fit([*POS, *NEG], [1] * len(POS) + [0] * len(NEG))
    f = model.decision_function(NEG)
    np.testing.assert_array_equal([model.decision_function([row])[0] for row in NEG[:9]], f[:9])


def test_functions_still_read_the_records_themselves():
    H = [lambda rows: [float("age" in row) for row in rows], lambda rows: [row.get("age", 0.0) for row in rows]]
    lam, _ = pnorm.train(POS, NEG, H, 2, 5)
    assert pnorm.score([{}], H, lam).shape == (1,)


def test_what_no_record_is():
    H = pnorm.rankers.from_table(POS, NEG)
    lam = np.ones(len(H))
    with raises(TypeError, r"^neg has None \(NoneType\) as row 1, and row 0 is a dictionary"):
        pnorm.rankers.from_table(POS, [NEG[0], None])
    with raises(TypeError, r"^X has \[1, 2\] \(list\) as row 2, and row 0 is a dictionary"):
        pnorm.score([POS[0], POS[1], [1, 2]], H, lam)
    with raises(TypeError, r"^X has 'age' \(str\) as row 1"):
        PNormPush().fit([POS[0], "age"], [1, 0])
    with raises(ValueError, r"^pos has no columns: all its rows are empty dictionaries"):
        pnorm.rankers.from_table([{}, {}], NEG)
    with raises(ValueError, r"^X has none of the columns .*; the keys of its rows are 'Age'$"):
        pnorm.score([{"Age": 1.0}], H, lam)
