"""What Python costs: predictions of 10⁶ × 10 from polars and pyarrow beside the library's own, and `fit` beside `ign train`.

Both sides alternate in one run on one thread; the best of several counts. Prints ratios.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import inducing
from inducing import IGNRegressor, _core

ROOT = Path(__file__).parents[2]
IGN, RATE = ROOT / "target/release/ign", ROOT / "target/release/examples/predict_rate"
ROUNDS = 3


def table(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(10)})
    return frame.with_columns(y=(pl.col("x0") * 2).sin() + pl.col("x1") * pl.col("x2") + 0.1 * rng.normal(size=rows))


def seconds(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def rate(folder: Path, preset: str, rows: int) -> None:
    model, file = folder / f"{preset}.ign", folder / "rows.parquet"
    table(4000, 0).write_csv(folder / "t.csv")
    subprocess.run([IGN, "train", folder / "t.csv", "--target", "y", "--preset", preset, "-o", model, "--no-report", "--quiet"], check=True)
    frame = table(rows, 1).drop("y")
    frame.write_parquet(file)
    arrow = frame.to_arrow()
    estimator = inducing.load(model).set_params(n_jobs=1)
    data = _core.Dataset.from_arrow(arrow)
    own = {chunk.buffers()[-1].address for column in arrow.columns for chunk in column.chunks}
    copied = [address for address in data.buffer_addresses() if address not in own]
    print(f"{preset}: {len(copied)} of {len(data.buffer_addresses())} buffers of pyarrow were copied")
    best = {"library": np.inf, "polars": np.inf, "pyarrow": np.inf}
    for _ in range(ROUNDS):
        done = subprocess.run([RATE, model, file], check=True, capture_output=True, text=True, env={"RAYON_NUM_THREADS": "1"})
        best["library"] = min(best["library"], float(done.stdout.split()[1]))
        best["polars"] = min(best["polars"], seconds(lambda: estimator.predict(frame)))
        best["pyarrow"] = min(best["pyarrow"], seconds(lambda: estimator.predict(arrow)))
    for name in ("polars", "pyarrow"):
        print(f"{preset}: {rows:,} rows from {name}: {best[name]:.2f} s, {best['library'] / best[name]:.2f} of the library's rate")


def overhead(folder: Path) -> None:
    frame = table(4000, 2)
    frame.write_csv(folder / "t.csv")
    inputs, y = frame.drop("y"), frame["y"]
    words = [IGN, "train", folder / "t.csv", "--target", "y", "-o", folder / "m.ign", "--no-report", "--quiet", "--threads", "1", "--test-share", "0"]
    best = {"command": np.inf, "fit": np.inf}
    for _ in range(ROUNDS):
        best["command"] = min(best["command"], seconds(lambda: subprocess.run(words, check=True)))
        best["fit"] = min(best["fit"], seconds(lambda: IGNRegressor(n_jobs=1).fit(inputs, y)))
    print(f"fit of 4,000 rows: {best['fit']:.2f} s, `ign train`: {best['command']:.2f} s, overhead {100 * (best['fit'] / best['command'] - 1):+.1f} %")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        rate(Path(name), "single", 1_000_000)
        rate(Path(name), "default", 100_000)
        overhead(Path(name))
        sys.stdout.flush()
