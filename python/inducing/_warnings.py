"""What a model has to say becomes warnings of one category, each once, with hints in Python's words."""

import inspect
import os
import re
import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

_PACKAGE = os.path.dirname(__file__) + os.sep

# The core speaks of the command's flags. A column's name may be anything but a backquote.
_IN_PYTHON: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"`--set (data\.columns)\.([^`=]+)=([a-z_]+)`"), r'`columns={"\2": "\3"}`'),
    (re.compile(r"`--set ([a-z_.]+)=([^`]*)`"), r'`config={"\1": "\2"}`'),
    (re.compile(r"`--ignore ([^`]+)`"), r'`ignore=["\1"]`'),
    (re.compile(r"`--time-column ([^`]+)`"), r'`time_column="\1"`'),
    (re.compile(r"`--bounds ([^`]+)`"), r'`bounds="\1"`'),
    (re.compile(r"(leave|take) `--task regression` out"), "use `IGNClassifier`"),
    (re.compile(r"(pass|say) `--task regression`"), "use `IGNRegressor`"),
    (re.compile(r"(pass|say) `--task classification`"), "use `IGNClassifier`"),
    (re.compile(r"`--task regression`"), "`IGNRegressor`"),
    (re.compile(r"`--task classification`"), "`IGNClassifier`"),
    (re.compile(r"name it with `--target` or `data\.target`"), "give it as `y` or `target`"),
    (re.compile(r"`--(bounds|ignore|group|time-column)`"), lambda flag: f"`{flag[1].replace('-', '_')}`"),
)


class InducingWarning(UserWarning):
    """Something about the data that may spoil a model or a prediction: a leak, rows unlike the training rows, ...

    Examples
    --------
    >>> import warnings
    >>> from inducing import InducingWarning
    >>> warnings.simplefilter("ignore", InducingWarning)  # be quiet
    """


def in_python(message: str) -> str:
    """The message with hints that Python understands.

    >>> in_python("leave it out with `--ignore id`")
    'leave it out with `ignore=["id"]`'
    """
    for flag, keyword in _IN_PYTHON:
        message = flag.sub(keyword, message)
    return message


@contextmanager
def errors_in_python() -> Generator[None, None, None]:
    """Errors of the core with hints that Python understands."""
    try:
        yield
    except ValueError as error:
        message = in_python(str(error))
        if message == str(error):
            raise
        raise ValueError(message) from None


def warn_all(messages: Iterable[str], category: type[Warning] = InducingWarning) -> None:
    """Each message once, as a warning at the line that called the package."""
    level = _caller()
    for message in dict.fromkeys(messages):
        warnings.warn(in_python(message), category, stacklevel=level)


def _caller() -> int:
    """The `stacklevel` of the first frame outside this package, for a warning from this module's functions."""
    level = 1
    frame = inspect.currentframe()
    frame = frame and frame.f_back
    while frame is not None and frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level
