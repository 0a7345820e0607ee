"""Training on a table that does not fit: memory, and steps a second beside training in memory. `bench.py ROWS SHARDS`."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

IGN = Path(os.environ.get("IGN_BINARY") or Path(__file__).parents[2] / "target/release/ign")
COLUMNS = 20
# One network on one thread: steps are then comparable. Steps as many as a table of millions of rows has by default.
SETTINGS = ["--target", "y", "--preset", "single", "--no-report", "--quiet", "--threads", "1", "--test-share", "0.05"]


def write(folder: Path, rows: int, shards: int) -> float:
    size = 0
    for shard in range(shards):
        rng = np.random.default_rng(shard)
        frame = pl.DataFrame({f"x{i}": rng.normal(size=rows // shards) for i in range(COLUMNS - 1)})
        frame = frame.with_columns(c=pl.Series(rng.choice(["red", "green", "blue"], rows // shards)))
        frame = frame.with_columns(y=(pl.col("x0") * 2).sin() + pl.col("x1") * pl.col("x2") + 0.1 * rng.normal(size=rows // shards))
        path = folder / f"{shard:03}.parquet"
        frame.write_parquet(path)
        size += path.stat().st_size
    return size / 1e9


def train(source: str, folder: Path, memory: str) -> tuple[float, float, float]:
    """Steps a second, seconds in all, peak of memory in GiB."""
    model = folder.parent / "m.ign"
    started = time.perf_counter()
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-c", MEASURE, str(IGN), "train", source, *SETTINGS, "--memory", memory, "-o", str(model)],
        check=True, capture_output=True, text=True,
    )
    took = time.perf_counter() - started
    header = json.loads(subprocess.run([IGN, "info", model, "--json"], check=True, capture_output=True, text=True).stdout)
    # Counted from the beginning of each phase.
    steps = sum(max((e["steps"] for e in header["history"] if e["phase"] == phase), default=0) for phase in ("pretraining", "likelihood"))
    seconds = sum(json.loads(line).get("seconds", 0.0) for line in Path(f"{model}.times.jsonl").read_text().splitlines())
    return steps / seconds, took, float(done.stdout.split()[-1])


MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 ** 2)
sys.exit(code)
"""

if __name__ == "__main__":
    rows, shards = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shards"
        folder.mkdir()
        print(f"{rows:,} rows × {COLUMNS} in {shards} files, {write(folder, rows, shards):.2f} GB of Parquet", flush=True)
        few = str(folder / "000.parquet")
        rate, took, peak = train(few, folder, "100GiB")
        print(f"in memory, one file:     {rate:.0f} steps a second, {took:.0f} s in all, peak {peak:.2f} GiB", flush=True)
        streamed, took, peak = train(f"{folder}/*.parquet", folder, "1GiB")
        print(f"from files, --memory 1GiB: {streamed:.0f} steps a second ({streamed / rate:.2f}), {took:.0f} s in all, peak {peak:.2f} GiB")
