"""Peer: one training step in JAX, value_and_grad and Adam in one jit with donated buffers. For information: no target."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

import problem

jax.config.update("jax_enable_x64", True)  # every array below names its type, so f32 stays f32
jax.config.update("jax_platforms", "cpu")


def rbf(a, b):
    squared = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2.0 * a @ b.T
    return jnp.exp(-jnp.maximum(squared, 0.0))


def head_loss(phi, y, z, w, b, log_sigma, jitter):
    n = phi.shape[0]
    k_zz_chol = jnp.linalg.cholesky(rbf(z, z) + jitter * jnp.eye(z.shape[0], dtype=z.dtype))
    a = solve_triangular(k_zz_chol, rbf(z, phi), lower=True)                           # [M, N]
    r = solve_triangular(k_zz_chol, z @ w + b, lower=True)                             # [M]
    s = rbf(phi, phi) - a.T @ a + jnp.exp(2.0 * log_sigma) * jnp.eye(n, dtype=z.dtype)
    s_chol = jnp.linalg.cholesky(s)
    u = solve_triangular(s_chol, y - a.T @ r, lower=True)                              # [N]
    return (0.5 * u @ u + jnp.log(jnp.diagonal(s_chol)).sum()) / n + 0.5 * math.log(2.0 * math.pi)


def encode(layers, x):
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight + bias
        if i + 1 < len(layers):
            x = jax.nn.relu(x)
    return x


class Peer:
    name = "jax jit"

    def __init__(self, precision):
        p = problem.make(precision)
        dtype, jitter = problem.DTYPE[precision], problem.JITTER[precision]
        params = {"layers": p.layers, "z": p.z, "w": p.w, "b": dtype(p.b), "log_sigma": dtype(p.log_sigma)}
        self.params = jax.tree.map(jnp.array, params)
        self.first = jax.tree.map(jnp.zeros_like, self.params)
        self.second = jax.tree.map(jnp.zeros_like, self.params)
        self.x, self.y = p.x, p.y

        def loss(params, x, y):
            phi = encode(params["layers"], x).astype(dtype)
            return head_loss(phi, y, params["z"], params["w"], params["b"], params["log_sigma"], jitter)

        def update(params, first, second, count, x, y):
            value, gradient = jax.value_and_grad(loss)(params, x, y)
            first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
            second = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, second, gradient)

            def move(p, m, s):
                m = m / (1.0 - 0.9 ** count).astype(m.dtype)
                s = s / (1.0 - 0.999 ** count).astype(s.dtype)
                return p - problem.LEARNING_RATE * m / (jnp.sqrt(s) + 1e-8)

            return jax.tree.map(move, params, first, second), first, second, value

        self.update = jax.jit(update, donate_argnums=(0, 1, 2))

    def step(self, i):
        rows = problem.batch_slice(i)
        self.params, self.first, self.second, value = self.update(
            self.params, self.first, self.second, np.float64(i + 1), self.x[rows], self.y[rows])
        return value.block_until_ready()
