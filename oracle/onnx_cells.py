"""Cells of a table, as `ign` reads them, as the inputs of an exported model; its predictions beside those of `ign predict`."""

import csv
import math
import subprocess
from datetime import datetime, timezone

import numpy as np

MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
QUANTILES = "0.05,0.5,0.95"


def number(cell):
    """A number; of a boolean 1 or 0, of a date microseconds since 1970, of a missing cell NaN."""
    if cell in MISSING:
        return math.nan
    if cell.lower() in ("yes", "true", "no", "false"):
        return float(cell.lower() in ("yes", "true"))
    try:
        return float(cell)
    except ValueError:
        date = datetime.fromisoformat(cell)
        since = (date if date.tzinfo else date.replace(tzinfo=timezone.utc)) - EPOCH
        return float((since.days * 86400 + since.seconds) * 10 ** 6 + since.microseconds)


def feed_of_table(session, rows):
    """What the inputs of a session are given for rows of a table, which are dictionaries of cells."""
    feed = {}
    for wanted in session.get_inputs():
        cells = [row[wanted.name].strip() for row in rows]
        if wanted.type == "tensor(string)":
            feed[wanted.name] = np.array([["" if cell in MISSING else cell] for cell in cells], dtype=object).reshape(-1, 1)
        else:
            feed[wanted.name] = np.array([number(cell) for cell in cells]).reshape(-1, 1)
    return feed


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def predict(ign, model, inputs, out, header):
    """Rows of `ign predict` with all digits."""
    numbers = isinstance(header["schema"].get("targets"), list)
    asked = ["--quantiles", QUANTILES] if numbers else []
    command = [ign, "predict", model, inputs, "--columns", "all", "-o", out, "--quiet", "--threads", "1", *asked]
    subprocess.run(command, check=True)
    return read_rows(out)


def pairs(header, outputs, rows):
    """For each number that both sides say: its name, onnxruntime's, the program's, and the unit in which they are compared: of numbers
    their deviation over the rows, or the target's if that is larger."""
    column = lambda name: np.array([float(row[name]) for row in rows])  # noqa: E731
    said = lambda name: outputs.get(f"predicted_{name}", outputs.get(name))  # noqa: E731  where an input has an output's name
    targets = header["schema"].get("targets")
    if not isinstance(targets, list):
        labels = [name for name in rows[0] if name.startswith("p_")]
        for k, name in enumerate(labels):
            yield name, said("probabilities")[:, k], column(name), 1.0
        if said("familiarity") is not None:
            yield "familiarity", said("familiarity"), column("familiarity"), 1.0
        return
    for target in targets:
        prefix = "" if len(targets) == 1 else f"{target['name']}_"
        unit = target["std"] if "scale" not in target else float(np.std(column(f"{prefix}mean")))
        for name in ("mean", "std", "std_latent"):
            yield prefix + name, said(prefix + name), column(prefix + name), unit
        if said(f"{prefix}familiarity") is not None:
            yield f"{prefix}familiarity", said(f"{prefix}familiarity"), column(f"{prefix}familiarity"), 1.0
        for k, name in enumerate(("q5", "q50", "q95")):
            yield prefix + name, said(f"{prefix}quantiles")[:, k], column(prefix + name), unit
