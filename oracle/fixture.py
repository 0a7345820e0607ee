"""Writes a fixture, or with `--check` compares it with the one on disk. Touches crates/gp/tests/fixtures only."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import mpmath

FOLDER = Path(__file__).resolve().parent.parent / "crates" / "gp" / "tests" / "fixtures"


def to_doubles(value):
    """Nearest doubles in place of 50-digit numbers and fractions; `repr` of a double, which json uses, reads back bit for bit."""
    if isinstance(value, (mpmath.mpf, Fraction)):
        return float(value)
    if isinstance(value, dict):
        return {key: to_doubles(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_doubles(item) for item in value]
    return value


def write_or_check(name, content):
    """One line a top-level list entry: compact, and a changed case is a changed line."""
    parts = []
    for key, items in to_doubles(content).items():
        lines = ",\n".join(json.dumps(item, separators=(",", ":"), allow_nan=False) for item in items)
        parts.append(f'"{key}":[\n{lines}\n]')
    text = "{" + ",\n".join(parts) + "}\n"
    path = FOLDER / name
    if "--check" in sys.argv[1:]:
        if not path.exists() or path.read_text() != text:
            sys.exit(f"{name} differs from what this script computes; run it without --check and look at the diff")
        print(f"{name}: unchanged")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"{name}: {len(text)} bytes")
