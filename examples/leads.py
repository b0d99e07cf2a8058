"""Write leads.csv, a file to try the command on. The data are simulated.

A file of 6,000 sales leads with what real files have: dates in two formats,
amounts as text with a currency, words in mixed case, missing values, amounts
typed wrongly, repeated requests and sales that were not recorded. Run

    python examples/leads.py
    pnorm examples/leads.csv --label bought --id lead

How the rows are made. A company asks for a product that costs €5,000. It buys
with the probability 1 / (1 + exp(-z)), where z is the sum of

    -5.0,
    2.2 exp(-(log(employees / 60) / 0.8)^2 / 2), largest for 60 employees,
    1.0 if its budget is at least €5,000,
    1.2 (1 - exp(-visits / 4)) for its visits to the web site,
    0.6 if a chief or head asked, and -0.6 if an assistant or student did,
    0.8 if it came through a friend, 0.3 through a fair, and -0.3 by mail,
    1.2 if it made a trial and has at most 250 employees,
    -0.5 from 1 September on, when the price rose.

The town has no effect. z is a sum over columns, but for the trial, which
depends on the employees. The columns of the file show less than z:

- 3 in 100 sales are not recorded, and 1 in 200 of the other leads is marked as
  a sale by mistake.
- 3 in 100 leads are a company that asked before. The row repeats the earlier
  one with a later date, an id and a source of its own. A sale counts for the
  later row only.
- 1 in 100 budgets is typed as 1,000 times the amount.
- The budget is empty if there is none yet; so 12 in 100 are. Cells of
  employees, town, role and source are empty at random.

So the log-odds of a sale, given the file, are close to a sum of curves of the
columns, but not one. Logistic curves, which the command compares with, fit such
a process well. benchmarks/splits.py compares the lists over several splits.
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
    "role",
    "town",
    "source",
    "visits",
    "trial",
    "bought",
]
EFFECT_OF_ROLE = {
    "CEO": 0.6,
    "ceo": 0.6,
    "Managing director": 0.6,
    "Head of IT": 0.6,
    "head of sales": 0.6,
    "IT manager": 0,
    "Sales manager": 0,
    "sales manager": 0,
    "Consultant": 0,
    "Assistant": -0.6,
    "assistant to the CEO": -0.6,
    "Student": -0.6,
}
EFFECT_OF_SOURCE = {"search": 0, "fair": 0.3, "mail": -0.3, "friend": 0.8}
TOWNS = ["Leeds", "York", "Hull", "Sheffield", "leeds", "YORK", "Hull "]
PRICE_ROSE = datetime.date(2025, 9, 1)


def company(draw, day):
    """Return a lead, and whether it is a sale."""
    employees = max(1, round(math.exp(draw.gauss(3.8, 1.3))))
    budget = None if draw.random() < 0.12 else draw.lognormvariate(8.5, 0.8)
    role = draw.choice(list(EFFECT_OF_ROLE))
    source = draw.choice(list(EFFECT_OF_SOURCE))
    visits = int(draw.expovariate(0.25))
    trial = draw.random() < 0.3
    z = -5.0 + EFFECT_OF_ROLE[role] + EFFECT_OF_SOURCE[source]
    z += 2.2 * math.exp(-((math.log(employees / 60) / 0.8) ** 2) / 2)
    z += 1.0 * (budget is not None and budget >= 5000)
    z += 1.2 * (1 - math.exp(-visits / 4))
    z += 1.2 * (trial and employees <= 250) - 0.5 * (day >= PRICE_ROSE)
    cells = {
        "asked on": day,
        "employees": employees,
        "budget": budget,
        "role": role,
        "town": draw.choice(TOWNS),
        "source": source,
        "visits": visits,
        "trial": trial,
    }
    return cells, draw.random() < 1 / (1 + math.exp(-z))


def asked_again(draw, rows, day):
    """Return an earlier lead as it asks again; its sale moves to this row."""
    cells, bought = earlier = draw.choice(rows)
    earlier[1] = False
    source = draw.choice(list(EFFECT_OF_SOURCE))
    return cells | {"asked on": day, "source": source}, bought


def typed(draw, cells, bought):
    """Return the cells as text, with what is missing and what is wrong."""
    wrong = draw.random() < (0.03 if bought else 0.005)
    budget = cells["budget"]
    if budget is not None:
        budget *= 1000 if draw.random() < 0.01 else 1
        budget = draw.choice([f"€{budget:,.2f}", f"EUR {budget:,.0f}"])
    form = draw.choice(["%Y-%m-%d", "%d/%m/%Y"])
    return [
        cells["asked on"].strftime(form),
        "" if draw.random() < 0.04 else str(cells["employees"]),
        budget or "",
        "" if draw.random() < 0.06 else cells["role"],
        "" if draw.random() < 0.05 else cells["town"],
        "n/a" if draw.random() < 0.03 else cells["source"],
        str(cells["visits"]),
        "yes" if cells["trial"] else "no",
        "yes" if bought != wrong else "no",
    ]


def leads(n=6000, seed=1):
    """Return the rows as text, in the order of their dates."""
    draw = random.Random(seed)
    first = datetime.date(2025, 1, 1)
    rows = []
    for after in sorted(draw.randrange(365) for _ in range(n)):
        day = first + datetime.timedelta(after)
        again = rows and draw.random() < 0.03
        rows.append(
            list(asked_again(draw, rows, day) if again else company(draw, day))
        )
    return [
        [f"L{7000 + 13 * k}", *typed(draw, *row)] for k, row in enumerate(rows)
    ]


def write(path):
    """Write the file."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerows([HEADER, *leads()])


if __name__ == "__main__":
    write(Path(__file__).with_name("leads.csv"))
