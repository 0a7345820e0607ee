"""The networks: from numbers, words and graphs to features Φ (docs/model-file.md, section 6)."""

import math
import sys

import numpy as np

from model_file import within


def relu(x):
    return np.maximum(x, 0.0)


def softmax(x):
    """Along the rows."""
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


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
            mixed.append(softmax(q @ k.T / math.sqrt(d)) @ v)                                      # [L, d]
        h = h + plain(f"{block}.mix", np.concatenate(mixed, axis=1))
        hidden = relu(plain(f"{block}.up", norm(tensors, f"{block}.before_dense", h)))
        h = h + plain(f"{block}.down", hidden)
    h = norm(tensors, "last", h)
    pooled = {"mean": [h.mean(axis=0)], "max": [h.max(axis=0)], "mean_max": [h.mean(axis=0), h.max(axis=0)]}
    return np.concatenate(pooled[shape["pooling"]])


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
