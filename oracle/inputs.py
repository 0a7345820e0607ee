"""What a model reads: rows of a table, pictures or graphs (docs/model-file.md, section 5)."""

import gzip
import json
import math
import struct
import sys
from dataclasses import dataclass, field

import numpy as np

from tables import read_table


@dataclass
class Inputs:
    """What a model reads of N rows, pictures or graphs."""
    rows: int
    x: np.ndarray = None                          # [N, width], single precision
    texts: list = field(default_factory=list)     # for each text column the ids of each row
    graphs: list = field(default_factory=list)    # numbers and neighbours of the nodes of each graph
    places: list = field(default_factory=list)    # for each column of a table its coordinates in x
    absent: dict = field(default_factory=dict)    # for a row the columns whose cell training never had like this


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


def read_inputs(path, delimiter, header):
    """Inputs as the model's schema asks for them, and the columns that name them in the output."""
    schema = header["schema"]
    if "own" in schema:
        sys.exit(f"the encoder `{schema['own']}` is of another program")
    if "inputs" in schema:
        x, texts, places, absent = read_table(path, delimiter, schema, header["config"]["data"]["missing_values"])
        return Inputs(len(x), x, texts, places=places, absent=absent if header["format_version"] >= 5 else {}), []
    if "degree" in schema:
        graphs = read_graphs(path, schema)
        return Inputs(len(graphs), graphs=graphs), [("graph", [str(i + 1) for i in range(len(graphs))])]
    x = read_pictures(path, schema)
    return Inputs(len(x), x), [("file", [str(i) for i in range(len(x))])]
