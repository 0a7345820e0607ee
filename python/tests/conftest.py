"""Small tables, and settings that train in a blink."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

#: One small network of few steps: what is tested is the way of the data, not the fit.
QUICK: dict[str, Any] = {
    "preset": "single",
    "config": {"train.pretrain_epochs": 2, "train.pretrain_min_steps": 0, "train.epochs": 1, "gp.inducing": 8},
}


@pytest.fixture
def quick() -> dict[str, Any]:
    return dict(QUICK)


@pytest.fixture(scope="session")
def houses() -> pd.DataFrame:
    """Numbers, categories, dates, booleans, missing cells."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "rooms": rng.integers(1, 8, n),
            "area": rng.normal(100, 20, n),
            "city": rng.choice(["Oslo", "Rome", "Lima"], n),
            "sold": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "garden": rng.random(n) < 0.5,
        }
    )
    frame["price"] = 10.0 * frame.rooms + frame.area + 5 * (frame.city == "Rome") + rng.normal(0, 3, n)
    frame.loc[[3, 17], "area"] = np.nan
    frame.loc[5, "city"] = None
    return frame


@pytest.fixture(scope="session")
def inputs(houses: pd.DataFrame) -> pd.DataFrame:
    return houses.drop(columns="price")


@pytest.fixture(scope="session")
def price(houses: pd.DataFrame) -> pd.Series:
    return houses["price"]
