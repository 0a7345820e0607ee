"""The loss of `GPHead` as one node of the autograd graph: value and gradients from a single call of the Rust core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from . import _core


@dataclass(frozen=True)
class Call:
    """Everything of one evaluation that has no gradient."""

    objective: _core.HeadObjective
    dtype: torch.dtype
    y: Tensor
    weight: Tensor | None
    gradient: bool
    threads: int


class Loss(torch.autograd.Function):
    """Loss and all gradients in one call; `backward` only scales them."""

    @staticmethod
    def forward(
        ctx: Any,
        phi: Tensor,
        z: Tensor,
        w: Tensor,
        b: Tensor,
        log_sigma: Tensor | None,
        log_kernel: Tensor,
        call: Call,
        said: dict[str, float],
    ) -> Tensor:
        log_scale, log_shape = log_kernel.detach().cpu().to(torch.float64).tolist()
        loss, said["utilisation"], gradient = call.objective.evaluate(
            array_of(phi, call.dtype),
            array_of(call.y, call.dtype),
            None if call.weight is None else array_of(call.weight, torch.float64),
            array_of(z, call.dtype),
            array_of(w, call.dtype),
            array_of(b, call.dtype),
            None if log_sigma is None else array_of(log_sigma, torch.float64),
            (log_scale, log_shape),
            gradient=call.gradient,
            threads=call.threads,
        )
        if gradient is not None:
            inputs = (phi, z, w, b, log_sigma, log_kernel)
            ctx.save_for_backward(*(None if x is None else torch.from_numpy(g).to(x) for g, x in zip(gradient, inputs)))
        return phi.new_tensor(loss)

    @staticmethod
    def backward(ctx: Any, d_loss: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # silently a constant otherwise
            raise RuntimeError("head.loss has no second derivatives\nhint: leave out create_graph=True")
        return (*(None if d is None else d * d_loss.to(d) for d in ctx.saved_tensors), None, None)


def array_of(x: Tensor, dtype: torch.dtype) -> NDArray[Any]:
    """The numbers of a tensor on any device, for the Rust core."""
    array: NDArray[Any] = x.detach().to("cpu", dtype).contiguous().numpy()
    return array
