"""A plain network of the paper's layers, trained by least squares: what the inputs give without a Gaussian process.

    IGN_DATA=DIR .venv/bin/python bench/plain_network.py pm25|energy

Prints RMSE over the deviation of the training targets, of a random 40 % and of the 60 % that were learned from.
`./scripts/test` makes the environment.
"""

import csv
import gzip
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPRegressor

EPOCHS, SEED = 100, 100


def pm25(folder):
    """The paper's 15 columns: the row number is one, the wind four."""
    with open(folder / "pm25" / "PRSA_data_2010.1.1-2014.12.31.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["pm2.5"] != "NA"]
    numbers = ["No", "year", "month", "day", "hour", "DEWP", "TEMP", "PRES", "Iws", "Is", "Ir"]
    x = [[float(row[name]) for name in numbers] + [row["cbwd"] == w for w in ("NE", "NW", "SE", "cv")] for row in rows]
    return np.array(x, float), np.array([float(row["pm2.5"]) for row in rows])


def energy(folder):
    """The paper's 27 columns: all but the date."""
    with gzip.open(folder / "energy" / "energydata_complete.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in ("date", "Appliances")]
    x = [[float(row[name]) for name in names] for row in rows]
    return np.array(x), np.array([float(row["Appliances"]) for row in rows])


def main():
    x, y = {"pm25": pm25, "energy": energy}[sys.argv[1]](Path(os.environ["IGN_DATA"]))
    rows = np.random.default_rng(SEED).permutation(len(y))
    train, test = np.split(rows, [int(0.6 * len(y))])
    x = (x - x[train].mean(0)) / x[train].std(0)
    y = (y - y[train].mean()) / y[train].std()
    sizes = (128, 128, 128, 64)
    net = MLPRegressor(hidden_layer_sizes=sizes, batch_size=128, learning_rate_init=1e-3, alpha=0, random_state=0)
    best = np.inf
    for epoch in range(1, EPOCHS + 1):
        net.partial_fit(x[train], y[train])
        seen, unseen = (np.sqrt(np.mean((net.predict(x[part]) - y[part]) ** 2)) for part in (train, test))
        best = min(best, unseen)
        if epoch % 20 == 0:
            print(f"epoch {epoch}: test {unseen:.3f}, best so far {best:.3f}, training {seen:.3f}", flush=True)


if __name__ == "__main__":
    main()
