#!/usr/bin/env python3
"""Recomputes the predictions of a model file, from docs/model-file.md alone: numpy, no code shared with the program.

    python3 oracle/predict.py MODEL.ign INPUT.csv [--interval 0.9] [--quantiles 0.05,0.5] > predictions.csv
    python3 oracle/predict.py MODEL.ign t10k-images-idx3-ubyte.gz > predictions.csv       a model of pictures

Numbers have mean, deviations, intervals and quantiles; classes a label, probabilities and latent functions. Pictures are
read from an idx file and must have the model's size.

Everything is computed in double precision, except what the format defines in single: the scaled inputs, the angles of
the periodic embedding and the position in a table. The program's encoder is single precision throughout, so the two
agree to about 1e-5 of the target's standard deviation (`std` of the target in the header; 1 for classes), not to the
last digit.
"""

import argparse
import csv
import gzip
import json
import math
import re
import statistics
import struct
import sys
import zlib

import numpy as np

FORMAT_VERSION = 2
USUAL_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"]


# ---- container --------------------------------------------------------------------------------------------------

def read_model(path):
    """Header document and tensors of a model file, with its checksum verified."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    entries = json.loads(content[8:8 + length])
    checksum, document = entries.pop("__metadata__")["ign"].split(" ", 1)
    header = json.loads(document)
    if header["format_version"] > FORMAT_VERSION:
        sys.exit(f"{path}: format version {header['format_version']} is newer than {FORMAT_VERSION}")
    crc = zlib.crc32(document.encode())
    tensors = {}
    for name in sorted(entries):
        entry = entries[name]
        assert entry["dtype"] == "F32", f"{name} is {entry['dtype']}"
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        data = content[start:end]
        shape = ", ".join(str(size) for size in entry["shape"])
        crc = zlib.crc32(data, zlib.crc32(f"{name}[{shape}]".encode(), crc))
        tensors[name] = np.frombuffer(data, dtype="<f4").reshape(entry["shape"])
    if int(checksum, 16) != crc:
        sys.exit(f"{path}: checksum {checksum} in the file, {crc:08x} of its contents")
    return header, tensors


# ---- cells ------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?([Zz])| ?([+-])(\d\d)(?::?(\d\d))?)?)?", re.ASCII)


def parse_number(text):
    assert NUMBER.fullmatch(text), f"{text!r} is not a number"
    return float(text)


def parse_boolean(text):
    if text.lower() in ("true", "yes") or text in ("1", "1.0", "t", "T", "y", "Y"):
        return True
    assert text.lower() in ("false", "no") or text in ("0", "0.0", "f", "F", "n", "N"), f"{text!r} is not a boolean"
    return False


def parse_date(text):
    """Microseconds since 1970-01-01 UTC."""
    found = DATE.fullmatch(text)
    assert found, f"{text!r} is not a date"
    day, hour, minute, second, fraction, _, sign, zone_hours, zone_minutes = found.groups()
    micros = int(np.datetime64(day, "D").astype(np.int64)) * 86_400_000_000
    micros += (int(hour or 0) * 3600 + int(minute or 0) * 60 + int(second or 0)) * 1_000_000
    micros += int((fraction or "")[:6].ljust(6, "0"))
    zone = (int(zone_hours or 0) * 60 + int(zone_minutes or 0)) * 60_000_000
    return micros - (-zone if sign == "-" else zone)


def date_part(part, micros):
    if part == "seconds":
        return micros / 1e6
    days, within = divmod(micros, 86_400_000_000)
    day = np.datetime64(days, "D")
    month, year = day.astype("datetime64[M]"), day.astype("datetime64[Y]")
    return {
        "month": float(month.astype(np.int64) % 12 + 1),
        "day_of_month": float((day - month.astype("datetime64[D]")).astype(np.int64) + 1),
        "hour": (within // 1_000_000) / 3600,
        "day_of_week": float((days + 3) % 7),  # day 0 was a Thursday
        "day_of_year": float((day - year.astype("datetime64[D]")).astype(np.int64) + 1),
    }[part]


PARSERS = {"number": parse_number, "boolean": parse_boolean, "category": str, "date_time": parse_date}


def read_columns(path, delimiter, missing, types):
    """The named columns as lists of values, `None` where missing."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    names = [name.strip() or f"column_{i + 1}" for i, name in enumerate(rows[0])]
    columns = []
    for name, kind in types:
        assert name in names, f"{path}: there is no column {name!r}"
        cells = [row[names.index(name)].strip() for row in rows[1:]]
        columns.append([None if cell in missing else PARSERS[kind](cell) for cell in cells])
    return columns, len(rows) - 1


