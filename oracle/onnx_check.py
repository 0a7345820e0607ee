#!/usr/bin/env python3
"""Exported models against `ign predict`: small models of every kind that `ign export` takes, by onnxruntime.

    python3 oracle/onnx_check.py target/release/ign

Differences are over the target's standard deviation, of probabilities and familiarity absolute. Where two kept rows are equally near but
for the rounding of 32-bit features, the two sides may choose different ones: a few rows may differ by more, and are counted.
"""

import csv
import datetime
import gzip
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

from model_file import read_model, write_model
from onnx_cells import feed_of_table, pairs, predict, read_rows
from tables import read_table

# Largest difference; what is wrong is wrong by far more. The networks are of 32 bits on both sides, whose sums have another order.
TOLERANCE = 1e-5
# Share of the rows that may differ by more, because rounding may choose between neighbours that are equally near.
TIES = 0.01
# Stored models of tables, and their inputs.
GOLDEN = [("v1", "input"), ("v2-classes", "v2-classes-input"), ("v5-table", "v5-table-input"), ("v5-classes", "v5-table-input"),
          ("v6-table", "v6-table-input"), ("v7-table", "v7-table-input"), ("v7-classes", "v7-table-input")]


# ---- data -------------------------------------------------------------------------------------------------------

def write_table(path, seed, rows, holes=False):
    """Numbers, a clock, a date, booleans, categories with a rare rest, gaps; two numbers, three and two classes, a count. Rows with
    holes lack cells, or hold levels, as no other row does; they are a third of the table."""
    rng = random.Random(seed)
    gap = lambda cell: rng.choice(["", "NA", "?"]) if rng.random() < 0.06 else cell  # noqa: E731
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["when", "born", "size", "full", "colour", "shape", "ok", "sure", "count", "gap", "mean",
                         "y", "z", "kind", "late", "positive"])
        for i in range(rows):
            when = datetime.datetime(2020, 2, 20) + datetime.timedelta(hours=i)
            born = datetime.date(1896, 1, 1) + datetime.timedelta(days=rng.randrange(90000))
            size, count, ok, full = rng.gauss(10, 3), rng.randrange(5), rng.random() < 0.6, rng.gauss(0, 1)
            sure, shape = rng.random() < 0.5, rng.choice("uvw")
            colour = rng.choice(["red", "green, light", 'the "blue"', "été", *"abcdefgh"])
            y = size + 9 * math.sin(i / 40) + 2 * ok + (colour == "red") + full + 0.3 * rng.gauss(0, 1)
            cells = [when.isoformat() if i % 50 else "", born.isoformat(), gap(f"{size:.4f}"), f"{full:.4f}", gap(colour), shape,
                     gap("yes" if ok else "No"), "true" if sure else "false", gap(count), "1.5" if rng.random() < 0.7 else "",
                     f"{rng.gauss(5, 1):.3f}"]
            if holes and i % 3 == 0:
                for at in rng.sample([1, 3, 5, 7], rng.choice([1, 1, 2])):
                    cells[at] = rng.choice(["", "new"]) if at == 5 else "NA"
            writer.writerow([*cells, f"{y:.5f}", f"{count - 2 * y:.5f}", ["low", "in between", "high"][(y > 6) + (y > 14)],
                             "FT"[i % 450 > 200], f"{math.exp(y / 6):.5f}"])


def write_levels(path, seed, rows):
    """Categories alone, whose rows are copies of each other."""
    rng = random.Random(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["colour", "shape", "use", "y"])
        for _ in range(rows):
            cells = [rng.choice(["red", "green", "blue"]), rng.choice("abcd"), rng.choice("xyz")]
            writer.writerow([*cells, f"{2 * (cells[0] == 'red') + (cells[1] == 'a') + 0.3 * rng.gauss(0, 1):.4f}"])


