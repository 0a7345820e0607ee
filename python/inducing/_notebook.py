"""What shows itself in a notebook: the report's page, effects of columns, inducing points."""

import contextlib
import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._frames import wanted

_HEIGHT = 720
_OF_POINT: tuple[str, ...] = ("network", "point", "pseudo_label", "assigned")
_OF_NEAREST: tuple[str, ...] = ("name", "distance", "similarity", "truth")


class Report:
    """The page about a model. In a notebook it shows itself.

    Parameters
    ----------
    page : str
        HTML, complete and without links to anywhere.
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page.

        Parameters
        ----------
        path : path
            Such as ``"price.report.html"``.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        # A page of its own: its styles stay in there, and the notebook's outside.
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{_HEIGHT}px;border:0" title="report"></iframe>'

    def __repr__(self) -> str:
        return f"<Report of {len(self.html) // 1024} kB: save(path) writes it, a notebook shows it>"


@dataclass(frozen=True)
class Explanation:
    """Effects of columns on predictions (Shapley values). For one row they add up to its distance from the mean prediction.

    Attributes
    ----------
    columns : list of str
        Names of the d columns.
    prediction : ndarray of shape (n_samples, d), or (n_samples, n_targets, d)
        Effects on the mean, in the target's units, or on the probability of the most probable class.
    spread : ndarray of the same shape
        Effects on the standard deviation, or on the entropy of the class.
    """

    columns: list[str]
    prediction: npt.NDArray[np.float64]
    spread: npt.NDArray[np.float64]

    @property
    def importance(self) -> dict[str, float]:
        """Mean absolute effect of each column on the prediction, the largest first."""
        mean = np.abs(self.prediction).reshape(-1, len(self.columns)).mean(axis=0)
        order = np.argsort(-mean)
        return {self.columns[at]: float(mean[at]) for at in order}

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` of the effects on the prediction; of several targets, of the first one."""
        pandas = wanted("pandas", "`to_pandas`")
        first = self.prediction if self.prediction.ndim == 2 else self.prediction[:, 0]
        return pandas.DataFrame(first, columns=self.columns)

    def _repr_html_(self) -> str:
        shown = self.importance
        longest = max(shown.values(), default=0.0) or 1.0
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{effect:.4g}</td>"
            f'<td><div style="background:#4878a8;height:0.8em;width:{160 * effect / longest:.0f}px"></div></td></tr>'
            for name, effect in shown.items()
        )
        head = "<tr><th>column</th><th>mean |effect|</th><th></th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def points_frame(points: Sequence[dict[str, Any]]) -> Any:
    """Inducing points as a ``pandas.DataFrame``: one row for each point and each of its nearest rows."""
    pandas = wanted("pandas", "`inspect`")
    rows: list[dict[str, Any]] = []
    taken = {*_OF_POINT, *_OF_NEAREST}
    for point in points:
        own = {name: point[name] for name in _OF_POINT if name in point}
        nearest: list[dict[str, Any]] = point.get("nearest") or [{}]
        for near in nearest:
            example: dict[str, Any] | str | None = near.get("example")
            known = {name: near.get(name) for name in _OF_NEAREST}
            cells = example.items() if isinstance(example, dict) else ()
            # Columns of ours keep their names; one of the data that is called the same gets a mark.
            rows.append({**own, **known, **{f"{name}_of_row" if name in taken else name: cell for name, cell in cells}})
    frame = pandas.DataFrame(rows)
    for name in frame.columns:
        # All values come as texts.
        with contextlib.suppress(ValueError, TypeError):
            frame[name] = pandas.to_numeric(frame[name])
    return frame
