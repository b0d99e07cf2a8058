"""Write leads.csv, a small file to try the command on. The data are simulated.

A file of 600 sales leads with what real files have: dates in two formats,
amounts as text with a currency, towns in mixed case and missing values. Run

    python examples/leads.py
    pnorm examples/leads.csv --label bought --id lead

How the rows are made. A lead buys with the probability

    1 / (1 + exp(-(-4.5 + 5.5 g + 1.2 t))),
    g = exp(-(log(employees / 60))^2 / (2 * 0.4^2)),

where t is 1 after a trial and 0 otherwise. So the number of employees has a
curved effect: companies of about 60 employees buy most, smaller and larger ones
less often. The trial has a smaller effect. Date, budget, town and source have
none. All columns are drawn before the label, and none depends on it. After
that, some cells are left empty.
"""

import csv
import datetime
import math
import random
from pathlib import Path

HEADER = [
    "lead",
    "asked on",
    "employees",
    "budget",
    "town",
    "source",
    "trial",
    "bought",
]
TOWNS = ["Leeds", "York", "Hull", "leeds", "YORK", "Hull "]


def leads(n=600, seed=1):
    """Return the rows as text."""
    draw = random.Random(seed)
    rows = []
    for k in range(n):
        day = datetime.date(2025, 1, 1)
        day += datetime.timedelta(draw.randrange(365))
        date = day.strftime(draw.choice(["%Y-%m-%d", "%d/%m/%Y"]))
        employees = max(1, round(math.exp(draw.gauss(4.1, 1.2))))
        budget = draw.lognormvariate(8.5, 0.7)
        budget = draw.choice([f"€{budget:,.2f}", f"EUR {budget:,.0f}"])
        town = draw.choice(TOWNS)
        source = draw.choice(["search", "fair", "mail", "friend"])
        trial = draw.random() < 0.3
        g = math.exp(-(math.log(employees / 60) ** 2) / (2 * 0.4**2))
        bought = draw.random() < 1 / (1 + math.exp(4.5 - 5.5 * g - 1.2 * trial))
        cells = [
            f"L{7000 + 13 * k}",
            date,
            "" if draw.random() < 0.04 else str(employees),
            "" if draw.random() < 0.10 else budget,
            "" if draw.random() < 0.05 else town,
            "n/a" if draw.random() < 0.03 else source,
            "yes" if trial else "no",
        ]
        rows.append([*cells, "yes" if bought else "no"])
    return rows


def write(path):
    """Write the file."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerows([HEADER, *leads()])


if __name__ == "__main__":
    write(Path(__file__).with_name("leads.csv"))
