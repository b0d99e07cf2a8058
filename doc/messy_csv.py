"""Write quotes.csv, the file of the page "How columns are read": 600 quotes with what real files have.

Run ``python doc/messy_csv.py``, and then, for instance, ``pnorm quotes.csv --label Won --unlabelled rank``.
"""

import csv
import random

HEADER = ["Quote", "Amount", "Discount", "Region", "Asked", "Fast", "Paid", "Won"]


def quotes(n=600, seed=1):
    """Return rows of text. Cheap and fast quotes are won more often; Paid is filled in after most of these."""
    draw = random.Random(seed)
    rows = []
    for k in range(n):
        x, fast = draw.lognormvariate(7.2, 0.8), draw.random() < 0.4
        won = draw.random() < 0.12 + 0.45 * (x < 1200) + 0.2 * fast
        amount = draw.choice([f"${x:,.2f}", f"USD {x:,.2f}", f"{x:.2f}"])
        if k % 10 == 3:
            amount = f"{x / 1000:.1f}k"
        if k in (7, 91, 180, 301, 402, 555):
            amount = "tbc"
        discount = f"{draw.choice([0, 2.5, 5, 7.5, 10, 12.5]):.1f} %".replace(".", ",")
        region = draw.choice(["North", "South", "West", "north", "SOUTH "])
        asked = f"{draw.randint(1, 12):02}/{draw.randint(1, 12):02}/2025"
        paid = f"2025-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}" if won and draw.random() < 0.98 else ""
        label = draw.choice(["Yes", "yes"]) if won else draw.choice(["No", "no"])
        label = "" if draw.random() < 0.03 else label
        rows.append([f"Q{10000 + 17 * k}", amount, discount, region, asked, "yes" if fast else "no", paid, label])
    return rows


if __name__ == "__main__":
    with open("quotes.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([HEADER, *quotes()])
