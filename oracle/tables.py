"""Rows of a table as numbers: cells, columns, scales (docs/model-file.md, section 5)."""

import csv
import math
import re

import numpy as np

from texts import encode_text

USUAL_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"]
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


def is_absent(encoding, value):
    """Whether a cell is missing though none was in training, or holds a level that none held; a text is never absent."""
    (kind, settings), = encoding.items()
    if value is None:
        return kind not in ("text", "missing_only") and not settings["missing"]
    return kind == "category" and not settings["other"] and value not in settings["levels"]


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


def read_table(path, delimiter, schema, missing_values):
    """The matrix x [N, width], single precision; for each text column the ids of each row; for each column its places in the matrix;
    for each row with absent cells their columns."""
    missing = [text.strip() for text in missing_values] or USUAL_MISSING
    types = [(column["name"], column_type(column["encoding"])) for column in schema["inputs"]]
    columns, rows = read_columns(path, delimiter, missing, types)
    numeric, indicators, texts, absent = [], [], [], {}
    for at, (column, values) in enumerate(zip(schema["inputs"], columns)):
        first, last = encode_column(column["encoding"], values)
        numeric += [(at, feature) for feature in first]
        indicators += [(at, feature) for feature in last]
        if "text" in column["encoding"]:
            texts.append([encode_text(column["encoding"]["text"]["tokenizer"], value) for value in values])
        for row in (row for row, value in enumerate(values) if is_absent(column["encoding"], value)):
            absent.setdefault(row, []).append(at)
    of, features = [at for at, _ in numeric + indicators], [feature for _, feature in numeric + indicators]
    x = np.stack(features, axis=1).astype(np.float32) if rows and features else np.zeros((rows, len(features)), np.float32)
    return x, texts, [[j for j, owner in enumerate(of) if owner == at] for at in range(len(columns))], absent
