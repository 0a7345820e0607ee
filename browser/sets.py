"""Small data sets of every kind of input, with hostile names."""

import csv
import json
import math
import random
import struct
import zlib
from pathlib import Path

EVIL = '<script>alert("run")</script>'


def table(path: Path, rows: int, seed: int) -> None:
    rng = random.Random(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "<b>age</b>", "colour", "when", "price"])
        for i in range(rows):
            size, age, colour = rng.gauss(10, 3), rng.uniform(0, 50), rng.choice(["red", "blue", EVIL])
            price = 3 * size + 8 * math.sin(age / 6) + (colour == "red") + rng.gauss(0, 1 + size / 10)
            writer.writerow([f"{size:.3f}", f"{age:.2f}", colour, f"2024-{1 + i % 12:02}-{1 + i % 28:02}", f"{price:.3f}"])


def classes(path: Path, rows: int, seed: int) -> None:
    rng = random.Random(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "kind"])
        for _ in range(rows):
            a, b = rng.gauss(0, 1), rng.gauss(0, 1)
            kind = ["plain", EVIL, "a & b"][(a + b > -0.5) + (a + b + rng.gauss(0, 0.3) > 0.8)]
            writer.writerow([f"{a:.3f}", f"{b:.3f}", kind])


def images(folder: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)
    for label in ["left", "right"]:
        (folder / label).mkdir(parents=True)
        for i in range(count):
            bright = lambda x: 150 if (x < 6) == (label == "left") else 0
            rows = [bytes(min(255, bright(x) + rng.randrange(100)) for x in range(12)) for _ in range(12)]
            (folder / label / f"{i}.png").write_bytes(png(rows))


def png(rows: list[bytes]) -> bytes:
    """A grey image."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def texts(path: Path, rows: int, seed: int) -> None:
    rng = random.Random(seed)
    common = "the film was a story about people who live in small town and their long way home".split()
    with open(path, "w") as file:
        for _ in range(rows):
            good = rng.random() < 0.5
            own = ["wonderful", "moving", "<b>gem</b>"] if good else ["dull", "boring", "</script>"]
            words = [rng.choice(common) for _ in range(rng.randrange(20, 90))]
            for _ in range(4):
                words.insert(rng.randrange(len(words)), rng.choice(own))
            file.write(json.dumps({"text": " ".join(words), "label": "good" if good else "bad"}) + "\n")


def graphs(path: Path, rows: int, seed: int) -> None:
    rng = random.Random(seed)
    with open(path, "w") as file:
        for _ in range(rows):
            ring, nodes = rng.random() < 0.5, rng.randrange(5, 15)
            edges = [[i, (i + 1) % nodes] for i in range(nodes)] if ring else [[0, i] for i in range(1, nodes)]
            labels = [rng.choice(["C", "N", EVIL]) for _ in range(nodes)]
            file.write(json.dumps({"nodes": labels, "edges": edges, "label": "ring" if ring else "star"}) + "\n")
