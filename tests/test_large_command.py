"""The command on folders, patterns and files that do not fit in memory."""

import csv
import json
import re

import numpy as np
import pytest
from command import BATCHED, refused, run
from facts import tells

import pnorm
from pnorm._coded.sample import TableSample
from pnorm._command import large
from pnorm._job.sample import Sample, in_proportion

pytestmark = pytest.mark.usefixtures("few_points", "few_resamples")

N = 600


def columns():
    rng = np.random.default_rng(5)
    amount, hour = np.round(rng.lognormal(3, 1, N), 2), rng.integers(0, 24, N)
    country = rng.choice(["SE", "US", "DE"], N)
    day = np.datetime64("2026-01-01") + np.arange(N) // 20
    y = rng.random(N) < 1 / (1 + np.exp(2.5 - 0.8 * np.log(amount / 20) - (country == "US")))
    amounts = ["" if k % 50 == 7 else str(x) for k, x in enumerate(amount.tolist())]
    return {"id": [f"t{k}" for k in range(N)], "booked": day.astype(str).tolist(), "amount": amounts,
            "hour": hour.astype(str).tolist(), "country": country.tolist(),
            "fraud": np.where(y, "yes", "no").tolist()}  # fmt: skip


def write_csv(path, table, rows):
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows([[table[name][k] for name in table] for k in rows])
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One file, and a folder of three that has the same rows."""
    folder, table = tmp_path_factory.mktemp("data"), columns()
    (folder / "days").mkdir()
    for k in range(3):
        write_csv(folder / "days" / f"{k}.csv", table, range(k * N // 3, (k + 1) * N // 3))
    write_csv(folder / "all.csv", table, range(N))
    write_csv(folder / "last.csv", table, range(N // 2, N))
    return folder


def job(capsys, folder, name, *more):
    """What a run on a file prints, writes and saves."""
    out, model = folder / "out.csv", folder / "model.json"
    status, text, err = run(
        capsys, folder / name, "--label", "fraud", "--id", "id", *more, "--out", out, "--save", model
    )
    assert (status, err) == (0, "")
    with open(out) as stream:
        scores = {row.pop("id"): row for row in csv.DictReader(stream)}
    return text, scores, json.loads(model.read_text())


HOW = {
    "latest": ["--time", "booked"],
    "other rows": ["--test", "last.csv"],
    "no rows": ["--holdout", "0"],
}


@pytest.mark.parametrize("how", HOW)
def test_rows_in_batches_teach_what_rows_in_memory_do(capsys, data, how, monkeypatch):
    monkeypatch.chdir(data)
    more = [*HOW[how], "-t", "30"]
    text, scores, model = job(capsys, data, "all.csv", *more)
    of_batches, own, found = job(capsys, data, "days", *more, *BATCHED)
    assert "3 CSV files of " in of_batches
    np.testing.assert_allclose(found["lam"], model["lam"], rtol=0, atol=1e-12)
    assert found["H"] == model["H"]
    assert found["metadata"] | {"file": "", "profile": ""} == model["metadata"] | {"file": "", "profile": ""}
    assert found["metadata"]["profile"]["columns"][0] == model["metadata"]["profile"]["columns"][0]
    assert list(own) == columns()["id"]
    for name, row in scores.items():
        of_row = own[name]
        assert "reasons" not in of_row
        assert float(of_row.pop("score")) == pytest.approx(float(row["score"]), abs=1e-12)
        assert ("probability" in of_row) == ("probability" in row)  # not where the test finds them wrong
        if "probability" in row:
            assert float(of_row.pop("probability")) == pytest.approx(float(row["probability"]), abs=1e-12)
        assert of_row.items() <= row.items()
    # the page says the same but for names and how the rows were read
    of_batches, text = [part.split("Next steps\n")[0] for part in (of_batches, text)]  # they name the files
    lines = [line for line in of_batches.splitlines() if "read in batches" not in line]
    same = [line for line in text.splitlines() if line in lines]
    assert len(same) >= len(lines) - 4
    assert any(line.strip().startswith("Test on" if how != "no rows" else "No row is held out.") for line in same)


def test_the_choice_and_the_minimum_are_those_of_rows_in_memory(capsys, data):
    text, _, model = job(capsys, data, "all.csv", "--time", "booked")
    of_batches, _, found = job(capsys, data, "days", "--time", "booked", *BATCHED)
    assert [line for line in text.splitlines() if line.strip().startswith(("Chosen", "*", "p = "))] == [
        line for line in of_batches.splitlines() if line.strip().startswith(("Chosen", "*", "p = "))
    ]
    assert "partial AUC" in of_batches
    np.testing.assert_allclose(found["lam"], model["lam"], rtol=0, atol=5e-3)  # both are near the same minimum


def test_rows_are_drawn_and_the_page_says_so(capsys, data, monkeypatch):
    monkeypatch.setattr(large, "SIDE", 60)
    monkeypatch.setattr(large, "HELD", 100)
    more = ["--holdout", "0.5", "-t", "20", *BATCHED]
    text, scores, model = job(capsys, data, "days", *more, "--report", data / "report.html")
    n = model["metadata"]["rows"]
    n_held = sum(row["held_out"] == "1" for row in scores.values())
    assert n + n_held == N
    assert 0.4 * N < n_held < 0.6 * N
    assert f"Test on 100 rows drawn from the {n_held:,} held-out rows, " in text
    assert f"Columns (counts of the {n:,} training rows)" in text
    assert re.search(r"3 CSV files of .*days/ are read in batches; the model uses all training rows; its settings are "
                     r"chosen on \d\d positives and 60 negatives", text)  # fmt: skip
    assert model["metadata"]["tested"]["rows"] == 100
    assert f"The model learned from {n:,} rows, " in (data / "report.html").read_text()
    assert job(capsys, data, "days", *more)[1] == scores
    # all rows to train on have taught it, and not those alone that were drawn
    table, positive = columns(), {"yes": True, "no": False}
    rows = [k for k, name in enumerate(table["id"]) if scores[name]["held_out"] == "0"]
    sides = [
        {name: [table[name][k] for k in rows if positive[table["fraud"][k]] == side] for name in table
         if name not in ("id", "fraud")} for side in (True, False)
    ]  # fmt: skip
    H = pnorm.rankers.from_table(*sides, n_cuts=31)
    lam, _ = pnorm.train(*sides, H, 4.0, 20)
    np.testing.assert_allclose(model["lam"], lam, rtol=0, atol=1e-12)
    text = job(capsys, data, "days", "--holdout", "0", "-t", "20", *BATCHED)[0]
    assert tells(text, "These are results on 100 rows drawn from the 600 training rows; on new rows the list is worse.")


def test_the_label_and_cells_that_cannot_be_used_are_named_with_their_file(capsys, data, tmp_path):
    table = columns()
    table["fraud"] = ["won" if label == "yes" else "lost" for label in table["fraud"]]
    folder = tmp_path / "days"
    folder.mkdir()
    for k in range(2):
        write_csv(folder / f"{k}.csv", table, range(k * N // 2, (k + 1) * N // 2))
    more = ["--label", "fraud", "--ignore", "id", "-t", "5", *BATCHED]
    n = table["fraud"].count("won")
    status, _, err = run(capsys, folder, *more)
    assert status == 2
    assert f"has the labels lost ({N - n}), won ({n}); name the positive label with --positive" in err
    assert run(capsys, folder, *more, "--positive", "won")[0] == 0
    table["amount"][N // 2 + 3] = "cheap"
    write_csv(folder / "1.csv", table, range(N // 2, N))
    asked = ["--positive", "won", "--kind", "amount=number", "--holdout", "0.0"]
    status, out, _ = run(capsys, folder, *more, *asked)
    told = f"1 value does not read as a number and counts as missing: 'cheap' (line 5 of {folder / '1.csv'})"
    assert status == 0
    assert "".join(told.split()) in "".join(out.split())
    few = table | {"amount": ["cheap"] * N}
    for k in range(2):
        write_csv(folder / f"{k}.csv", few, range(k * N // 2, (k + 1) * N // 2))
    err = run(capsys, folder, *more, *asked)[2]
    assert re.search(
        rf"column 'amount' has 'cheap' in line \d+ of {re.escape(str(folder))}.* of the {N:,} values do not", err
    )
    write_csv(folder / "0.csv", table, range(N // 2))
    table["fraud"][N // 2 + 1] = ""
    write_csv(folder / "1.csv", table, range(N // 2, N))
    err = run(capsys, folder, *more, "--positive", "won")[2]
    assert f"the label 'fraud' is missing in line 3 of {folder / '1.csv'}; every row needs one" in err


def test_what_rows_in_batches_cannot_do_is_said_in_one_line(capsys, data):
    err = refused(capsys, data / "days", "--label", "fraud", *BATCHED, "--holdout", "0.0001")
    assert "no row is held out; both parts need rows" in err


def test_each_row_is_as_likely_to_be_drawn():
    times, n, most = np.zeros(40), 40, 7
    for seed in range(400):
        rng, sample = np.random.default_rng(seed), Sample(most, ["x"])
        for start in range(0, n, 9):
            x = np.arange(start, min(start + 9, n))
            sample.add({"x": x}, np.arange(x.size), rng.random(x.size), start)
        found, numbers = sample.found()
        assert found["x"].tolist() == numbers.tolist() == sorted(set(numbers.tolist()))
        assert (numbers.size, sample.seen) == (most, n)
        times[numbers] += 1
    assert abs(times / 400 - most / n).max() < 5 * np.sqrt(most / n * (1 - most / n) / 400)


def test_samples_of_parts_become_one_in_proportion():
    parts, sizes = [np.arange(50), np.arange(50, 90), np.arange(90, 100)], [1000, 4000, 100]
    rows = in_proportion(np.random.default_rng(0), parts, sizes)
    assert [int(np.isin(part, rows).sum()) for part in parts] == [10, 40, 1]
    np.testing.assert_array_equal(in_proportion(np.random.default_rng(0), parts, [50, 40, 10]), np.arange(100))


@pytest.mark.parametrize("more", [[], ["--label", "fraud", "--budget", "50"]])
def test_a_model_ranks_rows_in_batches_as_those_in_memory(capsys, data, tmp_path, more):
    job(capsys, data, "all.csv", "-t", "30", "--precision", "0.3")
    found = []
    for name, how in (("last.csv", []), ("last.csv", [*BATCHED])):
        out = tmp_path / "out.csv"
        arguments = [data / name, "--model", data / "model.json", "--id", "id", *more, *how, "--out", out]
        status, text, err = run(capsys, *arguments)
        assert (status, err) == (0, "")
        with open(out) as stream:
            rows = list(csv.DictReader(stream))
        found.append((text, {row.pop("id"): row | {"reasons": ""} for row in rows}, [*rows]))
    (text, scores, _), (of_batches, own, in_order) = found
    assert own == scores
    assert list(own) == columns()["id"][N // 2 :]
    assert len(in_order) == N // 2
    lines = text.splitlines()
    assert [line for line in of_batches.splitlines() if line not in lines] == [
        line.replace(", best first", "") for line in lines if line.startswith("  scores of 300 rows, best first")
    ] + [
        "    They are in the order of the rows and have no reasons, because the rows are read in batches.",
    ]


def test_a_model_ranks_folders_of_any_size(capsys, data, tmp_path):
    job(capsys, data, "all.csv", "-t", "30")
    model, out = data / "model.json", tmp_path / "out.parquet"
    rank = [data / "days", "--model", model, *BATCHED]
    status, text, err = run(capsys, *rank, "--out", out)
    assert (status, err) == (0, "")
    table = pytest.importorskip("pyarrow.parquet").read_table(out)
    assert table.column_names == ["row", "score", "rank"]  # the test of the model finds probabilities wrong
    assert table.column("row").to_pylist() == list(range(N))
    assert f"days: {N} rows" in text
    status, _, err = run(capsys, *rank, "--label", "fraud", "--report", tmp_path / "r.html")
    assert (status, err.count("\n")) == (2, 1)
    assert tells(err, "--report with --model needs all rows in memory")


def test_a_file_that_changes_between_two_readings_is_refused(capsys, tmp_path, monkeypatch):
    table, made = columns(), TableSample.rankers
    path = write_csv(tmp_path / "t.csv", table, range(N))
    how = [path, "--label", "fraud", "--ignore", "id,booked", "-t", 2, *BATCHED]

    def run_with(changed):
        def changing(*arguments, **options):
            write_csv(path, table | changed, range(N))
            return made(*arguments, **options)

        monkeypatch.setattr(TableSample, "rankers", changing)
        return run(capsys, *how)

    assert run_with({})[0] == 0
    status, _, err = run_with({"amount": table["amount"][::-1]})
    assert (status, err.count("\n")) == (2, 1)
    assert str(path) in err


def test_a_sample_has_the_smallest_keys_and_reads_no_row_above_them():
    keys, sample = np.random.default_rng(0).random(200), Sample(5, ["x"])
    for start in range(0, 200, 10):
        x = np.arange(start, start + 10)
        sample.add({"x": x}, x - start, keys[x], start)
    unread = None
    sample.add(unread, np.arange(3), np.ones(3), 200)
    found, numbers = sample.found()
    np.testing.assert_array_equal(numbers, np.sort(np.argsort(keys)[:5]))
    np.testing.assert_array_equal(found["x"], numbers)
    assert sample.seen == 203
