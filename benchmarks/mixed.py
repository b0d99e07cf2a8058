"""A frame as it was read, through several packages: lines to write, seconds, and lists of rows held out.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/mixed.py --out mixed.json       # to measure
    python benchmarks/mixed.py --show mixed.json [--rst doc/_outputs]    # to write the tables again
    PNORM_DATA=... python benchmarks/mixed.py --commands doc/_outputs    # to run the command

Adult and Bank are read by pandas as they lie there. Bank is given without the duration of the call, which is known
after the call only. Leads are made by this script: numbers with holes, text with rare words, truth values, a date and
an identifier. Each split trains on four fifths of the rows, stratified, and judges by one fifth. All methods see the
same splits.

The lines counted are those of the functions below that run: from a frame and its labels to scores of new rows.
What a method cannot read has to be brought into a form that it can, in the way that its documentation shows.
`pip install --group rivals` has what is compared.

The command has its own option, as it reads the files by itself: `--commands doc/_outputs` runs it on both, in the
folder of the data, and writes what it prints into the documentation.

Differences are to the first method, with standard errors corrected for splits that share rows (Nadeau and Bengio,
2003), and the numbers of splits with more and less. Seconds are processor time, of all threads together, in the median.
"""

import inspect
import json
import os
import shlex
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedShuffleSplit

sys.path.insert(0, str(Path(__file__).parent))

from command_line import data_folder, parser_of
from public_sets import compared, measured
from reproduce import print_columns
from tables import list_table

OVERLAP = 1 / 4
"""Rows to judge by for each row to train on."""

ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]


def adult():
    """Who earns more than 50,000 dollars a year."""
    frame = pd.read_csv(_path("adult.data.gz"), names=ADULT, skipinitialspace=True)
    return frame, (frame.pop("income") == ">50K").to_numpy()


def bank():
    """Which calls of a bank sell a deposit."""
    frame = pd.read_csv(_path("bank-full.csv.gz"), sep=";")
    return frame.drop(columns=["duration", "y"]), (frame["y"] == "yes").to_numpy()


