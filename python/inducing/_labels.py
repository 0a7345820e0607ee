"""Classes and back: what a label is called in the core, and which of the user's labels a class of the core is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from ._cells import Column, is_missing

Labels = npt.NDArray[Any]

# What the core takes for a missing value (data.missing_values).
_MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"}
_NUMBERED = re.compile(r"\d+\. ?")


def check_labels(y: Any) -> Labels:
    """Labels as one array, refused where they are numbers to predict, missing, or several per row."""
    if hasattr(y, "to_pylist"):  # Arrow's arrays
        y = np.asarray(y.to_pylist())
    labels: Labels = column_or_1d(y, warn=True)
    if labels.dtype == object and any(is_missing(label) for label in labels):
        raise ValueError("Input y contains NaN.")
    if labels.dtype == object and len(labels) and not isinstance(labels[0], str):
        narrower = np.asarray(labels.tolist())
        labels = narrower if narrower.ndim == 1 and narrower.dtype.kind in "biufM" else labels
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return labels


def class_texts(classes: Labels) -> list[str]:
    """The texts by which the core knows the classes: their own, or numbered ones.

    >>> class_texts(np.array(["10", "2"]))
    ['0. 10', '1. 2']
    """
    texts = [str(label) for label in classes.tolist()]
    if _is_plain(texts):
        return texts
    digits = len(str(len(texts) - 1))
    return [f"{at:0{digits}}. {text}".strip() for at, text in enumerate(texts)]


def _is_plain(texts: Sequence[str]) -> bool:
    if any(text in _MISSING or text != text.strip() for text in texts) or len(set(texts)) < len(texts):
        return False
    # The core orders by value where all texts are numbers: two orders are one too many.
    numbers = [_number(text) for text in texts]
    values = [number for number in numbers if number is not None]
    return len(values) < len(texts) or all(a < b for a, b in zip(values, values[1:], strict=False))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class ClassNames:
    """The classes of an estimator and what the core calls them.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        ``classes_``: sorted, in the user's own type.
    kind : {"number", "boolean", "category"}
        Type of the target's column.
    texts : list of str
        What the core calls each.
    """

    labels: Labels
    kind: str
    texts: list[str]

    @classmethod
    def of_labels(cls, labels: Labels) -> Self:
        """Of labels to learn.

        Numbers and booleans stay what they are; texts too, unless the core would take one for missing, or order them otherwise.

        >>> ClassNames.of_labels(np.array(["no", "NA", "no"])).texts
        ['0. NA', '1. no']
        """
        found = np.unique(labels)
        if found.dtype.kind == "b":
            return cls(found, "boolean", [str(label).lower() for label in found.tolist()])
        if found.dtype.kind in "iuf" and np.all(np.abs(found.astype(np.float64)) < 2**53):
            return cls(found, "number", [_number_text(label) for label in found.tolist()])
        return cls(found, "category", class_texts(found))

    @classmethod
    def of_model(cls, core: Sequence[str], column_type: str) -> Self:
        """Of a model that was trained elsewhere: numbers, booleans or texts, as the target's column was.

        >>> ClassNames.of_model(["2", "10"], "number").labels
        array([ 2, 10])
        >>> ClassNames.of_model(["0. NA", "1. no"], "category").labels
        array(['NA', 'no'], dtype=object)
        """
        if column_type == "images" and all(re.fullmatch(r"0|-?[1-9]\d*", name) for name in core):
            return cls._sorted([int(name) for name in core], core, "number")
        match column_type:
            case "boolean":
                return cls._sorted([name == "true" for name in core], core, "boolean")
            case "number":
                values = [float(name) for name in core]
                whole = all(value.is_integer() for value in values)
                return cls._sorted([int(value) for value in values] if whole else values, core, "number")
            case _:
                # Numbered by `class_texts`, or not.
                bare = [_NUMBERED.sub("", name, count=1) for name in core]
                numbered = class_texts(np.asarray(bare, dtype=object)) == list(core)
                return cls._sorted(bare if numbered else core, core, "category")

    @classmethod
    def _sorted(cls, labels: Sequence[Any], core: Sequence[str], kind: str) -> Self:
        names = list(core)
        found = np.asarray(labels, dtype=object if isinstance(labels[0], str) else None)
        order = np.argsort(found)
        return cls(found[order], kind, [names[at] for at in order.tolist()])

    def codes(self, labels: Labels) -> npt.NDArray[np.intp]:
        """The position of each label among the classes.

        Raises
        ------
        ValueError
            If a label is none of them.
        """
        at = np.clip(np.searchsorted(self.labels, labels), 0, len(self.labels) - 1)
        if not np.all(known := self.labels[at] == labels):
            unseen = np.unique(labels[~known])[:5].tolist()
            raise ValueError(f"y contains labels that were not in training: {unseen}; known are {self.labels.tolist()}")
        return at

    def column(self, labels: Labels) -> Column:
        """The target's column of some labels."""
        if self.kind == "boolean":
            return labels.astype(np.bool_)
        if self.kind == "number":
            return labels.astype(np.float64)
        return [self.texts[code] for code in self.codes(labels)]

    def positions(self, core: Sequence[str]) -> npt.NDArray[np.intp]:
        """For each class of the core its position among the labels.

        >>> ClassNames.of_labels(np.array([1, 2, 10])).positions(["1", "10"])
        array([0, 2])
        """
        place = {text: at for at, text in enumerate(self.texts)}
        return np.array([place[name] for name in core], dtype=np.intp)


def _number_text(label: float) -> str:
    """A number as the core writes it."""
    if label == int(label):
        return str(int(label))
    return np.format_float_positional(label, trim="-")
