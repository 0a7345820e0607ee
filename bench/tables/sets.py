"""The tables and how they are split. Nothing is standardised here: who needs that does it with the training rows."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

SMALL = ["airfoil", "concrete", "energy-efficiency", "housing", "parkinsons", "solar", "wine", "yacht"]
LARGE = ["protein", "pm25", "energy", "bike-hour-clean"]
TRAIN_SHARE = 0.6


@dataclass
class Split:
    """Inputs as data frames, targets as arrays; `name` tells this split from the set's others.

    `lower`: no target can be below. `counts`: targets are counts. `blocks`: parts of the test rows that are also scored
    by themselves, for standard errors.
    """

    set: str
    name: str
    x_train: pd.DataFrame
    y_train: np.ndarray
    x_test: pd.DataFrame
    y_test: np.ndarray
    seed: int = 0
    lower: float = -np.inf
    counts: bool = False
    blocks: int = 0

    def block(self, i):
        """Test rows of one block, as a slice."""
        return slice(i, None, self.blocks)

    def block_means(self, values):
        return [values[self.block(i)].mean() for i in range(self.blocks)]


def load(name):
    """Inputs and target of a regression with the columns that the README of the data gives."""
    if "IGN_DATA" not in os.environ:
        raise SystemExit("IGN_DATA is not set; it names the folder of data sets")
    folder = Path(os.environ["IGN_DATA"])
    if name in SMALL:
        table, target = pd.read_csv(folder / "uci-small" / f"{name.removesuffix('-efficiency')}.csv.gz"), "y"
    elif name == "protein":
        table, target = pd.read_csv(folder / "protein" / "CASP.csv"), "RMSD"
    elif name == "pm25":
        table, target = pd.read_csv(folder / "pm25" / "PRSA_data_2010.1.1-2014.12.31.csv").dropna(), "pm2.5"
    elif name == "energy":
        table = pd.read_csv(folder / "energy" / "energydata_complete.csv.gz").drop(columns="date")
        target = "Appliances"
    elif name == "bike-hour-clean":
        # casual + registered = cnt: with them the target would be known.
        table = pd.read_csv(folder / "bike-hour" / "hour.csv").drop(columns=["dteday", "casual", "registered"])
        target = "cnt"
    else:
        raise SystemExit(f"no set is called {name}; there are: {', '.join(SMALL + LARGE)}")
    return table.drop(columns=target).reset_index(drop=True), table[target].to_numpy(float)


def random_splits(name, seeds):
    """60 % of the rows to learn from, 40 % to be judged by."""
    x, y = load(name)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [int(TRAIN_SHARE * len(y))])
        yield Split(name, f"seed {seed}", x.iloc[train], y[train], x.iloc[test], y[test], seed)


def gap_splits(name, distinct):
    """For each numeric column of at least `distinct` values: its middle third is the test part (Foong et al. 2019)."""
    x, y = load(name)
    for column in x.select_dtypes("number"):
        values = x[column]
        low, high = np.quantile(values, [1 / 3, 2 / 3])
        inside = ((values > low) & (values < high)).to_numpy()
        # A column that is mostly one value can have both quantiles there: nothing lies strictly between.
        if values.nunique() >= distinct and inside.any():
            yield Split(name, column, x[~inside], y[~inside], x[inside], y[inside])