# ---- rows to numbers --------------------------------------------------------------------------------------------

def apply_scale(scale, x):
    if scale == "none":
        return np.clip(x, -1e30, 1e30)
    if "standard" in scale:
        return np.clip((x - scale["standard"]["mean"]) / scale["standard"]["std"], -1e6, 1e6)
    knots, scores, std = (scale["quantile"][key] for key in ("knots", "scores", "std"))
    score = np.interp(x, knots, scores)
    score = np.where(x < knots[0], scores[0] - (knots[0] - x) / std, score)
    score = np.where(x > knots[-1], scores[-1] + (x - knots[-1]) / std, score)
    return np.clip(score, -5, 5)


def encode_column(encoding, values):
    """Numeric features and indicators of one column, both as lists of [N] arrays."""
    (kind, settings), = encoding.items()
    gaps = np.array([value is None for value in values], dtype=float)
    filled = [settings.get("impute") if value is None else value for value in values]
    numeric, indicators = [], []
    if kind == "number":
        numeric.append(apply_scale(settings["scale"], np.array(filled, dtype=float)))
        indicators += [np.array([value == level for value in values], dtype=float) for level in settings["one_hot"]]
    elif kind == "boolean":
        indicators.append(np.array(filled, dtype=float))
    elif kind == "category":
        levels = settings["levels"]
        indicators += [np.array([value == level for value in values], dtype=float) for level in levels]
        if settings["other"]:
            indicators.append(np.array([value is not None and value not in levels for value in values], dtype=float))
    elif kind == "date_time":
        for part, scale in settings["parts"]:
            numeric.append(apply_scale(scale, np.array([date_part(part, micros) for micros in filled])))
    else:
        assert kind == "missing_only", kind
    if settings.get("missing", kind == "missing_only"):
        indicators.append(gaps)
    return numeric, indicators


def column_type(encoding):
    (kind, settings), = encoding.items()
    return settings["column_type"] if kind == "missing_only" else kind


def encode(schema, columns, rows):
    numeric, indicators = [], []
    for column, values in zip(schema["inputs"], columns):
        first, last = encode_column(column["encoding"], values)
        numeric += first
        indicators += last
    features = numeric + indicators
    return np.stack(features, axis=1).astype(np.float32) if rows else np.zeros((0, len(features)), np.float32)


