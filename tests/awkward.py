"""Eight tables as people have them, each written into a folder, with what is to be found in it."""

import csv
import datetime
import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Awkward:
    """A file of rows, and what is true of it."""

    path: Path
    label: str
    positive: str
    """The label of positive rows, as the file has it."""
    y: np.ndarray
    """Whether a row is positive."""
    kinds: dict[str, str]
    """What `pnorm.rankers.from_table` makes of each column but the label."""
    id: str | None = None
    """The column that names the rows."""
    notes: tuple[str, ...] = ()
    """What the reader assumes."""
    leaks: tuple[str, ...] = ()
    """Columns that are known only after the outcome."""
    missing: dict[str, int] = field(default_factory=dict)
    """Values that are missing, by column, where there are any."""

    def arguments(self) -> list[str]:
        """The arguments of the command in one line."""
        return [str(self.path), "--label", self.label, "--positive", self.positive]


def _labels(rng, signal, share):
    """The rows whose signal, with noise, is in the highest share."""
    noisy = signal + rng.logistic(size=signal.size) * 0.6
    return noisy > np.quantile(noisy, 1.0 - share)


def _write(path, columns, delimiter=",", encoding="utf-8"):
    with open(path, "w", encoding=encoding, newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def _pick(rng, words, n, p=None):
    return [words[k] for k in rng.choice(len(words), n, p=p)]


def _comma(x, digits=2):
    """A number with a decimal comma and dots between thousands."""
    return f"{x:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def transactions(folder: Path) -> Awkward:
    """An id, a time, categories and free text beside amounts."""
    rng = np.random.default_rng(1)
    n = 1200
    start = datetime.datetime(2024, 1, 1)
    when = [start + datetime.timedelta(seconds=int(s)) for s in np.sort(rng.integers(0, 120 * 86400, n))]
    amount = np.exp(rng.normal(3.5, 1.0, n))
    merchant = _pick(rng, ["grocery", "fuel", "travel", "electronics", "pharmacy"], n, [0.4, 0.2, 0.1, 0.1, 0.2])
    hour = np.array([t.hour for t in when])
    signal = (
        0.9 * np.log(amount) + 1.5 * (hour < 5) + 1.2 * np.array([m in ("travel", "electronics") for m in merchant])
    )
    y = _labels(rng, signal, 0.12)
    verbs, things = (
        ["card present at", "online order from", "recurring charge by"],
        ["the shop", "a web site", "an app"],
    )
    note = [
        f"{v} {t} number {k} on {d:%A}"
        for k, (v, t, d) in enumerate(zip(_pick(rng, verbs, n), _pick(rng, things, n), when, strict=True))
    ]
    columns = {
        "transaction_id": [f"TX{k:08d}" for k in rng.permutation(n)],
        "timestamp": [f"{t:%Y-%m-%d %H:%M:%S}" for t in when],
        "amount": [f"{x:.2f}" for x in amount],
        "merchant": merchant,
        "note": note,
        "fraud": ["fraud" if of else "ok" for of in y],
    }
    kinds = {
        "transaction_id": "left out",
        "timestamp": "date",
        "amount": "number",
        "merchant": "category",
        "note": "left out",
    }
    return Awkward(_write(folder / "transactions.csv", columns), "fraud", "fraud", y, kinds, id="transaction_id")


def leads(folder: Path) -> Awkward:
    """Missing values as words of all kinds, as blanks and as nothing."""
    rng = np.random.default_rng(2)
    n = 800
    visits, income = rng.poisson(4, n), rng.normal(52_000, 9_000, n).round()
    source = _pick(rng, ["web", "fair", "partner"], n)
    y = _labels(rng, 0.4 * visits + (income - 52_000) / 15_000 + np.array([s == "partner" for s in source]), 0.25)
    words = ["", "NA", "n/a", "NULL", "none", "?", "-", " ", "NaN"]
    columns = {
        "email": [f"lead{k}@example.org" for k in rng.permutation(n)],
        "visits": list(map(str, visits)),
        "income": [f"{x:.0f}" for x in income],
        "source": source,
    }
    missing = {}
    for name, share in (("visits", 0.05), ("income", 0.2), ("source", 0.1)):
        gone = rng.random(n) < share
        missing[name] = int(gone.sum())
        columns[name] = [rng.choice(words) if of else value for of, value in zip(gone, columns[name], strict=True)]
    columns["bought"] = ["yes" if of else "no" for of in y]
    kinds = {"email": "left out", "visits": "number", "income": "number", "source": "category"}
    path = _write(folder / "leads.csv", columns)
    return Awkward(path, "bought", "yes", y, kinds, id="email", missing=missing)


def patients(folder: Path) -> Awkward:
    """Truth values in five spellings, and a number that is an id."""
    rng = np.random.default_rng(3)
    n = 600
    spelled = {"smoker": ("yes", "no"), "diabetes": ("True", "False"), "surgery": ("T", "F"), "male": ("Y", "N"),
               "insured": ("TRUE", "FALSE")}  # fmt: skip
    flags = {name: rng.random(n) < 0.4 for name in spelled}
    age = rng.integers(18, 95, n)
    y = _labels(rng, age / 20 + 1.2 * flags["smoker"] + 0.8 * flags["diabetes"] + 0.5 * flags["surgery"], 0.2)
    columns = {"patient_no": list(map(str, 40_000 + rng.permutation(n))), "age": list(map(str, age))}
    columns |= {name: [words[0] if of else words[1] for of in flags[name]] for name, words in spelled.items()}
    columns["readmitted"] = ["1" if of else "0" for of in y]
    kinds = {"patient_no": "left out", "age": "number"} | dict.fromkeys(spelled, "boolean")
    return Awkward(_write(folder / "patients.csv", columns), "readmitted", "1", y, kinds, id="patient_no")


def customers(folder: Path) -> Awkward:
    """Decimal commas and euros, columns divided by semicolons, in cp1252."""
    rng = np.random.default_rng(4)
    n = 700
    turnover, discount = np.exp(rng.normal(7.5, 1.0, n)), rng.uniform(0, 30, n)
    town = _pick(rng, ["Köln", "München", "Ulm", "Düsseldorf"], n)
    since = [datetime.date(2010, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 5000, n)]
    y = _labels(rng, discount / 8 - 0.6 * np.log(turnover) + np.array([t == "Ulm" for t in town]), 0.2)
    columns = {
        "Kundennummer": [f"K-{k:06d}" for k in rng.permutation(n)],
        "Umsatz": [f"{_comma(x)} €" for x in turnover],
        "Rabatt": [_comma(x, 1) for x in discount],
        "Ort": town,
        "Kunde seit": [f"{d:%d.%m.%Y}" for d in since],
        "gekündigt": ["ja" if of else "nein" for of in y],
    }
    kinds = {
        "Kundennummer": "left out",
        "Umsatz": "number",
        "Rabatt": "number",
        "Ort": "category",
        "Kunde seit": "date",
    }
    path = _write(folder / "kunden.csv", columns, ";", "cp1252")
    notes = (
        "read as cp1252 (Western Europe), as it is not UTF-8 (byte 0xfc in line 1)",
        "columns are separated by semicolons",
    )
    return Awkward(path, "gekündigt", "ja", y, kinds, id="Kundennummer", notes=notes)


def molecules(folder: Path) -> Awkward:
    """A compressed file with an index that pandas has saved, and a constant column."""
    rng = np.random.default_rng(5)
    n = 900
    weight, rings, logp = rng.normal(350, 60, n), rng.integers(0, 6, n), rng.normal(2.5, 1.2, n)
    y = _labels(rng, 0.6 * rings + logp - np.abs(weight - 350) / 80, 0.15)
    parts = np.array(["C", "CC", "N", "O", "c1ccccc1", "C(=O)", "Cl", "F", "S", "C=C"])
    columns = {
        "": list(range(n)),
        "smiles": [f"{''.join(rng.choice(parts, 8))}{'C' * (k % 7)}N{k}" for k in range(n)],
        "weight": [f"{x:.3f}" for x in weight],
        "rings": list(map(str, rings)),
        "logP": [f"{x:.4e}" for x in logp],
        "assay": ["A7"] * n,
        "active": ["active" if of else "inactive" for of in y],
    }
    path = folder / "molecules.csv.gz"
    plain = _write(folder / "molecules.csv", columns)
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    kinds = {"index": "left out", "smiles": "left out", "weight": "number", "rings": "number", "logP": "number",
             "assay": "left out"}  # fmt: skip
    notes = ("the first column has no name, and is called 'index'",)
    return Awkward(path, "active", "active", y, kinds, id="smiles", notes=notes)


def machines(folder: Path) -> Awkward:
    """A workbook of two sheets with typed values; openpyxl writes it."""
    import openpyxl

    rng = np.random.default_rng(6)
    n = 500
    hours, heat = rng.integers(10, 9000, n), rng.normal(61.0, 7.0, n)
    served = [datetime.datetime(2023, 3, 1, 8) + datetime.timedelta(hours=int(h)) for h in rng.integers(0, 9000, n)]
    leased, site = rng.random(n) < 0.3, _pick(rng, ["north", "south", "harbour"], n)
    y = _labels(rng, hours / 2500 + (heat - 61) / 7 + 0.7 * leased, 0.2)
    unknown = rng.random(n) < 0.08
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Machines"
    sheet.append(["serial", "hours", "temperature", "last service", "leased", "site", "failed"])
    for k in range(n):
        values = [int(hours[k]), None if unknown[k] else round(float(heat[k]), 2), served[k], bool(leased[k]), site[k]]
        sheet.append([f"M{k * 7919 % 10007:05d}", *values, "failed" if y[k] else "runs"])
    book.create_sheet("Notes").append(["made by the service desk"])
    path = folder / "machines.xlsx"
    book.save(path)
    kinds = {"serial": "left out", "hours": "number", "temperature": "number", "last service": "date", "leased": "boolean",
             "site": "category"}  # fmt: skip
    notes = ("reads the sheet Machines, the first of 2",)
    missing = {"temperature": int(unknown.sum())}
    return Awkward(path, "failed", "failed", y, kinds, id="serial", notes=notes, missing=missing)


def payments(folder: Path) -> Awkward:
    """20,000 rows of which one in a hundred is positive."""
    rng = np.random.default_rng(7)
    n = 20_000
    amount, age = np.exp(rng.normal(3.2, 1.1, n)), rng.integers(0, 3000, n)
    country = _pick(rng, ["DE", "FR", "IT", "US", "BR"], n, [0.4, 0.25, 0.2, 0.1, 0.05])
    tries = rng.poisson(0.3, n)
    y = _labels(rng, np.log(amount) + 1.5 * tries - age / 1500 + 1.5 * np.array([c == "BR" for c in country]), 0.01)
    columns = {
        "payment_id": list(map(str, 7_000_000 + rng.permutation(n))),
        "amount": [f"{x:.2f}" for x in amount],
        "account_age": list(map(str, age)),
        "country": country,
        "failed_tries": list(map(str, tries)),
        "chargeback": ["1" if of else "0" for of in y],
    }
    kinds = {
        "payment_id": "left out",
        "amount": "number",
        "account_age": "number",
        "country": "category",
        "failed_tries": "number",
    }
    return Awkward(_write(folder / "payments.csv", columns), "chargeback", "1", y, kinds, id="payment_id")


def refunds(folder: Path) -> Awkward:
    """Two columns that are known only after the outcome: a number, and one that is missing but for positives."""
    rng = np.random.default_rng(8)
    n = 1000
    amount, items = np.exp(rng.normal(4.0, 0.8, n)), rng.integers(1, 9, n)
    channel = _pick(rng, ["shop", "web", "phone"], n)
    y = _labels(rng, np.log(amount) + 0.8 * np.array([c == "web" for c in channel]), 0.15)
    days = rng.integers(1, 30, n)
    columns = {
        "order": [f"O-{k:05d}" for k in rng.permutation(n)],
        "amount": [f"{x:.2f}" for x in amount],
        "items": list(map(str, items)),
        "channel": channel,
        "refund": [
            f"{x * share:.2f}" for x, share in zip(amount, np.where(y, rng.uniform(0.5, 1.0, n), 0.0), strict=True)
        ],
        "days to return": [str(d) if of else "" for d, of in zip(days, y, strict=True)],
        "returned": ["true" if of else "false" for of in y],
    }
    kinds = {"order": "left out", "amount": "number", "items": "number", "channel": "category", "refund": "number",
             "days to return": "number"}  # fmt: skip
    missing = {"days to return": int((~y).sum())}
    path = _write(folder / "refunds.csv", columns)
    return Awkward(path, "returned", "true", y, kinds, id="order", leaks=("refund", "days to return"), missing=missing)


WRITERS: dict[str, Callable[[Path], Awkward]] = {
    write.__name__: write
    for write in (transactions, leads, patients, customers, molecules, machines, payments, refunds)
}
"""By name, the functions that write a table into a folder."""
