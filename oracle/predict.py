#!/usr/bin/env python3
"""Recomputes the predictions of a model file, from docs/model-file.md alone: numpy, no code shared with the program.

    python3 oracle/predict.py MODEL.ign INPUT.csv [--interval 0.9] [--quantiles 0.05,0.5] > predictions.csv
    python3 oracle/predict.py MODEL.ign INPUT.npy > predictions.csv                       an array in place of a table
    python3 oracle/predict.py MODEL.ign t10k-images-idx3-ubyte.gz > predictions.csv       a model of pictures
    python3 oracle/predict.py MODEL.ign GRAPHS.jsonl > predictions.csv                    a model of graphs

Numbers have mean, deviations, intervals and quantiles; classes a label, probabilities and latent functions. Pictures are
read from an idx file and must have the model's size; graphs from JSON lines. Texts may hold ASCII, letters of Latin,
Greek and Cyrillic, ideographs and faces: the word boundaries of other scripts need tables that Python does not have.

Everything is computed in double precision, except what the format defines in single: the scaled inputs, the angles of
the periodic embedding, the position in a table and the numbers of a node. The program's encoder is single precision throughout, so the two
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
import unicodedata
import zlib
from dataclasses import dataclass, field

import numpy as np

FORMAT_VERSION = 4
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


PARSERS = {"number": parse_number, "boolean": parse_boolean, "category": str, "date_time": parse_date, "text": str}


def read_columns(path, delimiter, missing, types):
    """The named columns as lists of values, `None` where missing."""
    if path.endswith(".npy"):
        array = np.load(path)
        array = array.reshape(len(array), -1)                                                      # [N, columns]
        assert all(kind == "number" for _, kind in types), "an array of numbers has columns of numbers"
        values = [array[:, int(name.removeprefix("x"))].astype(float) for name, _ in types]
        return [[None if math.isnan(value) else value for value in column] for column in values], len(array)
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    names = [name.strip() or f"column_{i + 1}" for i, name in enumerate(rows[0])]
    columns = []
    for name, kind in types:
        assert name in names, f"{path}: there is no column {name!r}"
        cells = [row[names.index(name)].strip() for row in rows[1:]]
        columns.append([None if cell in missing else PARSERS[kind](cell) for cell in cells])
    return columns, len(rows) - 1


# ---- texts ------------------------------------------------------------------------------------------------------

BREAK = re.compile(r"<[bB][rR](?:>|/>| />)")


def word_break(c):
    """What a character is to the word boundaries of UAX #29, as far as this script knows them."""
    if "0" <= c <= "9":
        return "digit"
    if c == "_":
        return "joiner"
    if c in "'.\u2018\u2019\u2024":
        return "between both"
    if c in ":\u00b7\u2027":
        return "between letters"
    if c in ",;":
        return "between digits"
    point, category = ord(c), unicodedata.category(c)
    if category[0] == "L" and (point < 0x530 or 0x1E00 <= point < 0x2000):
        return "letter"
    alone = point < 0xC0 and c not in "\u00ad\u00b8" or c in "×÷" or 0x2010 <= point < 0x2028 or 0x4E00 <= point < 0xA000 or 0x1F600 <= point < 0x1F650
    assert alone, f"U+{point:04X}: this script does not know its word boundaries"
    return "alone"


def segments(piece):
    """The piece cut at its word boundaries."""
    kinds = [word_break(c) for c in piece]
    inner = ("letter", "digit", "joiner")
    start = 0
    for i in range(1, len(piece) + 1):
        if i < len(piece):
            before, here = kinds[i - 1], kinds[i]
            if before in inner and here in inner:
                continue
            joined = False
            for side, signs in (("letter", ("between both", "between letters")), ("digit", ("between both", "between digits"))):
                joined |= here in signs and before == side and kinds[i + 1:i + 2] == [side]
                joined |= before in signs and here == side and i >= 2 and kinds[i - 2] == side
            if joined:
                continue
        yield piece[start:i]
        start = i


def speaks(c):
    return c.isalnum() or 0x1F600 <= ord(c) < 0x1F650


def words(text):
    """The words of a text, in lower case; of each character by itself, so that no sigma is a final one."""
    for piece in re.split("[ \t\n\f\r]+", BREAK.sub(" ", text)):
        for segment in segments(piece):
            if any(speaks(c) for c in segment):
                yield "".join(c.lower() for c in segment.replace("\u2019", "'"))


