"""Peer: one training step in PyTorch with our hand-derived gradient of the head; autograd for the encoder alone."""

import math

import torch

import problem
import torch_model
from torch_model import rbf


@torch.no_grad()
def loss_and_gradients(phi, y, z, w, b, log_sigma, jitter):
    """Loss, then gradients in the order phi, z, w, b, log_sigma; no derivative of a Cholesky factor."""
    n = phi.shape[0]
    k_zz = rbf(z, z)                                                                   # [M, M]  without jitter
    k_zx, k_xx = rbf(z, phi), rbf(phi, phi)                                            # [M, N], [N, N]
    jittered = k_zz.clone()
    jittered.diagonal().add_(jitter)
    chol = torch.linalg.cholesky(jittered)
    a = torch.linalg.solve_triangular(chol, k_zx, upper=False)                         # [M, N]  L^-1 K_zx
    big_b = torch.linalg.solve_triangular(chol.mT, a, upper=True)                      # [M, N]  K_zz^-1 K_zx
    r = (z @ w + b).unsqueeze(1)                                                       # [M, 1]
    alpha = torch.cholesky_solve(r, chol).squeeze(1)                                   # [M]
    s = torch.addmm(k_xx, a.T, a, alpha=-1.0)                                          # [N, N]
    variance = torch.exp(2.0 * log_sigma)
    s.diagonal().add_(variance)
    s_chol = torch.linalg.cholesky(s)
    e = y - k_zx.T @ alpha                                                             # [N]
    v = torch.cholesky_solve(e.unsqueeze(1), s_chol).squeeze(1)                        # [N]
    value = (0.5 * e.dot(v) + s_chol.diagonal().log().sum()) / n + 0.5 * math.log(2.0 * math.pi)

    d_mean = v / -n                                                                    # [N]
    g = (torch.cholesky_inverse(s_chol) - torch.outer(v, v)) * (0.5 / n)               # [N, N]  = d_k_xx
    bg = big_b @ g                                                                     # [M, N]
    d_r = big_b @ d_mean                                                               # [M]
    half = torch.outer(alpha, d_r)
    d_k_zz = torch.addmm(half + half.T, bg, big_b.T, beta=-0.5)                        # [M, M]
    d_k_zx = torch.addr(bg, alpha, d_mean, beta=-2.0)                                  # [M, N]

    # dk/da = -2 k (a - b); a symmetric Gram matrix counts twice.
    t_zz, t_zx, t_xx = d_k_zz.mul_(k_zz), d_k_zx.mul_(k_zx), g * k_xx
    d_z = 4.0 * (t_zz @ z) + 2.0 * (t_zx @ phi) - (4.0 * t_zz.sum(1) + 2.0 * t_zx.sum(1)).unsqueeze(1) * z
    d_phi = 4.0 * (t_xx @ phi) + 2.0 * (t_zx.T @ z) - (4.0 * t_xx.sum(1) + 2.0 * t_zx.sum(0)).unsqueeze(1) * phi
    d_z += torch.outer(d_r, w)
    return value, d_phi, d_z, z.T @ d_r, d_r.sum(), 2.0 * variance * g.trace()


class Peer:
    name = "torch hand-derived"

    def __init__(self, precision):
        self.model = torch_model.Model(precision)

    def step(self, i):
        m, rows = self.model, problem.batch_slice(i)
        m.adam.zero_grad()
        phi = m.encoder(m.x[rows])
        value, d_phi, *d_head = loss_and_gradients(phi.detach().to(m.dtype), m.y[rows], *m.head(), m.jitter)
        phi.backward(d_phi.to(phi.dtype))
        for parameter, gradient in zip(m.head(), d_head):
            parameter.grad = gradient
        m.adam.step()
        return value
