"""Before any timing: the peers compute the same thing. Loss and gradients of the head in f64, on the first batch."""

import jax
import numpy as np
import torch

import jax_jit
import torch_autograd
import torch_hand
import torch_laplace
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
    demand(("torch hand-derived", "jax"), worst)
    return worst


def class_agreement(inducing):
    """Largest relative deviation from the class-step's gradient of (differences, a differentiable Newton step, hand-derived)."""
    m = torch_laplace.Model("f64", inducing)
    y = m.y[:problem.BATCH].T
    leaves = (m.phi.clone().requires_grad_(), *m.head)
    settings = m.settings[0], 1e-9  # a mode exact enough for differences of the loss

    def at(points, function=torch_laplace.loss):
        return function(points[0], y, *points[1:], *settings)

    value, surrogate = at(leaves)
    expected = [value, *torch.autograd.grad(surrogate, leaves)]
    newton, _ = at(leaves, torch_laplace.loss_by_newton)
    newton = [newton.detach(), *torch.autograd.grad(newton, leaves)]
    hand = at(leaves, torch_laplace.loss_and_gradients)

    # Along one random direction in all variables; five points, so the error is h^4.
    generator, h = torch.Generator().manual_seed(0), 1e-3
    direction = [0.1 * torch.randn(leaf.shape, generator=generator, dtype=leaf.dtype) for leaf in leaves]
    slope = sum((g * d).sum() for g, d in zip(expected[1:], direction))
    with torch.no_grad():
        f = {k: at([leaf + k * h * d for leaf, d in zip(leaves, direction)])[0] for k in (-2, -1, 1, 2)}
    differences = [(8.0 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12.0 * h)]
    worst = [max(deviation(a, b) for a, b in zip(found, reference))
             for found, reference in ((differences, [slope]), (newton, expected), (hand, expected))]
    demand([f"class-step M={inducing}: {name}" for name in ("differences", "a differentiable Newton step", "hand-derived")], worst)
    return worst


def demand(names, deviations):
    for name, value in zip(names, deviations):
        if not value < TOLERANCE:
            raise SystemExit(f"{name} and torch autograd differ by {value:.1e} (allowed: {TOLERANCE:.0e}); timings would mean nothing")