def encode_text(tokenizer, text):
    """Ids: 1 for an unknown word, 2 + i for the i-th of the vocabulary."""
    known = {word: 2 + i for i, word in enumerate(tokenizer["words"])}
    ids = [known.get(word, 1) for word in words(text or "")] or [1]
    length = tokenizer["length"]
    if len(ids) <= length:
        return ids
    head = {"start": length, "end": 0, "both": length // 4}[tokenizer["keep"]]
    return ids[:head] + ids[len(ids) - (length - head):]


# ---- graphs -----------------------------------------------------------------------------------------------------

def label_text(value):
    return json.dumps(value) if isinstance(value, bool) else str(value)


def read_graphs(path, schema):
    """Of each graph the numbers of its nodes [n, width], single precision, and the neighbours of each node."""
    graphs = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                graph = json.loads(line)
                nodes = graph["nodes"]
                nodes = [{}] * nodes if isinstance(nodes, int) else nodes
                neighbours = [set() for _ in nodes]
                for a, b in graph["edges"]:
                    if a != b:
                        neighbours[a].add(b)
                        neighbours[b].add(a)
                graphs.append((np.stack([node_numbers(schema, *pair) for pair in zip(nodes, neighbours)]),
                               [sorted(own) for own in neighbours]))
    return graphs


def clip(value):
    return min(max(value, -1e6), 1e6)


def node_numbers(schema, node, neighbours):
    if isinstance(node, list):
        node = {"attributes": node}
    elif not isinstance(node, dict):
        node = {"label": node}
    (kind, settings), = schema["degree"].items()
    if kind == "one_hot":
        degree = [float(min(len(neighbours), settings["cap"]) == i) for i in range(settings["cap"] + 1)]
    else:
        degree = [clip((math.log1p(len(neighbours)) - settings["mean"]) / settings["std"])]
    label = [float(label_text(node["label"]) == level) for level in schema["node_levels"]]
    scaled = [clip((float(np.float32(value)) - scale["mean"]) / scale["std"])
              for value, scale in zip(node.get("attributes", []), schema["attributes"])]
    return np.float32(degree + label + scaled)


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
    elif kind == "text":
        pass  # its words go beside the matrix
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


@dataclass
class Inputs:
    """What a model reads of N rows, pictures or graphs."""
    rows: int
    x: np.ndarray = None                          # [N, width], single precision
    texts: list = field(default_factory=list)     # for each text column the ids of each row
    graphs: list = field(default_factory=list)    # numbers and neighbours of the nodes of each graph


def encode(schema, columns, rows):
    numeric, indicators, texts = [], [], []
    for column, values in zip(schema["inputs"], columns):
        first, last = encode_column(column["encoding"], values)
        numeric += first
        indicators += last
        if "text" in column["encoding"]:
            texts.append([encode_text(column["encoding"]["text"]["tokenizer"], value) for value in values])
    features = numeric + indicators
    x = np.stack(features, axis=1).astype(np.float32) if rows and features else np.zeros((rows, len(features)), np.float32)
    return Inputs(rows, x, texts)


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


def dense(tensors, name, x, member):
    """x W + b of one member."""
    return x @ tensors[f"{name}.weight"][member].astype(float) + tensors[f"{name}.bias"][member]


def norm(tensors, name, x):
    """Over the last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)
    u = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)
    return tensors[f"{name}.gain"] * u + tensors[f"{name}.shift"]


def periodic(tensors, x, members, columns, member):
    frequency = tensors["periodic.frequency"].reshape(members, columns, -1)[member]                # [columns, F]
    maps = tensors["periodic.map"].reshape(members, columns, 2 * frequency.shape[1], -1)[member]
    offset = tensors["periodic.offset"].reshape(members, columns, -1)[member]                      # [columns, E]
    outputs = []
    for j in range(columns):
        turn = np.float32(2 * np.pi) * x[:, j]                                                     # [N], single
        angle = (turn[:, None] * frequency[j]).astype(float)                                       # [N, F], single
        waves = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)                             # [N, 2F]
        outputs.append(relu(waves @ maps[j].astype(float) + offset[j]))
    return np.concatenate(outputs, axis=1)                                                         # [N, columns·E]


def look_up(tensors, shape, x, member):
    width = shape["table_width"]
    values = tensors["tables"][:, member * width:(member + 1) * width].astype(float)               # [Σ knots, W]
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


def dense_features(shape, tensors, x, member):
    """Of one member of a dense network, [N, D/K]."""
    inputs = [x.astype(float)]
    if shape["periodic"] is not None:
        inputs.insert(0, periodic(tensors, x, shape["members"], shape["numeric"], member))
    if shape["tables"]:
        inputs.append(look_up(tensors, shape, x, member))
    h, layers = np.concatenate(inputs, axis=1), len(shape["hidden"]) + 1
    for layer in range(layers):
        h = dense(tensors, f"layers.{layer}", h, member)
        h = relu(h) if layer + 1 < layers else h
    if shape["skip"]:
        h = h + x.astype(float) @ tensors["skip"][member].astype(float)
    return h


def convolve(h, weight):
    """3×3 with zeros around; h [N, H, W, C], weight [9·C, out] by kernel row, kernel column, channel."""
    height, width, channels = h.shape[1:]
    around = np.pad(h, ((0, 0), (1, 1), (1, 1), (0, 0)))
    kernel = weight.astype(float).reshape(3, 3, channels, -1)
    return sum(around[:, i:i + height, j:j + width] @ kernel[i, j] for i in range(3) for j in range(3))


def convolutional_features(shape, tensors, x, _):
    h = x.astype(float).reshape(-1, shape["height"], shape["width"], shape["channels"])            # [N, H, W, C]
    halves = [False] if shape["stem"] else []
    for _block in shape["blocks"]:
        halves += [True] + [False] * (shape["convolutions"] - 1)
    for i, half in enumerate(halves):
        h = convolve(h, tensors[f"convolutions.{i}.weight"])
        n, height, width, channels = h.shape
        if half:
            height, width = height // 2, width // 2
            h = h[:, :2 * height, :2 * width].reshape(n, height, 2, width, 2, channels).max(axis=(2, 4))
        groups = h.reshape(n, height * width, channels // shape["group"], shape["group"])
        mean = groups.mean(axis=(1, 3), keepdims=True)
        variance = ((groups - mean) ** 2).mean(axis=(1, 3), keepdims=True)
        u = ((groups - mean) / np.sqrt(variance + 1e-5)).reshape(n, height, width, channels)
        h = relu(tensors[f"convolutions.{i}.gain"] * u + tensors[f"convolutions.{i}.shift"])
    return h.reshape(len(h), -1) @ tensors["weight"].astype(float) + tensors["bias"]


def read_text(shape, tensors, ids):
    """What a tower pools of one text, [P]."""
    w, heads = shape["width"], shape["heads"]
    d = w // heads
    h = (tensors["token"][ids] + tensors["position"][:len(ids)]).astype(float)                     # [L, W]
    plain = lambda name, x: x @ tensors[f"{name}.weight"].astype(float) + tensors[f"{name}.bias"]  # noqa: E731
    for i in range(shape["blocks"]):
        block = f"blocks.{i}"
        qkv = plain(f"{block}.qkv", norm(tensors, f"{block}.before_attention", h))                 # [L, 3W]
        mixed = []
        for head in range(heads):
            q, k, v = (qkv[:, part * w + head * d:part * w + (head + 1) * d] for part in range(3))
            mixed.append(shares(q @ k.T / math.sqrt(d)) @ v)                                       # [L, d]
        h = h + plain(f"{block}.mix", np.concatenate(mixed, axis=1))
        hidden = relu(plain(f"{block}.up", norm(tensors, f"{block}.before_dense", h)))
        h = h + plain(f"{block}.down", hidden)
    h = norm(tensors, "last", h)
    pooled = {"mean": [h.mean(axis=0)], "max": [h.max(axis=0)], "mean_max": [h.mean(axis=0), h.max(axis=0)]}
    return np.concatenate(pooled[shape["pooling"]])


def within(tensors, prefix):
    """The tensors below a name, by the rest of their names."""
    return {name.removeprefix(prefix): values for name, values in tensors.items() if name.startswith(prefix)}


def text_features(shape, tensors, inputs, member):
    parts, count = [], len(shape["towers"])
    for i, (tower, texts) in enumerate(zip(shape["towers"], inputs.texts)):
        own = within(tensors, f"towers.{member * count + i}.")
        pooled = {tuple(ids): read_text(tower, own, ids) for ids in texts}
        parts.append(np.stack([pooled[tuple(ids)] for ids in texts]))                              # [N, P]
    if shape["beside"] is not None:
        parts.append(dense_features(shape["beside"], within(tensors, "beside."), inputs.x, member))
    u = np.concatenate(parts, axis=1)                                                              # [N, U]
    return u @ tensors["weight"][member].astype(float) + tensors["bias"][member]


def pool(kind, h, bags):
    """h [n, W] over each bag of its rows, [bags, W]; zeros for an empty bag."""
    of = {"max": lambda rows: rows.max(axis=0), "mean": lambda rows: rows.mean(axis=0), "sum": lambda rows: rows.sum(axis=0)}[kind]
    return np.stack([of(h[bag]) if len(bag) else np.zeros(h.shape[1]) for bag in bags])


def graph_features(shape, tensors, inputs, member):
    pooled = []
    for x, neighbours in inputs.graphs:
        x = x.astype(float)                                                                        # [n, inputs]
        of_neighbours = lambda h: pool(shape["node_pooling"], h, neighbours)  # noqa: E731
        of_nodes = lambda h: pool(shape["graph_pooling"], h, [range(len(x))])[0]  # noqa: E731
        h, read_out = x, [of_nodes(x)]
        for t in range(shape["rounds"]):
            if shape["kind"] == "bag":
                h = np.concatenate([of_neighbours(relu(dense(tensors, f"rounds.{t}.first", h, member))), x], axis=1)
            else:
                epsilon = float(tensors[f"rounds.{t}.epsilon"][member, 0, 0])
                h = relu(dense(tensors, f"rounds.{t}.first", (1 + epsilon) * h + of_neighbours(h), member))
                h = relu(dense(tensors, f"rounds.{t}.second", h, member))
                read_out.append(of_nodes(h))
        if shape["kind"] == "bag":
            read_out = [of_nodes(relu(dense(tensors, "last", h, member)))]
        pooled.append(np.concatenate(read_out))
    u, layers = np.stack(pooled), len(shape["hidden"]) + 1                                         # [N, ·]
    for layer in range(layers):
        u = dense(tensors, f"layers.{layer}", u, member)
        u = relu(u) if layer + 1 < layers else u
    return u


def features(shape, scale, tensors, inputs):
    """Φ [N, D]. Shapes are told apart by their fields."""
    tensors, members = within(tensors, "encoder."), range(shape.get("members", 1))
    if "own" in shape:
        sys.exit(f"the encoder `{shape['own']}` is of another program")
    if "towers" in shape:
        parts = [text_features(shape, tensors, inputs, member) for member in members]
    elif "rounds" in shape:
        parts = [graph_features(shape, tensors, inputs, member) for member in members]
    elif "stem" in shape:
        parts = [convolutional_features(shape, tensors, inputs.x, member) for member in members]
    elif "hidden" in shape:
        parts = [dense_features(shape, tensors, inputs.x, member) for member in members]
    else:
        parts = [inputs.x.astype(float)]
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


def latent(header, tensors, inputs):
    """Latent mean and variance, both [N, C]: of one network for all outputs, or of one for each."""
    softmax_layer = header["config"].get("head", "gp") == "softmax"
    means, variances = [], []
    for k, network in enumerate([header, *header.get("others", [])]):
        prefix = f"{k}." if k else ""
        own = within(tensors, prefix)
        phi = features(header["encoder"], network["feature_scale"], own, inputs)
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


def predict_numbers(header, tensors, inputs, intervals, quantiles):
    """Names and columns of the predictions."""
    mean, var = latent(header, tensors, inputs)
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


def predict_classes(header, tensors, inputs, classes):
    """Names and columns of the predictions."""
    calibration = header.get("class_calibration") or {"slope": 1.0, "latent": 1.0}
    mean, var = latent(header, tensors, inputs)                                                         # [N, C]
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
    parser.add_argument("input", help="CSV file with a header line, .npy array, idx file of images, or JSON lines of graphs")
    parser.add_argument("--interval", type=numbers, default=[])
    parser.add_argument("--quantiles", type=numbers, default=[])
    parser.add_argument("--delimiter", default=",")
    args = parser.parse_args()
    header, tensors = read_model(args.model)
    schema = header["schema"]
    if "own" in schema:
        sys.exit(f"{args.model}: the encoder `{schema['own']}` is of another program")
    predictions, classes = [], schema.get("classes")
    if "inputs" in schema:
        missing = [text.strip() for text in header["config"]["data"]["missing_values"]] or USUAL_MISSING
        types = [(column["name"], column_type(column["encoding"])) for column in schema["inputs"]]
        columns, rows = read_columns(args.input, args.delimiter, missing, types)
        inputs = encode(schema, columns, rows)
        classes = None if isinstance(schema["targets"], list) else schema["targets"]["levels"]
    elif "degree" in schema:
        graphs = read_graphs(args.input, schema)
        inputs = Inputs(len(graphs), graphs=graphs)
        predictions.append(("graph", [str(i + 1) for i in range(len(graphs))]))
    else:
        x = read_pictures(args.input, schema)
        inputs = Inputs(len(x), x)
        predictions.append(("file", [str(i) for i in range(len(x))]))
    if classes is None:
        predictions += predict_numbers(header, tensors, inputs, args.interval, args.quantiles)
    else:
        predictions += predict_classes(header, tensors, inputs, classes)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([name for name, _ in predictions])
    text = lambda value: value if isinstance(value, str) else repr(float(value))  # noqa: E731
    writer.writerows(zip(*([text(value) for value in values] for _, values in predictions)))


if __name__ == "__main__":
    main()
