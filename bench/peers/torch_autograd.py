"""Peer: one training step in PyTorch with automatic differentiation, the same arithmetic as ours."""

import math

import torch

import problem
import torch_model
from torch_model import rbf


def loss(phi, y, z, w, b, log_sigma, jitter):
    n = phi.shape[0]
    k_zz = rbf(z, z) + jitter * torch.eye(z.shape[0], dtype=z.dtype)                   # [M, M]
    k_zz_chol = torch.linalg.cholesky(k_zz)
    a = torch.linalg.solve_triangular(k_zz_chol, rbf(z, phi), upper=False)             # [M, N]  L^-1 K_zx
    r = torch.linalg.solve_triangular(k_zz_chol, (z @ w + b).unsqueeze(1), upper=False)  # [M, 1]  L^-1 r
    noise = torch.exp(2.0 * log_sigma) * torch.eye(n, dtype=z.dtype)
    s_chol = torch.linalg.cholesky(rbf(phi, phi) - a.T @ a + noise)                    # [N, N]
    e = y.unsqueeze(1) - a.T @ r                                                       # [N, 1]
    u = torch.linalg.solve_triangular(s_chol, e, upper=False)                          # [N, 1]
    return (0.5 * (u * u).sum() + s_chol.diagonal().log().sum()) / n + 0.5 * math.log(2.0 * math.pi)


class Peer:
    name = "torch autograd"

    def __init__(self, precision):
        self.model = torch_model.Model(precision)

    def step(self, i):
        m, rows = self.model, problem.batch_slice(i)
        m.adam.zero_grad()
        phi = m.encoder(m.x[rows]).to(m.dtype)
        value = loss(phi, m.y[rows], *m.head(), m.jitter)
        value.backward()
        m.adam.step()
        return value