def leads(n=20_000):
    """Which of many visitors buy: a logistic model of some columns, with one interaction."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, n).astype(float)
    visits = rng.poisson(3, n)
    spent = np.where(rng.random(n) < 0.3, np.nan, rng.lognormal(4, 1, n))
    when = np.datetime64("2023-01-01T00:00") + rng.integers(0, 60 * 24 * 500, n).astype("m8[m]")
    channel = rng.choice(["mail", "web", "shop", "fair", "press"], n, p=[0.4, 0.4, 0.15, 0.04, 0.01])
    member = rng.random(n) < 0.4
    hour = (when - when.astype("M8[D]")).astype("m8[h]").astype(int)
    z = -3.9 - ((age - 45) / 15) ** 2 + 0.5 * np.log1p(visits) + 0.4 * (np.log(np.nan_to_num(spent, nan=20)) - 4)
    z = z + 0.9 * (channel == "shop") + 0.8 * member * (visits > 3) + 0.7 * ((hour > 17) & (hour < 22))
    frame = pd.DataFrame(
        {
            "lead": [f"L{k:07}" for k in rng.permutation(10 * n)[:n]],
            "age": age,
            "visits": visits,
            "spent": spent,
            "when": when,
            "channel": channel,
            "member": member,
        }
    )
    return frame, rng.random(n) < 1 / (1 + np.exp(-z))


def _path(file):
    return data_folder() / file


READERS = {"adult": adult, "bank": bank, "leads": leads}

# What a user writes: `train` and `new` are frames, `y` are truth values. ----------------------------------


def estimator(train, y, new):
    from pnorm.sklearn import PNormPush

    return PNormPush().fit(train, y).decision_function(new)


def lightgbm(train, y, new):
    from lightgbm import LGBMClassifier

    train, new = train.drop(columns=IDS, errors="ignore"), new.drop(columns=IDS, errors="ignore")
    for column in train.select_dtypes("datetime"):
        train, new = (X.assign(**{column: X[column].astype("int64")}) for X in (train, new))
    for column in train.select_dtypes(["object", "string"]):
        levels = train[column].unique()
        train, new = (X.assign(**{column: pd.Categorical(X[column], levels)}) for X in (train, new))
    return LGBMClassifier(verbose=-1).fit(train, y).predict_proba(new)[:, 1]


def logistic(train, y, new):
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    train, new = train.drop(columns=IDS, errors="ignore"), new.drop(columns=IDS, errors="ignore")
    for column in train.select_dtypes("datetime"):
        train, new = (X.assign(**{column: X[column].astype("int64")}) for X in (train, new))
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include=["object", "string"])),
        remainder=numbers,
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(train, y).decision_function(new)


def ebm(train, y, new):
    from interpret.glassbox import ExplainableBoostingClassifier

    train, new = train.drop(columns=IDS, errors="ignore"), new.drop(columns=IDS, errors="ignore")
    for column in train.select_dtypes("datetime"):
        train, new = (X.assign(**{column: X[column].astype("int64")}) for X in (train, new))
    return ExplainableBoostingClassifier(n_jobs=1).fit(train, y).decision_function(new)


IDS = ["lead"]
"""What a person has to leave out by hand, where a method would take it for a column like others."""

METHODS = {
    "PNormPush()": estimator,
    "LGBMClassifier()": lightgbm,
    "LogisticRegression()": logistic,
    "ExplainableBoostingClassifier()": ebm,
}


def lines_of(method):
    """Lines of the body of a function, blank ones aside."""
    return len([line for line in inspect.getsource(method).splitlines()[1:] if line.strip()])


# Measuring ------------------------------------------------------------------------------------------------


def run(names, n_splits, out, methods=METHODS):
    """Return by set and split what each method finds; a file keeps what is known after each split."""
    found = json.loads(out.read_text()) if out and out.exists() else {}
    for name in names:
        frame, y = READERS[name]()
        runs = found.setdefault(name, [])
        of_splits = StratifiedShuffleSplit(n_splits, test_size=1 / 5, random_state=0).split(np.zeros(len(y)), y)
        for i, (train, test) in enumerate(of_splits):
            if i == len(runs):
                runs.append({})
            for method, scores in methods.items():
                if method in runs[i]:
                    continue
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    f = scores(frame.iloc[train], y[train], frame.iloc[test])
                seconds = time.process_time() - start
                runs[i][method] = measured(np.asarray(f), y[test]) | {"seconds": seconds}
                print(f"\r{name}: split {i + 1}, {method:40}", end="", file=sys.stderr, flush=True)
                if out:
                    out.write_text(json.dumps(found))
        print(file=sys.stderr)
    return found


COMMANDS = {
    "bank": ["bank-full.csv.gz", "--label", "y", "--ignore", "duration", "--budget", "500"],
    "adult": ["adult.data.gz", "--label", "15", "--positive", ">50K", "--names", ",".join(ADULT)],
}
"""What is typed after `pnorm`."""


def printed(words):
    """The command as it is typed, and what it prints."""
    command = [sys.executable, "-P", "-m", "pnorm", *words]
    how = {"env": {**os.environ, "COLUMNS": "100"}, "cwd": _path("."), "text": True}
    done = subprocess.run(command, capture_output=True, check=True, **how)
    return f"$ pnorm {shlex.join(words)}\n{done.stderr}{done.stdout}"


def table(runs):
    """A line per method that has run on all splits: means, differences to the first one, and seconds."""
    every = [name for name in METHODS if all(name in run for run in runs)]
    runs = [{name: run[name] for name in every} for run in runs]
    lines = compared(runs, every[0], OVERLAP)
    lines[0].append("seconds")
    for line in lines[1:]:
        line.append(f"{np.median([run[line[0]]['seconds'] for run in runs]):.1f}")
    return lines


def code():
    """A line per method: how many lines a user writes."""
    return [["method", "lines"], *[[name, str(lines_of(method))] for name, method in METHODS.items()]]


def main():
    """Measure, or show what was measured."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--sets", nargs="*", choices=READERS, default=list(READERS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", type=Path, help="a file that keeps what is measured, and goes on from there")
    parser.add_argument("--show", type=Path, help="such a file: measure nothing")
    parser.add_argument("--rst", type=Path, metavar="FOLDER", help="write the tables of the documentation there")
    parser.add_argument(
        "--commands", type=Path, metavar="FOLDER", help="run the command, and write what it prints there"
    )
    arguments = parser.parse_args()
    if arguments.commands:
        for name, words in COMMANDS.items():
            block = textwrap.indent(printed(words), "   ", lambda line: line.strip() != "")
            (arguments.commands / f"mixed_{name}.inc").write_text(f".. code-block:: text\n\n{block}")
        return
    if arguments.show:
        found = json.loads(arguments.show.read_text())
    else:
        found = run(arguments.sets, arguments.splits, arguments.out)
    print_columns(code())
    for name, runs in found.items():
        print(f"\n{name}: {READERS[name].__doc__} {len(runs)} splits")
        print_columns(table(runs))
    if arguments.rst:
        text = list_table(code(), ":widths: auto") + "\n"
        for name, runs in found.items():
            text += f"\n{name.capitalize()}: {READERS[name].__doc__} {len(runs)} splits.\n\n"
            text += list_table(table(runs), ":class: dense")
        (arguments.rst / "mixed.inc").write_text(text)


if __name__ == "__main__":
    main()