def read_pictures(path, schema):
    """Pictures of an idx file as numbers [N, H·W·C], single precision."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        content = file.read()
    magic, count, height, width = struct.unpack(">IIII", content[:16])
    assert magic == 0x0803, f"{path} is not an idx file of images"
    assert (height, width, 1) == (schema["height"], schema["width"], schema["channels"]), "another size than the model's"
    pixels = np.frombuffer(content, dtype=np.uint8, offset=16).reshape(count, height * width)
    mean, std = np.float32(schema["mean"]), np.float32(schema["std"])                              # [C], here C = 1
    return (pixels.astype(np.float32) / np.float32(255) - mean) / std


# ---- encoder ----------------------------------------------------------------------------------------------------

def relu(x):
    return np.maximum(x, 0.0)


def periodic(tensors, x, members, columns, member):
    frequency = tensors["encoder.periodic.frequency"].reshape(members, columns, -1)[member]        # [columns, F]
    maps = tensors["encoder.periodic.map"].reshape(members, columns, 2 * frequency.shape[1], -1)[member]
    offset = tensors["encoder.periodic.offset"].reshape(members, columns, -1)[member]              # [columns, E]
    outputs = []
    for j in range(columns):
        turn = np.float32(2 * np.pi) * x[:, j]                                                     # [N], single
        angle = (turn[:, None] * frequency[j]).astype(float)                                       # [N, F], single
        waves = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)                             # [N, 2F]
        outputs.append(relu(waves @ maps[j].astype(float) + offset[j]))
    return np.concatenate(outputs, axis=1)                                                         # [N, columns·E]


def look_up(tensors, shape, x, member):
    width = shape["table_width"]
    values = tensors["encoder.tables"][:, member * width:(member + 1) * width].astype(float)       # [Σ knots, W]
    outputs, start = [], 0
    for table in shape["tables"]:
        low, high, last = np.float32(table["low"]), np.float32(table["high"]), table["knots"] - 1
        position = np.clip((x[:, table["column"]] - low) / (high - low), np.float32(0), np.float32(1))
        position = position * np.float32(last)                                                     # [N], single
        knot = np.minimum(position.astype(int), last - 1)
        share = (position - knot.astype(np.float32)).astype(float)[:, None]
        below, above = values[start + knot], values[start + knot + 1]
        outputs.append(below + (above - below) * share)
        start += table["knots"]
    return np.concatenate(outputs, axis=1)                                                         # [N, tables·W]


def features(shape, scale, tensors, x):
    """Φ [N, D] of the scaled inputs x [N, width], single precision."""
    members, layers = shape["members"], len(shape["hidden"]) + 1
    parts = []
    for member in range(members):
        inputs = [x.astype(float)]
        if shape["periodic"] is not None:
            inputs.insert(0, periodic(tensors, x, members, shape["numeric"], member))
        if shape["tables"]:
            inputs.append(look_up(tensors, shape, x, member))
        h = np.concatenate(inputs, axis=1)
        for layer in range(layers):
            weight = tensors[f"encoder.layers.{layer}.weight"][member].astype(float)
            h = h @ weight + tensors[f"encoder.layers.{layer}.bias"][member]
            h = relu(h) if layer + 1 < layers else h
        if shape["skip"]:
            h = h + x.astype(float) @ tensors["encoder.skip"][member].astype(float)
        parts.append(h)
    shift, factor = np.float32(scale["shift"]).astype(float), float(np.float32(scale["scale"]))
    return (np.concatenate(parts, axis=1) - shift) * factor


# ---- Gaussian process -------------------------------------------------------------------------------------------

def kernel_matrix(family, s, shape, a, b):
    if family == "linear":
        return s * (a @ b.T) + shape
    squared = np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * a @ b.T, 0.0)
    if family == "rbf":
        return s * np.exp(-shape * squared)
    if family == "matern32":
        u = np.sqrt(6 * shape * squared)
        return s * (1 + u) * np.exp(-u)
    assert family == "matern52", family
    u = np.sqrt(10 * shape * squared)
    return s * (1 + u + u * u / 3) * np.exp(-u)


def factor(k_zz, jitter):
    """Lower factor of K_zz + jitter·I, with ten times the jitter as long as that is not positive definite."""
    top = 0.1 * abs(np.diag(k_zz).mean()) + jitter
    while True:
        try:
            return np.linalg.cholesky(k_zz + jitter * np.eye(len(k_zz)))
        except np.linalg.LinAlgError:
            jitter *= 10
            if jitter > top:
                raise


def posterior(family, jitter, tensors, phi):
    """Latent mean [N, C] and variance [N]."""
    s, shape = np.exp(tensors["kernel.log_parameters"].astype(float))
    z, w, b = (tensors[f"inducing.{name}"].astype(float) for name in "zwb")
    lower = factor(kernel_matrix(family, s, shape, z, z), jitter)                                  # [M, M]
    alpha = np.linalg.solve(lower.T, np.linalg.solve(lower, z @ w + b))                            # [M, C]
    k_zx = kernel_matrix(family, s, shape, z, phi)                                                 # [M, N]
    prior = s * (phi * phi).sum(1) + shape if family == "linear" else np.full(len(phi), s)         # [N]
    a = np.linalg.solve(lower, k_zx)                                                               # [M, N]
    return k_zx.T @ alpha, np.maximum(prior - (a * a).sum(0), 0.0)


def latent(header, tensors, x):
    """Latent mean and variance, both [N, C]: of one network for all outputs, or of one for each."""
    softmax_layer = header["config"].get("head", "gp") == "softmax"
    means, variances = [], []
    for k, network in enumerate([header, *header.get("others", [])]):
        prefix = f"{k}." if k else ""
        own = {name.removeprefix(prefix): values for name, values in tensors.items() if name.startswith(prefix)}
        phi = features(header["encoder"], network["feature_scale"], own, x)
        if softmax_layer:
            mean, var = phi @ own["softmax.w"].astype(float) + own["softmax.b"], np.zeros(len(phi))
        else:
            mean, var = posterior(network["kernel"]["family"], header["config"]["gp"]["jitter"], own, phi)
        means.append(mean)
        variances.append(np.repeat(var[:, None], mean.shape[1], axis=1))
    return np.concatenate(means, axis=1), np.concatenate(variances, axis=1)


# ---- numbers ----------------------------------------------------------------------------------------------------

def quantile(calibration, p):
    """Of the standardised residual."""
    normal = statistics.NormalDist().inv_cdf
    table = calibration["quantiles"]
    if not table:
        return normal(p)
    position = p * len(table) - 0.5
    if position < 0:
        return table[0] + normal(p) - normal(0.5 / len(table))
    if position > len(table) - 1:
        return table[-1] + normal(p) - normal((len(table) - 0.5) / len(table))
    return float(np.interp(position, range(len(table)), table))


def percent(p):
    return f"{100 * p:.6f}".rstrip("0").rstrip(".")


def predict_numbers(header, tensors, x, intervals, quantiles):
    """Names and columns of the predictions."""
    mean, var = latent(header, tensors, x)
    sigma = np.exp(tensors["noise.log_sigma"].astype(float))                                       # [C]
    targets = header["schema"]["targets"]
    result = []
    for c, (target, calibration) in enumerate(zip(targets, header["calibration"])):
        prefix = "" if len(targets) == 1 else f"{target['name']}_"
        y = target["mean"] + target["std"] * mean[:, c]
        of_function = calibration["latent"] * var[:, c]
        noise = np.exp(np.interp(mean[:, c], calibration["knots"], np.log(calibration["noise"])))  # [N], constant outside
        std = target["std"] * np.sqrt(of_function + noise * sigma[c] ** 2)
        own = [("mean", y), ("std", std), ("std_latent", target["std"] * np.sqrt(of_function))]
        for level in intervals:
            own.append((f"lower_{percent(level)}", y + std * quantile(calibration, 0.5 - level / 2)))
            own.append((f"upper_{percent(level)}", y + std * quantile(calibration, 0.5 + level / 2)))
        own += [(f"q{percent(p)}", y + std * quantile(calibration, p)) for p in quantiles]
        result += [(prefix + name, values) for name, values in own]
    return result


# ---- classes ----------------------------------------------------------------------------------------------------

def log_cdf(z):
    """log Φ(z); far to the left by its asymptotic series, whose next term is below 1e-9 there."""
    if z > -30:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2)))
    tail = 1 / (z * z)
    return -0.5 * z * z - math.log(-z * math.sqrt(2 * math.pi)) + math.log1p(-tail + 3 * tail ** 2 - 15 * tail ** 3)


def shares(logarithms):
    """exp of each, divided by their sum along the rows."""
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def predict_classes(header, tensors, x, classes):
    """Names and columns of the predictions."""
    calibration = header.get("class_calibration") or {"slope": 1.0, "latent": 1.0}
    mean, var = latent(header, tensors, x)                                                         # [N, C]
    var = calibration["latent"] * var
    config = header["config"]
    logit = config.get("head", "gp") == "softmax" or config["gp"].get("link", "probit") == "logit"
    s = calibration["slope"] * mean / np.sqrt(1 + (math.pi / 8 if logit else 1.0) * var)
    if mean.shape[1] == 1:  # two classes, one latent function: positive for the second
        s = np.hstack([0 * s, s]) if logit else np.hstack([-s, s])
        mean, var = np.hstack([-mean, mean]), np.hstack([var, var])
    p = shares(s if logit else np.vectorize(log_cdf, otypes=[float])(s))                           # [N, K]
    result = [("label", [classes[k] for k in p.argmax(axis=1)])]
    for name, values in (("p", p), ("latent_mean", mean), ("latent_std", np.sqrt(var))):
        result += [(f"{name}_{label}", values[:, k]) for k, label in enumerate(classes)]
    return result


# ---- table out --------------------------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [float(part) for part in text.split(",")]  # noqa: E731
    parser.add_argument("model")
    parser.add_argument("input", help="CSV file with a header line, or an idx file of images")
    parser.add_argument("--interval", type=numbers, default=[])
    parser.add_argument("--quantiles", type=numbers, default=[])
    parser.add_argument("--delimiter", default=",")
    args = parser.parse_args()
    header, tensors = read_model(args.model)
    schema = header["schema"]
    if "inputs" in schema:
        missing = [text.strip() for text in header["config"]["data"]["missing_values"]] or USUAL_MISSING
        types = [(column["name"], column_type(column["encoding"])) for column in schema["inputs"]]
        columns, rows = read_columns(args.input, args.delimiter, missing, types)
        x, predictions = encode(schema, columns, rows), []
        classes = None if isinstance(schema["targets"], list) else schema["targets"]["levels"]
    else:
        x, classes = read_pictures(args.input, schema), schema["classes"]
        predictions = [("file", [str(i) for i in range(len(x))])]
    if classes is None:
        predictions += predict_numbers(header, tensors, x, args.interval, args.quantiles)
    else:
        predictions += predict_classes(header, tensors, x, classes)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([name for name, _ in predictions])
    text = lambda value: value if isinstance(value, str) else repr(float(value))  # noqa: E731
    writer.writerows(zip(*([text(value) for value in values] for _, values in predictions)))


if __name__ == "__main__":
    main()
