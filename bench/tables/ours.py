"""`ign` through its command line: tables are written to a temporary folder, scores are what it prints."""

import json
import subprocess
import tempfile
import time
from io import StringIO
from math import log
from pathlib import Path

import numpy as np
import pandas as pd

import scores

GRID = 3000  # values at which the density of a count is asked for: many for each integer
CHUNK = 1000


class Ign:
    def __init__(self, binary, preset):
        self.binary, self.preset = str(binary), preset

    def regression(self, split):
        with tempfile.TemporaryDirectory() as folder:
            found = self.trained_and_evaluated(split, Path(folder), "regression")
            printed = self.call("predict", f"{folder}/model.ign", f"{folder}/test.csv", "--interval", scores.LEVEL)
            cells = self.cell_probabilities(split, Path(folder)) if split.counts else None
        rows = pd.read_csv(StringIO(printed.stdout))
        evaluated, blocks, s = found.pop("evaluated"), found.pop("blocks"), split.y_train.std()
        found |= {"crps_blocks": [one["crps"] / s for one in blocks]} if blocks else {}
        found |= {"nll_blocks": [one["nll"] - log(s) for one in blocks]} if blocks else {}
        if cells is not None:
            nll = scores.cell_nll(cells)
            found |= {"nll_blocks": split.block_means(nll)} if blocks else {}
            evaluated["nll"] = nll.mean() + log(s)  # a probability: no s is taken off
        return {
            "rmse": evaluated["rmse"] / s,
            "nll": evaluated["nll"] - log(s),  # of its own density, see scores.summary
            "crps": evaluated["crps"] / s,
            **scores.coverage(split, rows["lower_95"].to_numpy(), rows["upper_95"].to_numpy()),
            **found,
        }

    def classification(self, split):
        with tempfile.TemporaryDirectory() as folder:
            found = self.trained_and_evaluated(split, Path(folder), "classification")
        evaluated, blocks = found.pop("evaluated"), found.pop("blocks")
        own = {score: evaluated[score] for score in ("nll", "accuracy", "brier")}
        return own | {f"{score}_blocks": [one[score] for one in blocks] for score in ("nll", "brier") if blocks} | found

    def trained_and_evaluated(self, split, folder, task):
        """What `evaluate` prints of the test rows and their blocks, seconds of training, warnings if there were any."""
        split.x_train.assign(y=split.y_train).to_csv(folder / "train.csv", index=False)
        test = split.x_test.assign(y=split.y_test)
        test.to_csv(folder / "test.csv", index=False)
        model, begin = folder / "model.ign", time.perf_counter()
        options = ["--task", task, "--seed", split.seed, "--preset", self.preset, "--quiet", "--no-report"]
        trained = self.call("train", folder / "train.csv", "--target", "y", "--out", model, "--test-share", "0", *options)
        seconds = time.perf_counter() - begin
        evaluated = self.call("evaluate", model, folder / "test.csv", "--json")
        blocks = []
        for i in range(split.blocks):
            test.iloc[split.block(i)].to_csv(folder / "block.csv", index=False)
            blocks.append(json.loads(self.call("evaluate", model, folder / "block.csv", "--json").stdout))
        warnings = (trained.stderr + evaluated.stderr).replace(str(folder), "…").strip()
        found = {"evaluated": json.loads(evaluated.stdout), "blocks": blocks, "seconds": seconds}
        return found | ({"warnings": warnings} if warnings else {})

    def cell_probabilities(self, split, folder):
        """Probability of y ± ½ of each test row, by integration of the density at GRID values.

        A zero has what no other count has: its density may lie on both sides of the bound. The grid ends a little above
        the largest count of training; a count beyond it is scored like the last one on it.
        """
        found = []
        for start in range(0, len(split.y_test), CHUNK):  # a chunk's densities take about 50 MB
            split.x_test[start : start + CHUNK].to_csv(folder / "chunk.csv", index=False)
            arguments = (f"{folder}/model.ign", f"{folder}/chunk.csv", "--density", GRID, "--output-format", "csv")
            rows = pd.read_csv(StringIO(self.call("predict", *arguments).stdout))
            densities = rows.filter(regex="^density_")  # [T, G]
            at = densities.columns.str.removeprefix("density_").to_numpy(float)
            density = densities.to_numpy()
            below = np.zeros_like(density)  # probability between the grid's beginning and each of its values
            below[:, 1:] = np.cumsum((density[:, 1:] + density[:, :-1]) / 2 * np.diff(at), axis=1)
            counts = np.minimum(split.y_test[start : start + CHUNK], np.floor(at[-1] - 0.5))
            for y, row in zip(counts, below):
                above_half = row[-1] - np.interp(0.5, at, row)
                found.append(1 - above_half if y == 0 else np.interp(y + 0.5, at, row) - np.interp(y - 0.5, at, row))
        return np.array(found)

    def call(self, *arguments):
        command = [self.binary, *map(str, arguments), "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"ign {arguments[0]}: exit code {done.returncode}: {done.stderr.strip()}")
        return done
