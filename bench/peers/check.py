"""Before any timing: the peers compute the same thing. Loss and gradients of the head in f64, on the first batch."""

import jax
import numpy as np
import torch

import jax_jit
import torch_autograd
import torch_hand
import torch_model
import problem

# In f64 with jitter 1e-4 the condition number is below 1e7; the ways of summing differ by 1e-16 of it.
TOLERANCE = 1e-8


def deviation(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-12))


def head_agreement():
    """Largest relative deviation from torch autograd of (the hand-derived head, jax)."""
    m = torch_model.Model("f64")
    phi, y = m.phi.clone().requires_grad_(), m.y[:problem.BATCH]
    leaves = (phi, *m.head())
    value = torch_autograd.loss(phi, y, *m.head(), m.jitter)
    expected = [value.detach(), *torch.autograd.grad(value, leaves)]
    hand = torch_hand.loss_and_gradients(phi, y, *m.head(), m.jitter)

    arguments = [np.asarray(t.detach()) for t in leaves]
    jax_value, jax_gradients = jax.value_and_grad(jax_jit.head_loss, argnums=(0, 2, 3, 4, 5))(
        arguments[0], np.asarray(y), *arguments[1:], m.jitter)
    worst = [max(deviation(a, b) for a, b in zip(found, expected)) for found in (hand, [jax_value, *jax_gradients])]
    for name, value in zip(("torch hand-derived", "jax"), worst):
        if not value < TOLERANCE:
            raise SystemExit(f"{name} and torch autograd differ by {value:.1e} (allowed: {TOLERANCE:.0e}); timings would mean nothing")
    return worst
