"""Peers: one training step of the shared many-class head (probit, Laplace over the batch) in PyTorch.

For each class: prior N(a, K) of the batch, y in {-1, +1}, mode f, u = (log p)'(f) = K^-1 (f - a), W = -(log p)''(f):

    log Z = log p(y|f) - 1/2 u'(f - a) - 1/2 log|I + WK|                              (R & W, alg. 5.1, with a mean)
    d_a   = u + q        d_K = 1/2 (u u' - R) + sym(q u')        X = (I + WK)^-1,  R = X W,  q = X t
    t     = 1/2 diag((K^-1 + W)^-1) (log p)'''  =  1/2 (1 - diag X) (log p)''' / W

The loss sees a and K only, so constants d_a, d_K and the inner product <d_a, a> + <d_K, K> give autograd the whole gradient,
with the part through the mode. Nothing is unrolled and no factor of the classes' matrices is differentiated; the way with
a differentiable last Newton step, `loss_by_newton`, is slower and serves the check. LU of I + WK in place of Cholesky of
its symmetric form: at this size PyTorch is faster with it (f32: 0.95 ms for ten solves, against 1.5).
"""

import math

import torch

import class_problem
import problem
import torch_model
from torch_model import rbf

# Largest last step. Newton squares it: 1e-10 and 1e-6 remain in the mode.
TOLERANCE = {torch.float64: 1e-5, torch.float32: 1e-3}
ROOT_2_OVER_PI = math.sqrt(2.0 / math.pi)


def hazard(z):
    """phi(z) / Phi(z), without overflow or cancellation at either end."""
    return ROOT_2_OVER_PI / torch.special.erfcx(z * -math.sqrt(0.5))


def slopes(y, f):
    """(log p)' [C, N], W [C, N] and (log p)''' / W [C, N]."""
    z = y * f
    n = hazard(z)
    s = z + n
    return y * n, n * s, y * (s + n - s.reciprocal())


def identity_plus(w, cov):
    """I + WK of each class, [C, N, N]."""
    matrix = w.unsqueeze(2) * cov
    matrix.diagonal(dim1=1, dim2=2).add_(1.0)
    return matrix


def newton_step(mean, cov, y, f):
    """The next f, and u with f = a + K u; all [C, N]."""
    gradient, w, _ = slopes(y, f)
    u = torch.linalg.solve_ex(identity_plus(w, cov), w * (f - mean) + gradient).result
    return mean + u @ cov, u


@torch.no_grad()
def mode(mean, cov, y, tolerance):
    """f and u [C, N]. Full steps: from f = a they converge on everything that this problem has shown."""
    f = mean
    for _ in range(50):
        before, (f, u) = f, newton_step(mean, cov, y, f)
        if (f - before).abs().max() < tolerance:
            return f, u
    raise SystemExit("Newton's method found no mode in 50 steps")


@torch.no_grad()
def log_z_and_gradients(mean, cov, y, tolerance):
    """Sum over classes of log Z, its gradient by the means [C, N], and by K [N, N]."""
    f, _ = mode(mean, cov, y, tolerance)
    u, w, third = slopes(y, f)
    lu, pivots, _ = torch.linalg.lu_factor_ex(identity_plus(w, cov))
    value = (torch.special.log_ndtr(y * f).sum() - 0.5 * (u * (f - mean)).sum()
             - 0.5 * lu.diagonal(dim1=1, dim2=2).abs().log().sum())
    x = torch.linalg.lu_solve(lu, pivots, torch.eye(f.shape[1], dtype=f.dtype).expand_as(lu))  # [C, N, N]
    t = 0.5 * (1.0 - x.diagonal(dim1=1, dim2=2)) * third                               # [C, N]
    q = (x @ t.unsqueeze(2)).squeeze(2)                                                # [C, N]
    r = x.mul_(w.unsqueeze(1)).sum(0)                                                  # [N, N]  summed over classes
    cross = (0.5 * u + q).T @ u - 0.5 * r
    return value, u + q, 0.5 * (cross + cross.T)


def conditional(phi, z, w, b, jitter):
    """Means [C, N] and covariance [N, N] of the batch given the inducing points."""
    n = phi.shape[0]
    k_zz = rbf(z, z) + jitter * torch.eye(z.shape[0], dtype=z.dtype)                   # [M, M]
    chol = torch.linalg.cholesky_ex(k_zz).L
    both = torch.linalg.solve_triangular(chol, torch.cat((rbf(z, phi), z @ w + b), 1), upper=False)  # [M, N + C]
    a, r = both[:, :n], both[:, n:]
    return r.T @ a, rbf(phi, phi) - a.T @ a


def loss(phi, y, z, w, b, jitter, tolerance):
    """Value, and a scalar with the loss's gradient."""
    mean, cov = conditional(phi, z, w, b, jitter)
    value, d_mean, d_cov = log_z_and_gradients(mean.detach(), cov.detach(), y, tolerance)
    n = phi.shape[0]
    return value / -n, ((mean * d_mean).sum() + (cov * d_cov).sum()) / -n


