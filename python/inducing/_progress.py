"""Where training stands: a bar where tqdm is installed, otherwise plain lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ._warnings import in_python

if TYPE_CHECKING:
    from ._core import Progress

# Plain lines come at every such share of the work.
_LINES = 10


class Reporter:
    """Shows progress between `with` and its end; silent where `verbose` is 0."""

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self._bar: Any = None
        self._shown = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()

    @property
    def listener(self) -> Callable[[Progress], object] | None:
        """What the core calls; nothing where nobody looks."""
        return self._show if self._verbose else None

    def _show(self, event: Progress) -> None:
        for notice in event["notices"]:
            self._say(f"note: {in_python(notice)}")
        done, planned = event["done"], event["planned"]
        if planned <= 0:
            return
        if self._bar is None and self._shown < 0:
            self._bar = _new_bar(planned)
        text = f"{event['phase']}, loss {event['loss']:.4g}"
        if self._bar is not None:
            self._bar.total = planned
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(done - self._bar.n)
        elif done * _LINES // planned > self._shown:
            self._say(f"{100 * done // planned:3} %  {text}")
        self._shown = max(self._shown, done * _LINES // planned)

    def _say(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr)


def _new_bar(planned: int) -> Any:
    try:
        auto: Any = import_module("tqdm.auto")
    except ImportError:
        return None
    return auto.tqdm(total=planned, unit="step", desc="training", leave=False)
