"""Write the table "Where it pays" of doc/which_tool.rst, from the tables of benchmarks/additive.py in doc/_outputs.

    python doc/where_it_pays.py

Nothing is measured here. A line has a data set, its rows, the partial AUC of the default, and what each other method
has more. The best sum is in bold, or several that are equal to three digits. The mark "≈" is at differences whose
95 % interval contains zero.
"""

import re
import sys

from charts import DIFFERENCE, NUMBER, OUTPUTS, ROOT, half_width, must, number, tables

sys.path.insert(0, str(ROOT / "benchmarks"))

from tables import list_table

SUMS = {
    "logistic regression": "logistic regression",
    "logistic, splines": "the same on splines",
    "logistic, weights": "the same, weight chosen",
    "EBM": "EBM",
    "LightGBM, depth 1": "LightGBM, depth 1",
}
NO_SUM = {"HistGradientBoosting": "no sum: HistGradient\u00adBoosting"}
NAMES = {"pima": "Pima", "housing": "Housing", "wdbc": "WDBC", "ionosphere": "Ionosphere", "spambase": "Spambase",
         "magic": "MAGIC", "adult": "Adult", "bank": "Bank"}  # fmt: skip
TITLE = r"(\w+): (\d+) rows, \d+ positive; (\d+) splits"


def lines(found):
    """Return the heading and a line for each data set, by the number of rows."""
    yield ["data", "rows", "PNormPush", *SUMS.values(), *NO_SUM.values()]
    by_rows = sorted(found, key=lambda table: int(must(TITLE, table[0], "additive")[2]))
    for title, heading, rows in by_rows:
        name, n, splits = must(TITLE, title, "additive").groups()
        at = heading.index("pAUC 1 %")
        cells = {row[0]: row[at] for row in rows}
        own = must(NUMBER, cells["default"], f"{name}, default")[1]
        more = {}
        for method in (*SUMS, *NO_SUM):
            where = f"{name}, {method}"
            _, difference, error = must(DIFFERENCE, cells[method], where).groups()
            more[method] = difference, number(difference), number(error)
        best = max(0.0, *[more[method][1] for method in SUMS])
        shown = [f"**{own}**" if best == 0 else own]
        for method, (difference, value, error) in more.items():
            text = re.sub(r"^[+−](?=0\.000$)", "", difference)
            text = f"**{text}**" if method in SUMS and value == best else text
            shown.append(f"{text}\u00a0≈" if abs(value) <= half_width(error, int(splits)) else text)
        yield [NAMES[name], f"{int(n):,}", *shown]


def table():
    """Return the table as reStructuredText."""
    return list_table(list(lines(tables("additive"))), ":class: dense apart")


if __name__ == "__main__":
    (OUTPUTS / "where_it_pays.inc").write_text(table(), encoding="utf-8")
