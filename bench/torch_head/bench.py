"""One step of `GPHead` beside the same head in plain PyTorch with automatic differentiation: `bench/torch_head/run`.

A step is the loss of a batch of features and all gradients: by the features, Z, w, b, the kernel and the noise.
"""

import argparse
import json
import math
import os
import time

import torch
from inducing.torch import GPHead
from torch import nn

# N, M, D, C; one output is a regression, ten are classes.
SIZES = [
    (256, 128, 16, 1),
    (256, 128, 64, 10),
    (256, 512, 64, 1),
    (512, 256, 32, 10),
    (512, 256, 64, 1),
    (1024, 128, 64, 1),
    (1024, 256, 16, 10),
    (1024, 512, 64, 10),
]
JITTER = {"f64": 1e-4, "f32": 1e-3}
DTYPE = {"f64": torch.float64, "f32": torch.float32}
BAR = 3.0


def rbf(a, b, log_kernel):
    squared = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * a @ b.T
    return torch.exp(log_kernel[0] - log_kernel[1].exp() * squared)


class PlainHead(nn.Module):
    """The same equations as anybody would write them: two triangular solves with the factor of K_zz."""

    def __init__(self, head, precision):
        super().__init__()
        dtype = DTYPE[precision]
        self.jitter, self.coupling = head.jitter, head.coupling
        for name in ("z", "w", "b", "log_kernel"):
            self.register_parameter(name, nn.Parameter(getattr(head, name).detach().to(dtype)))
        self.regression = head.task == "regression"
        if self.regression:
            self.log_sigma = nn.Parameter(head.log_sigma.detach().to(dtype))

    def loss(self, phi, y):
        phi, z = phi.to(self.z.dtype), self.z
        eye = torch.eye(len(z), dtype=z.dtype)
        k_zz_chol = torch.linalg.cholesky(rbf(z, z, self.log_kernel) + self.jitter * eye)            # [M, M]
        a = torch.linalg.solve_triangular(k_zz_chol, rbf(z, phi, self.log_kernel), upper=False)      # [M, N]
        r = torch.linalg.solve_triangular(k_zz_chol, z @ self.w + self.b, upper=False)               # [M, C]
        mean = a.T @ r                                                                               # [N, C]
        if self.coupling == "batch":
            return self.joint(phi, y, mean, a)
        var = (self.log_kernel[0].exp() - (a * a).sum(0)).clamp_min(0.0)[:, None]                    # [N, 1]
        if not self.regression:
            return nn.functional.cross_entropy(mean / (1.0 + math.pi / 8.0 * var).sqrt(), y)
        var = var + (2.0 * self.log_sigma).exp()
        e = y.to(z.dtype)[:, None] - mean
        return 0.5 * (e * e / var + var.log() + math.log(2.0 * math.pi)).sum(1).mean()

    def joint(self, phi, y, mean, a):
        noise = (2.0 * self.log_sigma).exp() * torch.eye(len(phi), dtype=phi.dtype)
        s_chol = torch.linalg.cholesky(rbf(phi, phi, self.log_kernel) - a.T @ a + noise)             # [N, N]
        e = torch.linalg.solve_triangular(s_chol, y.to(phi)[:, None] - mean, upper=False)            # [N, 1]
        return (0.5 * (e * e).sum() + s_chol.diagonal().log().sum()) / len(phi) + 0.5 * math.log(2.0 * math.pi)


def heads(size, precision, coupling):
    """Both heads, features in single precision as an encoder gives them, and targets."""
    n, m, d, c = size
    torch.manual_seed(0)
    kind = {"task": "regression"} if c == 1 else {"task": "classification", "classes": c}
    ours = GPHead(d, m, coupling=coupling, precision=precision, jitter=JITTER[precision], noise_floor=0.0, **kind)
    phi = torch.randn(max(n, m) + 64, d)
    ours.initialise(phi)
    if c == 1:
        y = torch.sin(phi[:n].sum(1)) + 0.3 * torch.randn(n)
        with torch.no_grad():
            ours.log_sigma.fill_(math.log(0.5))
    else:
        y = torch.randint(c, (n,))
    return ours, PlainHead(ours, precision), phi[:n].clone().requires_grad_(), y


def step(head, phi, y):
    phi.grad = None
    head.zero_grad()
    loss = head.loss(phi, y)
    loss.backward()
    return loss


def check(ours, plain, phi, y, tolerance):
    """Both compute the same, or there is nothing to compare."""
    seen = []
    for head in (ours, plain):
        loss = step(head, phi, y)
        gradients = {name: value.grad for name, value in head.named_parameters()}
        seen.append({"loss": loss.detach(), "phi": phi.grad, **gradients})
    assert seen[0].keys() == seen[1].keys()
    for name, a in seen[0].items():
        b = seen[1][name].to(a.dtype)
        error = (a - b).abs().max() / b.abs().max().clamp_min(1e-3)
        assert error < tolerance, f"{name}: {error:.1e}"


def best(head, phi, y, steps):
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step(head, phi, y)
        times.append(time.perf_counter() - start)
    return min(times)


def compare(size, precision, coupling, rounds, steps):
    """Best step of each side in seconds; rounds alternate, so that a slow moment meets both."""
    ours, plain, phi, y = heads(size, precision, coupling)
    # f64: gradients come back in the features' single precision. f32: both sides lose digits in the factorisation.
    check(ours, plain, phi, y, 1e-5 if precision == "f64" else 5e-2)
    times = [(best(ours, phi, y, steps), best(plain, phi, y, steps)) for _ in range(rounds)]
    return min(a for a, _ in times), min(b for _, b in times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--core", type=int, help="pin to this core")
    arguments = parser.parse_args()
    if arguments.core is not None:
        os.sched_setaffinity(0, {arguments.core})
    torch.set_num_threads(1)
    rows = [(size, precision, "rows") for precision in ("f64", "f32") for size in SIZES]
    rows += [((128, 512, 64, 1), precision, "batch") for precision in ("f64", "f32")]
    if not arguments.json:
        print(f"torch {torch.__version__}, one thread, best of {arguments.rounds} x {arguments.steps} steps\n")
        print(f"{'':28}{'N':>5}{'M':>5}{'D':>4}{'C':>4}{'ours':>11}{'PyTorch':>11}{'ratio':>8}")
    low = []
    for size, precision, coupling in rows:
        task = "regression" if size[3] == 1 else "classification"
        name = f"{task}, {coupling}, {precision}"
        if arguments.only not in name:
            continue
        ours, plain = compare(size, precision, coupling, arguments.rounds, arguments.steps)
        ratio = plain / ours
        low += [name] * (ratio < BAR)
        if arguments.json:
            sizes = dict(zip("NMDC", size))
            print(json.dumps({"row": name, **sizes, "ours_ms": 1e3 * ours, "torch_ms": 1e3 * plain, "ratio": ratio}))
        else:
            n, m, d, c = size
            print(f"{name:28}{n:5}{m:5}{d:4}{c:4}{1e3 * ours:8.2f} ms{1e3 * plain:8.2f} ms{ratio:8.1f}", flush=True)
    if low:
        raise SystemExit(f"below the bar of {BAR:g}: {'; '.join(low)}")


if __name__ == "__main__":
    main()