def write_images(folder):
    """idx files of 9×7 images of three classes."""
    os.makedirs(folder)
    rng = random.Random(0)
    for part, count in (("train", 600), ("t10k", 200)):
        labels = [rng.randrange(3) for _ in range(count)]
        pixels = bytes(rng.randrange(200) + 55 * (i // 7 == 3 * label + 1) for label in labels for i in range(63))
        for name, magic, sizes, data in (("images-idx3", 0x803, (count, 9, 7), pixels), ("labels-idx1", 0x801, (count,), bytes(labels))):
            with open(f"{folder}/{part}-{name}-ubyte", "wb") as file:
                file.write(struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + data)
    # Ever more like a chessboard, which no training image is.
    board = [255 * ((i // 7 + i % 7) % 2) for i in range(63)]
    share = lambda i: (i // 63 / 200) ** 2  # noqa: E731
    strange = bytes(round((1 - share(i)) * pixel + share(i) * board[i % 63]) for i, pixel in enumerate(pixels))
    with open(f"{folder}/strange-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4I", 0x803, 200, 9, 7) + strange)


def read_images(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        content = file.read()
    _, count, height, width = struct.unpack(">4I", content[:16])
    return np.frombuffer(content, np.uint8, offset=16).reshape(count, height, width, 1)


def write_features(folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 5)).astype(np.float32)
    x[::50, 2] = np.nan
    np.save(f"{folder}/x.npy", x[:400])
    np.save(f"{folder}/x-new.npy", x[400:])
    np.save(f"{folder}/label.npy", (np.nan_to_num(x[:400]) @ [1, -2, 1, 0, 3] > 0).astype(np.int64))


# ---- claims -----------------------------------------------------------------------------------------------------

class Check:
    def __init__(self, ign, folder):
        self.ign, self.folder, self.passed, self.failed = ign, folder, 0, 0

    def path(self, name):
        return f"{self.folder}/{name}"

    def claim(self, name, work, *arguments, **options):
        try:
            remark = work(*arguments, **options) or ""
            self.passed += 1
            print(f"ok      {name}  {remark}", flush=True)
        except Exception as error:  # noqa: BLE001  whatever goes wrong is a failed claim
            self.failed += 1
            print(f"FAILED  {name}\n        {type(error).__name__}: {error}", flush=True)

    def run(self, *command):
        done = subprocess.run([self.ign, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    def train(self, name, data, target, *options, ensemble=True):
        """A model that is quickly made and not good."""
        small = ["train.pretrain_epochs=2", "train.pretrain_min_steps=0", "train.epochs=1", "gp.inducing=24"]
        if ensemble:
            small += ["encoder.hidden=[16]", "encoder.frequencies=4", "encoder.embedding_width=4", "train.crossfit_folds=3",
                      "train.crossfit_repeats=1", "data.max_categories=6"]
        settings = [part for key in small for part in ("--set", key)]
        self.run("train", self.path(data), *(["--target", target] if target else []), "-o", self.path(f"{name}.ign"), "--quiet",
                 "--threads", "2", "--no-report", *settings, *options)

    def change(self, name, new, work):
        """Another model file, after some work on header and tensors: training may leave a part at nothing."""
        header, tensors = read_model(self.path(f"{name}.ign"))
        tensors = {key: values.copy() for key, values in tensors.items()}
        work(header, tensors)
        write_model(self.path(f"{new}.ign"), header, tensors)

    def session(self, name, *options):
        """The exported model, which the checker of ONNX has read."""
        path = self.path(f"{name}.onnx")
        self.run("export", self.path(f"{name}.ign"), "--onnx", path, "--quiet", *options)
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        assert all(opset.domain == "" and opset.version <= 20 for opset in model.opset_import), model.opset_import
        return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def agree(self, name, data, feed=feed_of_table, ties=TIES, tolerance=TOLERANCE, options=()):
        session = self.session(name, *options)
        header, _ = read_model(self.path(f"{name}.ign"))
        inputs = self.path(data)
        rows = predict(self.ign, self.path(f"{name}.ign"), inputs, self.path("ours.csv"), header)
        given = feed(session, read_rows(inputs) if inputs.endswith(".csv") else inputs)
        outputs = self.outputs(session, given)
        worst, beyond = 0.0, np.zeros(len(rows), bool)
        for what, theirs, ours, unit in pairs(header, outputs, rows):
            assert np.isfinite(theirs).all() and len(theirs) == len(ours), f"{what} is not finite, or of other rows"
            apart = np.abs(theirs - ours) / unit
            beyond |= apart > tolerance
            worst = max(worst, float(apart[apart <= tolerance].max(initial=0.0)))
        assert beyond.mean() <= ties, f"{beyond.sum()} of {len(rows)} rows differ by more than {tolerance:.0e}"
        if "label" in outputs:
            differ = [a != row["label"] for a, row in zip(outputs["label"], rows)]
            assert not (np.array(differ) & ~beyond).any(), f"{sum(differ)} labels differ"
        # Few rows at a time say the same as many, to the last digits that matter.
        few = self.outputs(session, {key: values[:3] for key, values in given.items()})
        assert all(np.allclose(values, outputs[key][:3], rtol=1e-5, atol=1e-6) for key, values in few.items() if values.dtype != object)
        none = self.outputs(session, {key: values[:0] for key, values in given.items()})
        assert all(len(values) == 0 for values in none.values())
        return f"{worst:.1e}" + (f", {beyond.sum()} of {len(rows)} rows with near ties" if beyond.any() else "")

    @staticmethod
    def outputs(session, given):
        return dict(zip([output.name for output in session.get_outputs()], session.run(None, given)))

    def refuse(self, name, text, *options):
        done = subprocess.run([self.ign, "export", self.path(f"{name}.ign"), "--onnx", self.path("no.onnx"), *options],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and text in done.stderr and "hint:" in done.stderr, f"{done.returncode}: {done.stderr}"
        assert not os.path.exists(self.path("no.onnx"))


# ---- changes of models ------------------------------------------------------------------------------------------

def every_part(header, tensors):
    """A weight for every part of what joins two numbers with their neighbours."""
    first, second = header["ensemble"]["stacks"]
    first |= {"weights": [0.2, 0.5, 0.3], "parts": [0.003, 0.4, 0.0002, 0.5, 0.6], "noise": 0.01, "usual_variance": 0.02,
              "usual_error": 0.3, "prior": 2.0, "reach": 0.7, "bandwidth": 0.15, "count": 20, "feature_count": 7,
              "caution": 0.6, "gap_weights": [0.7, 0.4], "gap_thresholds": [0.03, 0.01]}
    first["process"] |= {"family": "half", "log_scale": -3.0}
    first["distances"] = [distance / 2 for distance in first["distances"]]
    first["feature_process"]["family"] = "half"
    second |= {"weights": [0.6, 0.4, 0.0], "prior": 0.5, "reach": 1.5, "feature_process": None, "distances": [], "count": 120}
    second["process"]["family"] = "five_halves"
    tensors["neighbours.folds"][::5] = -1
    tensors["neighbours.folds"][::7] = -2


def linear_classes(header, tensors):
    width = tensors["neighbours.x"].shape[1]
    theta = np.random.default_rng(0).normal(size=(width + 1, 3)).ravel().tolist()
    header["ensemble"]["linear_classes"] = {"share": 0.4, "sharpness": 1.3, "classes": 3, "theta": theta}
    header["ensemble"]["class_stack"] |= {"prior": 1.5, "reach": 0.6}
    header["decision"] = {"costs": [[0, 1, 2], [1, 0, 1], [9, 3, 0]]}


def threshold(header, tensors):
    header["ensemble"]["class_stack"] |= {"prior": None, "count": 5, "frequencies": [0.3, 0.7]}
    header["decision"] = {"threshold": 0.2}


def image_parts(header, tensors):
    stack = header["feature_stack"]
    stack |= {"prior": 1.5, "reach": 0.8, "count": 11, "frequencies": [0.2, 0.3, 0.5]}
    stack["process"] |= {"family": "three_halves", "log_scale": 1.0, "log_noise": -1.0}
    stack |= {"distances": [0.35 * distance for distance in stack["distances"]], "reconstruction": [0.5, 1.2, 4.0]}
    board = np.array([(i // 7 + i % 7) % 2 - 0.5 for i in range(63)])
    tensors["reconstruction.components"] = np.linalg.qr(np.column_stack([board, np.eye(63)]))[0][:, 1:].T.astype(np.float32).copy()


def residuals(header, tensors):
    header["calibration"][0]["quantiles"] = [-2.5, -1.1, -0.6, -0.6, -0.1, 0.3, 0.9, 1.4, 3.0]


# ---- all of it --------------------------------------------------------------------------------------------------

def main():
    ign = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        check = Check(ign, folder)
        write_table(check.path("t.csv"), 0, 400)
        write_table(check.path("new.csv"), 1, 150, holes=True)
        write_levels(check.path("levels.csv"), 0, 300)
        write_levels(check.path("levels-new.csv"), 1, 200)
        write_images(check.path("images"))
        write_features(folder)
        others = lambda *targets: f"data.ignore={[n for n in ('y', 'z', 'kind', 'late', 'positive') if n not in targets]}"  # noqa: E731

        def table(name, target, what, *options, ensemble=True, ties=TIES, tolerance=TOLERANCE):
            ignored = others(*target.split(","))
            check.claim(f"{what}: a model is trained", check.train, name, "t.csv", target, "--set", ignored, *options, ensemble=ensemble)
            check.claim(f"{what}: the graph predicts the same", check.agree, name, "new.csv", ties=ties, tolerance=tolerance)

        table("one", "y", "one number")
        table("two", "y,z", "two numbers, a sample of the rows", "--set", "neighbours.max_rows=200")
        check.claim("two numbers: the same with another value of every part", check.change, "two", "parts", every_part)
        check.claim("two numbers: the graph predicts the same", check.agree, "parts", "new.csv")
        table("log", "positive", "a number on the scale log", "--set", "data.target_transform=log")
        table("asinh", "y", "a number on the scale asinh", "--set", "data.target_transform=asinh")
        table("logit", "positive", "a number on the scale logit", "--set", "data.target_transform=logit", "--bounds", "0,300")
        table("bounds", "positive", "a number with a bound", "--set", "data.target_transform=none", "--bounds", "0,")
        table("without", "y", "one number, without neighbours", "--without-neighbours")
        table("without-log", "positive", "a number on a scale, without neighbours", "--without-neighbours", "--set", "data.target_transform=log")
        check.claim("the same with quantiles of residuals", check.change, "without-log", "residuals", residuals)
        check.claim("quantiles of residuals: the graph predicts the same", check.agree, "residuals", "new.csv")
        table("three", "kind", "three classes")
        check.claim("three classes: the same with a linear model and costs", check.change, "three", "linear", linear_classes)
        check.claim("three classes: the graph predicts the same", check.agree, "linear", "new.csv")
        table("half", "late", "two classes", "--set", "gp.link=probit")
        check.claim("two classes: the same with a threshold", check.change, "half", "threshold", threshold)
        check.claim("two classes: the graph predicts the same", check.agree, "threshold", "new.csv")
        single = ("--preset", "single")
        table("single", "y,z", "one network, two numbers, scaled by quantiles", *single, "--set", "data.scaling=quantile", "--set",
              "data.discrete_levels=8", ensemble=False)
        table("matern", "y", "one network, another kernel, plain inputs", *single, "--set", "gp.kernel=matern52", "--set",
              "encoder.frequencies=0", "--set", "encoder.lookup=false", "--set", "encoder.skip=false", ensemble=False)
        table("linear-kernel", "kind", "one network, the linear kernel", *single, "--set", "gp.kernel=linear", ensemble=False)
        table("paper", "y", "the paper's preset", "--preset", "paper", ensemble=False)
        table("each", "kind", "three classes, a network for each", *single, "--multiclass", "independent", "--set", "gp.link=probit",
              ensemble=False)
        table("softmax", "kind", "three classes, softmax layer", *single, "--head", "softmax", ensemble=False)
        table("identity", "y", "columns as features", *single, "--encoder", "identity", ensemble=False)
        check.claim("categories alone: a model is trained", check.train, "levels", "levels.csv", "y")
        check.claim("categories alone: the graph predicts the same", check.agree, "levels", "levels-new.csv")

        check.claim("features as an array: a model is trained", check.train, "array", "x.npy", check.path("label.npy"))
        array = lambda _, path: {"array": np.load(path).astype(float)}  # noqa: E731
        check.claim("features as an array: the graph predicts the same", check.agree, "array", "x-new.npy", array, options=("--array",))
        images = lambda _, path: {"images": read_images(path)}  # noqa: E731
        for name, what, options in (("images", "images", ["--set", "encoder.hidden=[24]"]),
                                    ("cnn", "images in a convolutional network",
                                     ["--encoder", "cnn", "--set", "encoder.stem=8", "--set", "encoder.blocks=[8, 16]"])):
            check.claim(f"{what}: a model is trained", check.train, name, "images", "", *options, ensemble=False)
            check.claim(f"{what}: the graph predicts the same", check.agree, name, "images/t10k-images-idx3-ubyte", images)
        check.claim("images: the same with another value of every part", check.change, "images", "image-parts", image_parts)
        check.claim("strange images: the graph predicts the same", check.agree, "image-parts", "images/strange-idx3-ubyte", images)

        # Files of every version of the format, with the inputs that are stored beside them.
        golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crates", "inducing", "tests", "golden")
        for name, inputs in GOLDEN:
            shutil.copy(f"{golden}/{name}.ign", folder)
            shutil.copy(f"{golden}/{inputs}.csv", folder)
            check.claim(f"{name}.ign: the graph predicts the same", check.agree, name, f"{inputs}.csv")
        encoded = lambda _, rows: {"features": read_table(check.path("t.csv"), ",", read_model(check.path("one.ign"))[0]["schema"], [])[0]}  # noqa: E731,E501
        check.claim("encoded numbers: the graph predicts the same", check.agree, "one", "t.csv", encoded, options=("--features",))

        for name, what in (("v7-text", "texts"), ("v7-graphs", "graphs")):
            shutil.copy(f"{golden}/{name}.ign", folder)
            check.claim(f"a model of {what} is refused", check.refuse, name, f"a model of {what} cannot be exported")
        check.claim("a table of words and dates is no array", check.refuse, "one", "`--array` is for tables of numbers", "--array")
        check.claim("classes have no quantiles", check.refuse, "three", "classes have no quantiles", "--quantiles", "0.5")
    print(f"{check.passed} passed, {check.failed} failed")
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
