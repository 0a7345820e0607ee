"""`ign` through its command line: tables are written to a temporary folder, scores are what it prints."""

import json
import subprocess
import tempfile
import time
from io import StringIO
from math import log
from pathlib import Path

import pandas as pd

import scores


class Ign:
    def __init__(self, binary, preset):
        self.binary, self.preset = str(binary), preset

    def regression(self, split):
        with tempfile.TemporaryDirectory() as folder:
            found = self.trained_and_evaluated(split, Path(folder), "regression")
            printed = self.call("predict", f"{folder}/model.ign", f"{folder}/test.csv", "--interval", scores.LEVEL)
        rows = pd.read_csv(StringIO(printed.stdout))
        evaluated, s = found.pop("evaluated"), split.y_train.std()
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
        evaluated = found.pop("evaluated")
        return {"nll": evaluated["nll"], "accuracy": evaluated["accuracy"], **found}

    def trained_and_evaluated(self, split, folder, task):
        """What `evaluate` prints, the seconds of training, and warnings if there were any."""
        split.x_train.assign(y=split.y_train).to_csv(folder / "train.csv", index=False)
        split.x_test.assign(y=split.y_test).to_csv(folder / "test.csv", index=False)
        model, begin = folder / "model.ign", time.perf_counter()
        options = ["--task", task, "--seed", split.seed, "--preset", self.preset, "--quiet", "--no-report"]
        trained = self.call("train", folder / "train.csv", "--target", "y", "--out", model, "--test-share", "0", *options)
        seconds = time.perf_counter() - begin
        evaluated = self.call("evaluate", model, folder / "test.csv", "--json")
        warnings = (trained.stderr + evaluated.stderr).replace(str(folder), "…").strip()
        found = {"evaluated": json.loads(evaluated.stdout), "seconds": seconds}
        return found | ({"warnings": warnings} if warnings else {})

    def call(self, *arguments):
        command = [self.binary, *map(str, arguments), "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"ign {arguments[0]}: exit code {done.returncode}: {done.stderr.strip()}")
        return done
