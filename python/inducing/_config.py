"""Arguments into what the core takes: `key=value` lines, a seed, a number of threads."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, cast

import numpy as np

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
# Below these keys stand names of columns; everywhere else a dot separates keys.
_NAMED_BY_COLUMNS = ("data.columns", "data.date_format")


def key(name: str) -> str:
    """A column's name as a TOML key.

    >>> key("zip"), key("size.m2"), key("a=b")
    ('zip', '"size.m2"', '"a\\\\u003db"')
    """
    # The core separates key and value at the first "=".
    return name if _BARE.match(name) else _text(name).replace("=", "\\u003d")


def value(given: Any) -> str:
    """A value as TOML.

    >>> value(True), value(0.5), value("rbf"), value([128, 64])
    ('true', '0.5', '"rbf"', '[128, 64]')
    """
    if isinstance(given, bool | np.bool_):
        return "true" if given else "false"
    if isinstance(given, Integral):
        return str(int(given))
    if isinstance(given, Real):
        return repr(float(given))
    if isinstance(given, str):
        return _text(given)
    if isinstance(given, Mapping):
        pairs = (f"{key(name)} = {value(one)}" for name, one in cast("Mapping[str, Any]", given).items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(given, np.ndarray | Sequence):
        return "[" + ", ".join(value(one) for one in cast("Sequence[Any]", given)) + "]"
    raise TypeError(f"a setting is a number, a text, a boolean, a list or a dict of them, got {type(given).__name__}")


def _text(text: str) -> str:
    # JSON's strings are TOML's, but for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def setting_lines(settings: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """`key=value` for each setting of a dict, however deep.

    >>> list(setting_lines({"train.epochs": 5, "data": {"columns": {"size.m2": "number"}}, "seed": None}))
    ['train.epochs=5', 'data.columns."size.m2"="number"']
    """
    for name, given in settings.items():
        path = f"{prefix}.{key(name) if prefix in _NAMED_BY_COLUMNS else name}" if prefix else name
        if isinstance(given, Mapping):
            yield from setting_lines(cast("Mapping[str, Any]", given), path)
        elif given is not None:
            yield f"{path}={value(given)}"


def seed_of(random_state: int | np.random.RandomState | np.random.Generator | None) -> int | None:
    """A seed, drawn where a generator is given; nothing for the configuration's own.

    >>> seed_of(7), seed_of(None), seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    (7, None, True)
    """
    given: Any = random_state
    if given is None:
        return None
    if isinstance(given, np.random.RandomState):
        return int(given.randint(np.iinfo(np.int32).max))
    if isinstance(given, np.random.Generator):
        return int(given.integers(np.iinfo(np.int32).max))
    if isinstance(given, Integral) and int(given) >= 0:
        return int(given)
    raise ValueError(f"random_state is {given!r}, but has to be a number from 0 on, or a generator")


def thread_count(n_jobs: int | None) -> int:
    """How many threads to compute on. None: what the environment says, else all cores that this process may use; -1: all of them.

    >>> thread_count(3)
    3
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    if n_jobs is not None:
        if n_jobs == 0:
            raise ValueError("n_jobs is 0, but has to be a number of threads, or -1 for all cores")
        return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
    # joblib's workers have these set, so that several of them share the cores.
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
        first = os.environ.get(name, "").split(",")[0].strip()
        if first.isdigit() and int(first) > 0:
            return min(int(first), cores)
    return cores
