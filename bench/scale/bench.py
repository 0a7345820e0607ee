"""Training and scoring beyond memory and beyond one process. `bench.py stream|processes|house|engines [ROWS [FILES]]`: see `run`."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
IGN = Path(os.environ.get("IGN_BINARY") or ROOT / "target/release/ign")
COLUMNS = 20
# One network on one thread: steps are then comparable.
ONE_THREAD = ["--target", "y", "--preset", "single", "--no-report", "--threads", "1", "--test-share", "0.05"]

MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 ** 2)
sys.exit(code)
"""


def write(folder: Path, rows: int, shards: int, columns: int = COLUMNS) -> float:
    """Numbers, one column of three words, and a target; the gigabytes they take."""
    import polars as pl

    size = 0
    for shard in range(shards):
        rng = np.random.default_rng(shard)
        frame = pl.DataFrame({f"x{i}": rng.normal(size=rows // shards) for i in range(columns - 1)})
        frame = frame.with_columns(c=pl.Series(rng.choice(["red", "green", "blue"], rows // shards)))
        frame = frame.with_columns(y=(pl.col("x0") * 2).sin() + pl.col("x1") * pl.col("x2") + 0.1 * rng.normal(size=rows // shards))
        path = folder / f"{shard:03}.parquet"
        frame.write_parquet(path)
        size += path.stat().st_size
    return size / 1e9


class Run:
    """One `ign train`: its steps a second, batches of a step included, the seconds it took, its peak in GiB and what it said."""

    def __init__(self, source: str, model: Path, *options: str, launcher: tuple[str, ...] = (), env: dict[str, str] | None = None):
        started = time.perf_counter()
        command = [*launcher, str(IGN), "train", source, *options, "-o", str(model)]
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, env={**os.environ, **(env or {})}
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        self.took = time.perf_counter() - started
        self.peak = float(done.stdout.split()[-1])
        self.said = done.stderr
        header = json.loads(subprocess.run([IGN, "info", model, "--json"], check=True, capture_output=True, text=True).stdout)
        # Counted from the beginning of each phase.
        steps = {phase: max((e["steps"] for e in header["history"] if e["phase"] == phase), default=0) for phase in PHASES}
        lines = [json.loads(line) for line in Path(f"{model}.times.jsonl").read_text().splitlines()]
        seconds = {phase: sum(line["seconds"] for line in lines if line.get("phase") == phase and line["epoch"] > 0) for phase in PHASES}
        self.counts, self.steps, self.trained = steps, sum(steps.values()), sum(seconds.values())
        exchange = re.search(r"([0-9.]+) s of .* went into exchanging", self.said)
        self.exchange = float(exchange[1]) if exchange else 0.0
        self.rates = {phase: steps[phase] / seconds[phase] for phase in PHASES if steps[phase]}
        self.rate = self.steps / self.trained
        self.bytes = model.read_bytes()


PHASES = ("pretraining", "likelihood")


def stream(folder: Path, rows: int, shards: int) -> None:
    """The bound on memory, and steps beside those in memory."""
    print(f"{rows:,} rows × {COLUMNS} in {shards} files, {write(folder, rows, shards):.2f} GB of Parquet", flush=True)
    model = folder.parent / "m.ign"
    one_batch = [*ONE_THREAD, "--quiet", "--set", "train.accumulate_batches=1"]
    memory = Run(str(folder / "000.parquet"), model, *one_batch, "--memory", "100GiB")
    print(f"in memory, one file:       {memory.rate:.0f} steps a second, {memory.took:.0f} s in all, peak {memory.peak:.2f} GiB", flush=True)
    files = Run(f"{folder}/*.parquet", model, *one_batch, "--memory", "1GiB")
    ratio = files.rate / memory.rate
    print(f"from files, --memory 1GiB: {files.rate:.0f} steps a second ({ratio:.2f}), {files.took:.0f} s in all, peak {files.peak:.2f} GiB")


def processes(folder: Path, rows: int, shards: int) -> None:
    """Rows a second of one process on one core, and of several; the batches of a step grow with their number."""
    print(f"{rows:,} rows × {COLUMNS} in {shards} files, {write(folder, rows, shards):.2f} GB of Parquet", flush=True)
    hosts = ROOT / "scripts/two-hosts"
    steps = ["pretrain_min_steps=0", "pretrain_epochs=1", "epochs=1", "pretrain_max_steps=600", "max_steps=300"]
    mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}

    def run(batches: int, size: tuple[int, int], launcher: tuple[str, ...]) -> Run:
        own = [*steps, f"accumulate_batches={batches}", f"pretrain_batch_size={size[0]}", f"batch_size={size[1]}"]
        options = [word for key in own for word in ("--set", f"train.{key}")]
        model = folder.parent / "m.ign"
        return Run(f"{folder}/*.parquet", model, *ONE_THREAD, "--memory", "256MB", *options, launcher=launcher, env=mpi)

    for size in ((256, 128), (2048, 1024)):
        print(f"batches of {size[0]} rows in pretraining, {size[1]} of the likelihood", flush=True)
        alone = run(1, size, ("taskset", "-c", "0"))
        two_batches = run(2, size, ("taskset", "-c", "0")).bytes
        kinds = [("2 processes", 2, ("mpirun", "-n", "2", "--bind-to", "core")), ("2 hosts", 2, (str(hosts),)), ("4 processes", 4, FOUR)]
        exchange = 0.0
        print(f"  {'1 process, 1 core:':20} {rates(alone, alone, 1, size)}", flush=True)
        for name, batches, launcher in kinds:
            if name == "2 hosts" and os.geteuid() != 0:
                continue
            own = run(batches, size, launcher)
            if batches == 2 and own.bytes != two_batches:
                sys.exit(f"{name}: other bytes than those of one process")
            # A step is that of one process, times the processes of a core, and an exchange, which moves 2(n − 1)/n of the parameters.
            turns = max(1.0, batches / os.cpu_count())
            if name == "2 processes":
                exchange = own.exchange / own.steps
            expected = sum(
                own.counts[phase] * (turns / alone.rates[phase] + turns * exchange * 2 * (batches - 1) / batches) for phase in PHASES
            )
            said = f"{100 * own.exchange / own.trained:.0f} % exchanging, {1000 * own.exchange / own.steps:.2f} ms a step"
            model = f"steps took {own.trained:.0f} s, the model says {expected:.0f} s"
            print(f"  {name + ', 2 cores:':20} {rates(own, alone, batches, size)}; {said}; {model}", flush=True)


FOUR = ("mpirun", "-n", "4", "--oversubscribe", "--bind-to", "none")


def rates(own: Run, alone: Run, batches: int, size: tuple[int, int]) -> str:
    """Rows a second, beside those of one process."""
    rows = [(phase, own.rates[phase] * batches * rows, own.rates[phase] * batches / alone.rates[phase]) for phase, rows in zip(PHASES, size)]
    return ", ".join(f"{phase} {rate / 1000:.0f}k rows/s ({ratio:.2f} ×)" for phase, rate, ratio in rows)


def house(folder: Path, rows: int, _: int) -> None:
    """Three epochs of the likelihood with 512 points on the rows and columns of HouseElectric, on two threads."""
    write(folder, rows, 1, 11)
    settings = ["gp.inducing=512", "train.epochs=3", "train.max_steps=0", "train.pretrain_epochs=0", "train.batch_size=1024"]
    options = ["--target", "y", "--preset", "single", "--no-report", "--quiet", "--threads", "2"]
    more = [word for key in settings for word in ("--set", key)]
    for precision in (["gp.precision=f64"], ["gp.precision=f32", "gp.jitter=1e-3"]):
        own = [word for key in precision for word in ("--set", key)]
        model = folder.parent / "m.ign"
        run = Run(str(folder / "000.parquet"), model, *options, *more, *own)
        header = json.loads(subprocess.run([IGN, "info", model, "--json"], check=True, capture_output=True, text=True).stdout)
        scores = header["metrics"]["test"]["y"]
        print(
            f"{rows:,} × 11, {precision[0]}: {run.took:.0f} s, peak {run.peak:.2f} GiB; RMSE {scores['rmse']:.3f}, CRPS {scores['crps']:.3f}",
            flush=True,
        )


def engines(folder: Path, rows: int, shards: int) -> None:
    """What Spark, Ray and Dask add to `ign predict` on one machine. Needs the packages of python/requirements-distributed.txt."""
    import engines as bench

    bench.write(folder, rows, shards)
    bench.run(IGN, folder, rows)


USUAL = {"stream": (5_000_000, 20), "processes": (2_000_000, 16), "house": (2_000_000, 1), "engines": (10_000_000, 40)}

if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["stream"]
    if what not in USUAL:
        sys.exit(f"`{what}` is none of {', '.join(USUAL)}")
    rows, shards = [int(number) for number in numbers] + list(USUAL[what][len(numbers) :])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shards"
        folder.mkdir()
        {"stream": stream, "processes": processes, "house": house, "engines": engines}[what](folder, rows, shards)
