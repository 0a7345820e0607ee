"""What `GPHead` accepts: each check returns the argument in the form that the head computes with, or says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool)
FLOATS = (torch.float32, torch.float64)


def error(what: str, hint: str) -> ValueError:
    """An error in the form of the library's: what is wrong, and what to do."""
    return ValueError(f"{what}\nhint: {hint}")


def one_of(name: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a word that is not among the choices."""
    if value not in choices:
        raise error(f"`{name}` is {value!r}", f"choose one of {', '.join(map(repr, choices))}")


def size(name: str, value: int, least: int) -> None:
    """Refuse what is not a whole number from `least` on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise error(f"`{name}` is {value!r}", f"give a whole number from {least} on")


def positive(name: str, value: float, *, zero: bool = False) -> None:
    """Refuse what is not a positive finite number."""
    if not (math.isfinite(value) and (value > 0 or (zero and value == 0))):
        raise error(f"`{name}` is {value!r}", f"give a finite number {'not below' if zero else 'above'} 0")


def _tensor(name: str, value: Any) -> None:
    if not isinstance(value, torch.Tensor):
        raise error(f"`{name}` is of type {type(value).__name__}, not a tensor", f"pass torch.as_tensor({name})")
    if value.is_meta:
        raise error(f"`{name}` is on the device `meta`, where no numbers are", "compute it on a real device")


def features(phi: Tensor, width: int) -> None:
    """Refuse anything but finite features [N, D] in single or double precision."""
    _tensor("features", phi)
    if phi.dtype not in FLOATS:
        hint = "pass features.float(), outside of torch.autocast; the head itself computes in double precision"
        raise error(f"`features` are {phi.dtype}; expected torch.float32 or torch.float64", hint)
    if phi.ndim != 2 or phi.shape[1] != width:
        hint = "flatten or pool the encoder's output to one row of features per input, or build the head with its width"
        raise error(f"`features` have the shape {list(phi.shape)}; expected [N, {width}]", hint)
    if phi.shape[0] == 0:
        raise error("`features` have no rows", "leave empty batches out")
    if not bool(torch.isfinite(phi).all()):
        row, column = torch.nonzero(~torch.isfinite(phi))[0].tolist()
        hint = "look for extreme or missing inputs in this row, lower the learning rate, or clip gradients"
        raise error(f"row {row}: feature {column} is {phi[row, column].item()}", hint)


def labels(y: Tensor, rows: int, classes: int) -> Tensor:
    """Labels [N] as integers, each of them below `classes`."""
    _tensor("y", y)
    if y.dtype not in INTEGERS:
        hint = "pass class indices as integers, y.long(); of one-hot rows, y.argmax(1)"
        raise error(f"`y` is {y.dtype}; expected the class of each row as an integer", hint)
    if tuple(y.shape) != (rows,):
        raise error(f"`y` has the shape {list(y.shape)}; expected [{rows}]", "pass one class index for each row of features")
    y = y.detach().to("cpu", torch.int64)
    wrong = (y < 0) | (y >= classes)
    if bool(wrong.any()):
        row = int(torch.nonzero(wrong)[0])
        hint = f"labels are the integers from 0 to {classes - 1}; `classes` says how many there are"
        raise error(f"row {row}: label {int(y[row])} of {classes} classes", hint)
    return y


def targets(y: Tensor, rows: int, outputs: int) -> Tensor:
    """Targets [N, C] in double precision."""
    _tensor("y", y)
    if y.is_complex() or y.dtype == torch.bool:
        raise error(f"`y` is {y.dtype}; expected numbers", 'pass y.float(), or build the head with task="classification"')
    shapes = [(rows, outputs)] + [(rows,)] * (outputs == 1)
    if tuple(y.shape) not in shapes:
        expected = " or ".join(str(list(shape)) for shape in reversed(shapes))
        raise error(f"`y` has the shape {list(y.shape)}; expected {expected}", "`outputs` says how many targets a row has")
    y = y.detach().to("cpu", torch.float64).reshape(rows, outputs)
    if not bool(torch.isfinite(y).all()):
        row, column = torch.nonzero(~torch.isfinite(y))[0].tolist()
        raise error(f"row {row}: target {y[row, column].item()}", "leave out rows without a target")
    return y


def weights(weight: Tensor | None, rows: int) -> Tensor | None:
    """Weights [N] in double precision: finite, not negative, not all zero."""
    if weight is None:
        return None
    _tensor("weight", weight)
    if tuple(weight.shape) != (rows,):
        raise error(f"`weight` has the shape {list(weight.shape)}; expected [{rows}]", "pass one weight for each row")
    weight = weight.detach().to("cpu", torch.float64)
    wrong = ~(torch.isfinite(weight) & (weight >= 0))
    if bool(wrong.any()):
        row = int(torch.nonzero(wrong)[0])
        raise error(f"row {row}: weight {weight[row].item()}", "weights are finite and not negative")
    if not bool(weight.any()):
        raise error("all weights of the batch are zero", "leave such batches out")
    return weight