def loss_by_newton(phi, y, z, w, b, jitter, tolerance):
    """The same by autograd alone: one more Newton step at the mode, differentiated, and log Z written out."""
    mean, cov = conditional(phi, z, w, b, jitter)
    f, u = newton_step(mean, cov, y, mode(mean.detach(), cov.detach(), y, tolerance)[0])
    value = (torch.special.log_ndtr(y * f).sum() - 0.5 * (u * (f - mean)).sum()
             - 0.5 * torch.linalg.slogdet(identity_plus(slopes(y, f)[1], cov)).logabsdet.sum()) / -phi.shape[0]
    return value, value


@torch.no_grad()
def loss_and_gradients(phi, y, z, w, b, jitter, tolerance):
    """Loss, then gradients in the order phi, z, w, b by our formulas throughout, as in torch_hand.py."""
    n = phi.shape[0]
    k_zz, k_zx, k_xx = rbf(z, z), rbf(z, phi), rbf(phi, phi)                           # [M, M], [M, N], [N, N]
    jittered = k_zz.clone()
    jittered.diagonal().add_(jitter)
    chol = torch.linalg.cholesky_ex(jittered).L
    a = torch.linalg.solve_triangular(chol, k_zx, upper=False)                         # [M, N]  L^-1 K_zx
    big_b = torch.linalg.solve_triangular(chol.mT, a, upper=True)                      # [M, N]  K_zz^-1 K_zx
    r = z @ w + b                                                                      # [M, C]
    alpha = torch.cholesky_solve(r, chol)                                              # [M, C]
    value, d_mean, g = log_z_and_gradients(alpha.T @ k_zx, torch.addmm(k_xx, a.T, a, alpha=-1.0), y, tolerance)
    d_mean, g = d_mean / -n, g / -n                                                    # [C, N], [N, N]

    bg = big_b @ g                                                                     # [M, N]
    d_r = big_b @ d_mean.T                                                             # [M, C]
    half = alpha @ d_r.T
    d_k_zz = torch.addmm(half + half.T, bg, big_b.T, beta=-0.5)                        # [M, M]
    d_k_zx = torch.addmm(bg, alpha, d_mean, beta=-2.0)                                 # [M, N]
    # dk/da = -2 k (a - b); a symmetric Gram matrix counts twice.
    t_zz, t_zx, t_xx = d_k_zz.mul_(k_zz), d_k_zx.mul_(k_zx), g * k_xx
    d_z = 4.0 * (t_zz @ z) + 2.0 * (t_zx @ phi) - (4.0 * t_zz.sum(1) + 2.0 * t_zx.sum(1)).unsqueeze(1) * z
    d_phi = 4.0 * (t_xx @ phi) + 2.0 * (t_zx.T @ z) - (4.0 * t_xx.sum(1) + 2.0 * t_zx.sum(0)).unsqueeze(1) * phi
    d_z += d_r @ w.T
    return value / -n, d_phi, d_z, z.T @ d_r, d_r.sum(0)


class Model:
    """Parameters as leaves, data as tensors, Adam over everything."""

    def __init__(self, precision, inducing):
        p = class_problem.make(precision, inducing)
        self.dtype = torch_model.DTYPE[precision]
        self.settings = problem.JITTER[precision], TOLERANCE[self.dtype]
        self.encoder = torch_model.encoder(p.layers)
        self.head = [torch.from_numpy(t).clone().requires_grad_() for t in (p.z, p.w, p.b)]  # [M, D], [D, C], [C]
        self.x, self.y, self.phi = torch.from_numpy(p.x), torch.from_numpy(p.y), torch.from_numpy(p.phi)
        self.adam = torch.optim.Adam(
            [*self.encoder.parameters(), *self.head], lr=problem.LEARNING_RATE, fused=True)


class Peer:
    name = "torch autograd"

    def __init__(self, precision, inducing):
        self.model = Model(precision, inducing)

    def step(self, i):
        m, rows = self.model, class_problem.batch_slice(i)
        m.adam.zero_grad()
        value, surrogate = loss(m.encoder(m.x[rows]).to(m.dtype), m.y[rows].T, *m.head, *m.settings)
        surrogate.backward()
        m.adam.step()
        return value


class HandPeer(Peer):
    name = "torch hand-derived"

    def step(self, i):
        m, rows = self.model, class_problem.batch_slice(i)
        m.adam.zero_grad()
        phi = m.encoder(m.x[rows])
        value, d_phi, *d_head = loss_and_gradients(phi.detach().to(m.dtype), m.y[rows].T, *m.head, *m.settings)
        phi.backward(d_phi.to(phi.dtype))
        for parameter, gradient in zip(m.head, d_head):
            parameter.grad = gradient
        m.adam.step()
        return value
