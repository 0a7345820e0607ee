"""`inducing.torch`: loss and gradients against plain PyTorch, states, refusals, posteriors against dense computations."""

from __future__ import annotations

import copy
import doctest
import io
import math
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import inducing.torch  # noqa: E402
from inducing import _torch_refit as refit  # noqa: E402
from inducing.torch import GPHead  # noqa: E402
from torch import Tensor, nn  # noqa: E402

KERNELS = ["rbf", "matern32", "matern52", "linear"]
F64 = torch.float64


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


# ---- the same head in plain PyTorch, from the equations ----------------------------------------------------------------


def kernel_of(family: str, log_kernel: Tensor, a: Tensor, b: Tensor) -> Tensor:
    s, shape = log_kernel.exp()
    if family == "linear":
        return s * a @ b.T + shape
    squared = (a[:, None, :] - b[None, :, :]).square().sum(2)
    if family == "rbf":
        return s * torch.exp(-shape * squared)
    # The root has no slope at zero: such pairs are the diagonal, where the kernel is s.
    d = torch.where(squared > 0, squared, 1.0).sqrt() * (squared > 0)
    if family == "matern32":
        u = math.sqrt(6.0) * shape.sqrt() * d
        return s * (1 + u) * torch.exp(-u)
    u = math.sqrt(10.0) * shape.sqrt() * d
    return s * (1 + u + u * u / 3) * torch.exp(-u)


def dense_latent(head: GPHead, phi: Tensor) -> tuple[Tensor, Tensor]:
    """Mean [N, C] and covariance [N, N] by an inverse."""
    z, w, b, k = (x.double() for x in (head.z, head.w, head.b, head.log_kernel))
    k_zz = kernel_of(head.kernel, k, z, z) + head.jitter * torch.eye(len(z), dtype=F64)
    k_xz = kernel_of(head.kernel, k, phi, z) @ torch.linalg.inv(k_zz)
    return k_xz @ (z @ w + b), kernel_of(head.kernel, k, phi, phi) - k_xz @ kernel_of(head.kernel, k, z, phi)


def row_losses(head: GPHead, mean: Tensor, var: Tensor, y: Tensor) -> Tensor:
    """Of rows that are not coupled."""
    if head.task == "regression":
        noise = (2 * head.log_sigma.double()).exp() + head.noise_floor**2
        return -torch.distributions.Normal(mean, (var[:, None] + noise).sqrt()).log_prob(y).sum(1)
    s = mean / (1 + var * (1 if head.link == "probit" else math.pi / 8)).sqrt()[:, None]
    if head.link == "logit":
        if s.shape[1] == 1:
            return nn.functional.binary_cross_entropy_with_logits(s[:, 0], y.double(), reduction="none")
        return nn.functional.cross_entropy(s, y, reduction="none")
    if s.shape[1] == 1:
        return -torch.special.log_ndtr(s[:, 0] * (2 * y - 1))
    weight = torch.distributions.Normal(0, 1).cdf(s)
    return -(weight / weight.sum(1, keepdim=True)).gather(1, y[:, None])[:, 0].log()


def evidence(mean: Tensor, cov: Tensor, sign: Tensor) -> Tensor:
    """Laplace's approximation of log ∫ Π Φ(y f) N(f; mean, cov) df, with plain Newton steps on f = mean + cov β."""

    def log_p(f: Tensor) -> Tensor:
        return torch.special.log_ndtr(sign * f).sum()

    beta = torch.zeros_like(mean)
    for _ in range(60):
        f = mean + cov @ beta
        u = torch.autograd.functional.jacobian(log_p, f)
        w = -torch.autograd.functional.hessian(log_p, f).diagonal()
        step = torch.linalg.solve(torch.eye(len(f), dtype=F64) + w[:, None] * cov, u - beta)
        beta = beta + step
    root = w.sqrt()
    b = torch.eye(len(f), dtype=F64) + root[:, None] * cov * root
    return log_p(f) - 0.5 * beta @ cov @ beta - 0.5 * torch.logdet(b)


def naive_loss(head: GPHead, phi: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    mean, cov = dense_latent(head, phi)
    if head.coupling == "rows":
        losses = row_losses(head, mean, cov.diagonal(), y)
        return losses.mean() if weight is None else (weight * losses).sum() / weight.sum()
    total = torch.zeros((), dtype=F64)
    for c in range(head.outputs):
        if head.task == "regression":
            noise = (2 * head.log_sigma.double()[c]).exp() + head.noise_floor**2
            normal = torch.distributions.MultivariateNormal(mean[:, c], cov + noise * torch.eye(len(phi), dtype=F64))
            total = total - normal.log_prob(y[:, c])
        else:
            own = 1 if head.outputs == 1 else c
            total = total - evidence(mean[:, c].detach(), cov.detach(), torch.where(y == own, 1.0, -1.0).double())
    return total / len(phi)


def problem(task: str, kernel: str = "rbf", *, rows: int = 12, seed: int = 0, **options: Any) -> tuple[GPHead, Tensor, Tensor]:
    """A head in double precision with features and targets; no number is special."""
    torch.manual_seed(seed)
    kind: dict[str, Any] = {"outputs": 2} if task == "regression" else {"classes": options.pop("classes", 3)}
    inducing = 4 if kernel == "linear" else 5  # beyond its rank, D + 1, the jitter alone is in the way
    options = {"features": 3, "inducing": inducing, "jitter": 1e-4, "noise": 0.4, "noise_floor": 0.2, **options}
    head = GPHead(task=task, kernel=kernel, dtype=F64, **kind, **options)
    with torch.no_grad():
        head.log_kernel.copy_(torch.tensor([0.2, -0.7]))
        head.b.uniform_(-1, 1)
        if task == "regression":
            head.log_sigma.uniform_(-1.5, -0.5)
    phi = torch.randn(rows, head.features, dtype=F64)
    y = torch.randn(rows, 2, dtype=F64) if task == "regression" else torch.randint(head.classes, (rows,))
    return head, phi, y


VARIANTS = [
    ("regression", {"coupling": "rows"}),
    ("regression", {"coupling": "batch"}),
    ("classification", {"classes": 2, "link": "logit"}),
    ("classification", {"classes": 3, "link": "logit"}),
    ("classification", {"classes": 2, "link": "probit"}),
    ("classification", {"classes": 3, "link": "probit"}),
    ("classification", {"classes": 2, "coupling": "batch"}),
    ("classification", {"classes": 3, "coupling": "batch"}),
]
NAMES = ["-".join(str(x) for x in (task, *options.values())) for task, options in VARIANTS]


# ---- loss and gradients ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("task", "options"), VARIANTS, ids=NAMES)
def test_the_loss_equals_plain_pytorch(task: str, options: dict[str, Any], kernel: str) -> None:
    head, phi, y = problem(task, kernel, **options)
    # Rounding, times a condition number below 1e5.
    assert head.loss(phi, y).item() == pytest.approx(naive_loss(head, phi, y).item(), abs=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("task", "options"), VARIANTS, ids=NAMES)
def test_every_gradient_equals_central_differences(task: str, options: dict[str, Any], kernel: str) -> None:
    head, phi, y = problem(task, kernel, **options)
    names = [name for name, _ in head.named_parameters()]
    assert set(names) == {"z", "w", "b", "log_kernel"} | ({"log_sigma"} if task == "regression" else set())

    def loss(phi: Tensor, *values: Tensor) -> Tensor:
        return torch.func.functional_call(head, dict(zip(names, values)), (phi, y))

    values = [value.detach().clone().requires_grad_() for value in head.parameters()]
    # The linear kernel's K_zz has a condition number of 1e5 or so, times 1e-16 of rounding, divided by the step.
    steps = {"eps": 1e-4, "atol": 1e-6} if kernel == "linear" else {"eps": 1e-6, "atol": 1e-7}
    assert torch.autograd.gradcheck(loss, (phi.requires_grad_(), *values), rtol=1e-5, **steps)


@pytest.mark.parametrize(("task", "options"), VARIANTS[:6], ids=NAMES[:6])
def test_gradients_equal_those_of_automatic_differentiation(task: str, options: dict[str, Any]) -> None:
    head, phi, y = problem(task, **options)
    inputs = [phi.requires_grad_(), *head.parameters()]
    ours = torch.autograd.grad(head.loss(phi, y), inputs)
    theirs = torch.autograd.grad(naive_loss(head, phi, y), inputs)
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a, b, atol=1e-8, rtol=1e-7)  # their inverse loses some digits


@pytest.mark.parametrize(("task", "options"), [VARIANTS[0], *VARIANTS[2:]], ids=[NAMES[0], *NAMES[2:]])
def test_the_scale_of_weights_does_not_matter_and_rows_of_weight_zero_are_absent(task: str, options: dict[str, Any]) -> None:
    head, phi, y = problem(task, **options)
    weight = torch.ones(len(phi))
    weight[3] = weight[7] = 0.0
    keep = weight > 0
    loss = head.loss(phi, y, weight)
    assert loss.item() == pytest.approx(head.loss(phi[keep], y[keep]).item(), abs=1e-9)
    if head.coupling == "rows":
        weight = torch.rand(len(phi), dtype=F64)
        assert head.loss(phi, y, weight).item() == pytest.approx(naive_loss(head, phi, y, weight).item(), abs=1e-9)
        assert head.loss(phi, y, 7.0 * weight).item() == pytest.approx(head.loss(phi, y, weight).item(), abs=1e-12)


def test_the_gradient_of_weighted_rows_equals_central_differences() -> None:
    head, phi, y = problem("classification")
    weight = torch.rand(len(phi), dtype=F64)
    assert torch.autograd.gradcheck(lambda phi: head.loss(phi, y, weight), phi.requires_grad_(), atol=1e-7)


def test_the_gradient_from_above_scales_all_gradients_and_a_graph_may_be_kept() -> None:
    head, phi, y = problem("regression")
    inputs = [phi.requires_grad_(), *head.parameters()]
    loss = head.loss(phi, y)
    once = torch.autograd.grad(loss, inputs, retain_graph=True)
    scaled = torch.autograd.grad(-3.0 * loss + 1.0, inputs)
    for a, b in zip(once, scaled):
        torch.testing.assert_close(-3.0 * a, b)


def test_a_second_derivative_is_refused_and_not_wrong() -> None:
    head, phi, y = problem("regression")
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.grad(head.loss(phi.requires_grad_(), y), phi, create_graph=True)


def test_without_gradients_the_loss_is_the_same() -> None:
    head, phi, y = problem("classification")
    with torch.no_grad():
        loss = head.loss(phi, y)
    assert not loss.requires_grad and loss.item() == head.loss(phi, y).item()
    for parameter in head.parameters():
        parameter.requires_grad_(False)
    assert not head.loss(phi, y).requires_grad
    assert head.loss(phi.requires_grad_(), y).requires_grad


def test_a_batch_beyond_the_work_space_is_the_mean_of_its_parts() -> None:
    head, phi, y = problem("regression", rows=2500)  # in blocks of 2,048
    inputs = [phi.requires_grad_(), *head.parameters()]
    ours = torch.autograd.grad(head.loss(phi, y), inputs)
    parts = [(phi[:900], y[:900]), (phi[900:], y[900:])]
    loss = sum(len(y) / 2500 * head.loss(phi, y) for phi, y in parts)
    assert isinstance(loss, Tensor)
    for a, b in zip(ours, torch.autograd.grad(loss, inputs)):
        torch.testing.assert_close(a, b, atol=1e-11, rtol=1e-9)  # the order of sums


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_single_precision_tensors_get_gradients_in_single_precision(precision: str) -> None:
    head, phi, y = problem("classification", precision=precision)
    double = [x.detach().clone() for x in torch.autograd.grad(head.loss(phi, y), list(head.parameters()))]
    head.float()
    loss = head.loss(phi.float(), y)
    single = torch.autograd.grad(loss, list(head.parameters()))
    assert loss.dtype == torch.float32 and all(x.dtype == torch.float32 for x in single)
    for a, b in zip(double, single):
        torch.testing.assert_close(a.float(), b, atol=1e-3 if precision == "f32" else 1e-5, rtol=1e-3)


def test_no_result_depends_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    head, phi, y = problem("regression", rows=300, inducing=70)
    phi.requires_grad_()
    monkeypatch.setattr(inducing.torch, "THREAD", 1)
    seen = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        loss = head.loss(phi, y)
        seen.append((loss.item(), *torch.autograd.grad(loss, [phi, head.z]), *head.predict(phi, return_std=True)))
    assert seen[0][0] == seen[1][0]
    assert all(map(torch.equal, seen[0][1:], seen[1][1:]))


def test_one_head_may_be_evaluated_by_several_threads_of_python() -> None:
    head, phi, y = problem("regression", rows=200)
    parts = [(phi[start : start + 40 + start], y[start : start + 40 + start]) for start in range(0, 100, 10)]
    expected = [head.loss(*part).item() for part in parts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert list(pool.map(lambda part: head.loss(*part).item(), parts)) == expected


def test_targets_in_another_unit_only_move_the_loss_by_its_logarithm() -> None:
    head, phi, y = problem("regression")
    other = copy.deepcopy(head)
    other.y_shift.copy_(torch.tensor([3.0, -70.0], dtype=F64))
    other.y_scale.copy_(torch.tensor([10.0, 0.1], dtype=F64))
    moved = y * other.y_scale + other.y_shift
    assert other.loss(phi, moved).item() == pytest.approx(head.loss(phi, y).item(), abs=1e-9)  # 10 · 0.1 = 1
    assert other.nll(phi, moved) == pytest.approx(head.nll(phi, y), abs=1e-9)
    (mean, std), (other_mean, other_std) = (h.predict(phi, return_std=True) for h in (head, other))
    torch.testing.assert_close(other_mean, mean * other.y_scale + other.y_shift)
    torch.testing.assert_close(other_std, std * other.y_scale)


# ---- learning ----------------------------------------------------------------------------------------------------------


def train(head: GPHead, encoder: nn.Module, x: Tensor, y: Tensor, epochs: int) -> None:
    head.initialise(encoder(x), y)
    groups = [{"params": encoder.parameters()}, {"params": head.parameters(), "lr": 1e-2}]
    optimiser = torch.optim.Adam(groups, lr=2e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            optimiser.zero_grad()
            head.loss(encoder(x[rows]), y[rows]).backward()
            optimiser.step()


def rings(rows: int) -> tuple[Tensor, Tensor]:
    """Three classes, by distance from the origin: no line separates them."""
    x = torch.randn(rows, 2)
    radius = x.norm(dim=1) + 0.05 * torch.randn(rows)
    return x, (radius > 0.8).long() + (radius > 1.5).long()


@pytest.mark.parametrize("options", [{}, {"link": "probit"}, {"kernel": "matern52"}, {"precision": "f32"}], ids=str)
def test_a_classifier_learns_what_no_line_separates(options: dict[str, Any]) -> None:
    x, y = rings(600)
    new_x, new_y = rings(600)
    encoder = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 16))
    head = GPHead(features=16, inducing=32, task="classification", classes=3, **options)
    train(head, encoder, x, y, 60)
    # The noise on the radius alone costs some 6 %; the largest class has 45 %, and chance an NLL of 1.07.
    accuracy = (head.predict(encoder(new_x)) == new_y).double().mean().item()
    assert accuracy > 0.88 and head.nll(encoder(new_x), new_y) < 0.3
    assert head.utilisation > 0.5


def test_a_regression_learns_mean_and_noise() -> None:
    def sample(rows: int) -> tuple[Tensor, Tensor]:
        x = 4 * torch.rand(rows, 1) - 2
        return x, 500 + 20 * torch.sin(3 * x[:, 0]) + 2 * torch.randn(rows)  # a unit of its own

    (x, y), validation, (new_x, new_y) = sample(500), sample(300), sample(500)
    encoder = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 8))
    head = GPHead(features=8, inducing=32, task="regression")
    train(head, encoder, x, y, 80)
    head.fit_posterior([(x, y)], encoder=encoder, validation=[validation])
    mean, std = head.predict(encoder(new_x), return_std=True)
    low, high = head.predict_interval(encoder(new_x), 0.9)
    # The best there is: an error of 2 and an NLL of log 2 + ½ log 2πe = 2.11. A constant has an error of 14.
    assert (mean - new_y).square().mean().sqrt() < 2.4 and head.nll(encoder(new_x), new_y) < 2.4
    assert 1.7 < std.mean() < 2.6
    assert 0.84 < ((low < new_y) & (new_y < high)).double().mean() < 0.96


def test_features_that_leave_the_points_are_noticed_and_fetched_back() -> None:
    head, phi, y = problem("regression", rows=50)
    head.initialise(phi, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        head.loss(phi, y)
    with pytest.warns(UserWarning, match=r"explain 0\.0% of the prior variance(.|\n)*hint: "):
        head.loss(phi + 50.0, y)
    assert head.reinitialise_unused(phi + 50.0) == head.inducing
    head.loss(phi + 50.0, y)
    assert head.utilisation > 0.1


def test_initialise_finds_clusters_their_scale_and_the_linear_part() -> None:
    centres = 100.0 * torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    phi = centres.repeat(50, 1) + 0.1 * torch.randn(200, 2)
    y = phi @ torch.tensor([2.0, -1.0]) + 5.0
    head = GPHead(features=2, inducing=4, task="regression", gamma=0.5).initialise(phi, y, seed=3)
    nearest = torch.cdist(head.z, centres).min(1)
    assert nearest.values.max() < 0.1 and sorted(nearest.indices.tolist()) == [0, 1, 2, 3]
    pairs = (phi[:, None] - phi[None]).square().sum(2)
    assert head.log_kernel[1].exp().item() == pytest.approx(0.5 / pairs.median().item(), rel=0.01)
    readout = (phi @ head.w + head.b)[:, 0] * head.y_scale + head.y_shift
    assert (readout - y).abs().max() < 0.01 * y.std()


def test_the_same_seed_gives_the_same_bytes() -> None:
    states = []
    for _ in range(2):
        torch.manual_seed(5)
        x, y = rings(200)
        encoder = nn.Linear(2, 4)
        head = GPHead(features=4, inducing=16, task="classification", classes=3)
        train(head, encoder, x, y, 3)
        head.fit_posterior(encoder(x).detach(), y).recalibrate(encoder(x).detach(), y)
        states.append([x.numpy().tobytes() for x in head.state_dict().values()])
    assert states[0] == states[1]


# ---- predictions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_predictions_equal_the_dense_posterior(task: str, kernel: str) -> None:
    head, phi, _ = problem(task, kernel)
    mean, cov = (x.detach() for x in dense_latent(head, phi))
    latent, std = head.predict(phi, latent=True, return_std=True)
    torch.testing.assert_close(latent, mean, atol=1e-8, rtol=1e-8)
    torch.testing.assert_close(std, cov.diagonal().sqrt()[:, None].expand_as(mean), atol=1e-6, rtol=1e-6)
    if task == "regression":
        noise = (2 * head.log_sigma).exp() + head.noise_floor**2
        observed, whole = head.predict(phi, return_std=True)
        torch.testing.assert_close(observed, latent)
        torch.testing.assert_close(whole.square(), (std.square() + noise).detach())
        low, high = head.predict_interval(phi, 0.95)
        torch.testing.assert_close(high - low, 2 * 1.959964 * whole, atol=1e-6, rtol=1e-6)
    else:
        p = head.predict_proba(phi)
        losses = [row_losses(head, mean, cov.diagonal(), torch.full((len(phi),), c)) for c in range(3)]
        torch.testing.assert_close(p, torch.stack([-loss for loss in losses], 1).exp().detach(), atol=1e-8, rtol=1e-8)
        label, spread = head.predict(phi, return_std=True)
        assert torch.equal(label, p.argmax(1)) and label.dtype == torch.int64
        torch.testing.assert_close(spread, std[:, 0])


def test_two_classes_have_one_latent_function_and_probabilities_that_sum_to_one() -> None:
    for link in ("logit", "probit"):
        head, phi, y = problem("classification", classes=2, link=link)
        p = head.predict_proba(phi)
        assert head.outputs == 1 and head.predict(phi, latent=True).shape == (len(phi),)
        torch.testing.assert_close(p.sum(1), torch.ones(len(phi), dtype=F64))
        assert torch.equal(head.predict(phi), (head.predict(phi, latent=True) > 0).long())
        own = p.gather(1, y[:, None]).log().mean()
        assert -own.item() == pytest.approx(head.loss(phi, y).item(), abs=1e-9)
        assert head.nll(phi, y) == pytest.approx(-own.item(), abs=1e-12)


def test_variance_vanishes_at_inducing_points_and_returns_to_the_prior_far_away() -> None:
    head, _, _ = problem("regression", jitter=1e-10)
    far = torch.full((1, 3), 1e3, dtype=F64)
    mean, at = head.predict(head.z.detach(), latent=True, return_std=True)
    assert at.max() < 1e-4  # the jitter's root, and its rounding
    torch.testing.assert_close(mean, (head.z @ head.w + head.b).detach(), atol=1e-6, rtol=1e-6)
    mean, away = head.predict(far, latent=True, return_std=True)
    assert torch.equal(mean, torch.zeros_like(mean))
    torch.testing.assert_close(away, head.log_kernel[0].exp().sqrt().expand_as(away).detach())


def test_the_posterior_is_cached_and_follows_every_change_of_a_parameter() -> None:
    head, phi, _ = problem("regression")
    before = head.predict(phi)
    posterior = head._core.posterior
    head.predict(phi)
    assert head._core.posterior is posterior
    for change in (
        lambda: head.w.data.mul_(2.0),  # moves no version
        lambda: torch.optim.SGD([head.b], lr=1.0).step() if head.loss(phi, phi[:, :2]).backward() is None else None,
        lambda: setattr(head, "z", nn.Parameter(head.z.detach() + 0.1)),
        lambda: head.load_state_dict({**head.state_dict(), "log_kernel": torch.tensor([0.5, 0.5])}),
    ):
        change()
        after = head.predict(phi)
        torch.testing.assert_close(after, dense_latent(head, phi)[0].detach(), atol=1e-8, rtol=1e-8)
        assert not torch.equal(before, after)
        before = after


def test_the_device_and_precision_of_the_features_are_those_of_predictions() -> None:
    head, phi, _ = problem("regression")
    head.float()
    assert head.predict(phi).dtype == F64 and head.predict(phi.float()).dtype == torch.float32
    assert not head.predict(phi.requires_grad_()).requires_grad


def test_forward_is_the_loss_with_targets_and_a_prediction_without() -> None:
    for task in ("regression", "classification"):
        head, phi, y = problem(task)
        assert head(phi, y).item() == head.loss(phi, y).item()
        assert torch.equal(head(phi), head.predict(phi) if task == "regression" else head.predict_proba(phi))


# ---- after training ----------------------------------------------------------------------------------------------------


def dense_posterior(head: GPHead, phi: Tensor, precision: Tensor, residual: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of one output at new rows, given training rows with these precisions: by the normal equations
    for the pseudo-labels u ~ N(r, K_zz), with inverses."""
    z, k = head.z.detach(), head.log_kernel.detach()
    k_zz = kernel_of(head.kernel, k, z, z) + head.jitter * torch.eye(len(z), dtype=F64)
    inverse = torch.linalg.inv(k_zz)
    a = inverse @ kernel_of(head.kernel, k, z, phi)  # [M, N]
    cov = torch.linalg.inv(inverse + a * precision @ a.T)  # K_zz⁻¹ + Σ A W Aᵀ
    shift = cov @ a @ (precision * residual)
    of_new = inverse @ kernel_of(head.kernel, k, z, new)
    prior = kernel_of(head.kernel, k, new, new).diagonal()
    var = prior - (of_new * (k_zz @ of_new)).sum(0) + (of_new * (cov @ of_new)).sum(0)
    return of_new.T @ shift, var


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_posterior_of_a_regression_equals_the_dense_one(kernel: str, weighted: bool) -> None:
    head, phi, y = problem("regression", kernel, rows=40)
    weight = torch.rand(40, dtype=F64) if weighted else None
    new = torch.randn(9, 3, dtype=F64)
    before = head.predict(new)
    trained = dense_latent(head, phi)[0].detach()
    head.fit_posterior(phi, y, weight=weight)
    mean, std = head.predict(new, latent=True, return_std=True)
    noise = ((2 * head.log_sigma).exp() + head.noise_floor**2).detach()
    for c in range(2):
        precision = (torch.ones(40, dtype=F64) if weight is None else weight) / noise[c]
        shift, var = dense_posterior(head, phi, precision, y[:, c] - trained[:, c], new)
        torch.testing.assert_close(mean[:, c] - before[:, c], shift, atol=1e-7, rtol=1e-7)
        torch.testing.assert_close(std[:, c].square(), var, atol=1e-7, rtol=1e-7)


def test_with_a_point_on_every_row_the_posterior_is_the_exact_process() -> None:
    head, phi, y = problem("regression", rows=6, inducing=6, jitter=1e-10)
    with torch.no_grad():
        head.z.copy_(phi)
        head.w.zero_()
        head.b.zero_()
    head.fit_posterior(phi, y)
    new = torch.randn(5, 3, dtype=F64)
    k = head.log_kernel.detach()
    for c in range(2):
        noise = (2 * head.log_sigma[c]).exp().item() + head.noise_floor**2
        s = kernel_of("rbf", k, phi, phi) + noise * torch.eye(6, dtype=F64)
        across = kernel_of("rbf", k, new, phi)
        var = k[0].exp() - (across * torch.linalg.solve(s, across.T).T).sum(1)
        mean, std = head.predict(new, latent=True, return_std=True)
        torch.testing.assert_close(mean[:, c], across @ torch.linalg.solve(s, y[:, c]), atol=1e-6, rtol=1e-6)
        torch.testing.assert_close(std[:, c].square(), var, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(("task", "options"), VARIANTS[2:6], ids=NAMES[2:6])
def test_the_posterior_of_classes_equals_the_dense_one(task: str, options: dict[str, Any], kernel: str) -> None:
    head, phi, y = problem(task, kernel, rows=40, **options)
    new = torch.randn(9, 3, dtype=F64)
    before = head.predict(new, latent=True)
    mean, cov = (x.detach() for x in dense_latent(head, phi))
    var = cov.diagonal()
    # Fisher information of each latent function: the mean of squared slopes over the labels, by automatic differentiation.
    p = torch.stack([(-row_losses(head, mean, var, torch.full((40,), c))).exp() for c in range(head.classes)], 1)
    fisher = torch.zeros_like(mean)
    for c in range(head.classes):
        at = mean.clone().requires_grad_()
        (slope,) = torch.autograd.grad(row_losses(head, at, var, torch.full((40,), c)).sum(), at)
        fisher += p[:, c, None] * slope.square()
    precision = (p * fisher).sum(1) if head.outputs > 1 else fisher[:, 0]
    head.fit_posterior(phi, y)
    after, std = head.predict(new, latent=True, return_std=True)
    torch.testing.assert_close(after, before)
    _, expected = dense_posterior(head, phi, precision.detach(), torch.zeros(40, dtype=F64), new)
    spread = std if std.ndim == 1 else std[:, 0]
    torch.testing.assert_close(spread.square(), expected, atol=1e-7, rtol=1e-7)
    torch.testing.assert_close(head.predict_proba(new).sum(1), torch.ones(9, dtype=F64))


def test_the_curvature_of_two_classes_is_the_one_of_their_loss_in_the_mean() -> None:
    for link in ("logit", "probit"):
        f, v = torch.linspace(-4, 4, 9, dtype=F64), torch.linspace(0, 2, 9, dtype=F64)
        widening = 1.0 if link == "probit" else math.pi / 8
        s = f / (1 + widening * v).sqrt()
        p = torch.distributions.Normal(0, 1).cdf(s) if link == "probit" else torch.sigmoid(s)
        density = torch.distributions.Normal(0, 1).log_prob(s).exp() if link == "probit" else p * (1 - p)
        expected = density**2 / (p * (1 - p)) / (1 + widening * v)
        torch.testing.assert_close(refit.curvature(link, f[:, None], v), expected, atol=1e-12, rtol=1e-9)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_loader_gives_the_posterior_of_all_its_rows(task: str) -> None:
    head, phi, y = problem(task, rows=50)
    other, weighted = copy.deepcopy(head), copy.deepcopy(head)
    encoder = nn.Sequential(nn.Identity(), nn.Dropout(0.9)).train()
    head.fit_posterior(phi, y)
    other.fit_posterior([(phi[:20], y[:20]), [phi[20:], y[20:]]], encoder=encoder)
    weighted.fit_posterior((phi[i : i + 10], y[i : i + 10], torch.ones(10)) for i in range(0, 50, 10))
    assert encoder.training  # and dropout did nothing
    new = torch.randn(9, 3, dtype=F64)
    for again in (other, weighted):
        for a, b in zip(head.predict(new, return_std=True, latent=True), again.predict(new, return_std=True, latent=True)):
            torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)


def test_more_rows_never_increase_a_latent_variance() -> None:
    head, phi, y = problem("regression", rows=60)
    new = torch.randn(20, 3, dtype=F64)
    few = head.fit_posterior(phi[:10], y[:10]).predict(new, latent=True, return_std=True)[1]
    many = head.fit_posterior(phi, y).predict(new, latent=True, return_std=True)[1]
    assert (many <= few + 1e-9).all() and (many < 0.9 * few).any()


def test_recalibration_finds_the_factors_that_made_the_data() -> None:
    head, phi, _ = problem("regression", rows=4000, noise_floor=0.0)
    mean, latent = head.predict(phi, latent=True, return_std=True)
    noise = (2 * head.log_sigma).exp().detach()
    y = mean + (3.0 * latent.square() + 0.5 * noise).sqrt() * torch.randn_like(mean)
    head.recalibrate(phi, y)
    torch.testing.assert_close(head.calibration, torch.tensor([[3.0, 3.0], [0.5, 0.5]], dtype=F64), atol=0.3, rtol=0.2)
    _, std = head.predict(phi, return_std=True)
    assert ((y - mean).square() / std.square()).mean().item() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_recalibration_finds_the_temperature(link: str) -> None:
    head, phi, _ = problem("classification", rows=4000, link=link)
    with torch.no_grad():
        head.w.mul_(3.0)
    truth = copy.deepcopy(head)
    truth.calibration[1] = 0.4
    y = torch.multinomial(truth.predict_proba(phi), 1)[:, 0]
    before = head.nll(phi, y)
    head.recalibrate(phi, y)
    assert head.calibration[1].item() == pytest.approx(0.4, abs=0.06)
    assert head.nll(phi, y) < before and head.nll(phi, y) < truth.nll(phi, y) + 1e-6


def test_few_rows_do_not_recalibrate() -> None:
    head, phi, y = problem("classification")
    with pytest.warns(UserWarning, match="12 rows are too few"):
        head.recalibrate(phi, y)
    assert torch.equal(head.calibration, torch.ones(2, 1, dtype=F64))


def test_validation_rows_recalibrate_the_posterior() -> None:
    for task in ("regression", "classification"):
        head, phi, y = problem(task, rows=100)
        head.fit_posterior(phi[:50], y[:50], validation=(phi[50:], y[50:]))
        assert head.fitted and not torch.equal(head.calibration, torch.ones_like(head.calibration))


def test_a_posterior_of_other_parameters_is_left_out_with_a_warning() -> None:
    head, phi, y = problem("regression")
    plain = head.predict(phi)
    head.fit_posterior(phi, y)
    fitted = head.predict(phi)
    assert head.fitted and not torch.allclose(plain, fitted)
    trained = head.w.detach().clone()
    head.w.data.add_(1.0)
    assert not head.fitted
    with pytest.warns(UserWarning, match="parameters have changed since fit_posterior"):
        head.predict(phi)
    head.w.data.copy_(trained)
    torch.testing.assert_close(head.predict(phi), fitted)
    assert torch.equal(head.clear_posterior().predict(phi), plain)


# ---- states ------------------------------------------------------------------------------------------------------------


def copies(head: GPHead) -> dict[str, GPHead]:
    buffer = io.BytesIO()
    torch.save(head.state_dict(), buffer)
    buffer.seek(0)
    kind: dict[str, Any] = {"classes": head.classes} if head.classes else {"outputs": head.outputs}
    loaded = GPHead(features=3, inducing=5, task=head.task, jitter=1e-4, noise_floor=0.2, dtype=F64, **kind)
    loaded.load_state_dict(torch.load(buffer, weights_only=True))
    return {"state": loaded, "pickle": pickle.loads(pickle.dumps(head)), "deepcopy": copy.deepcopy(head)}


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_states_pickles_and_copies_predict_and_train_the_same(task: str, fitted: bool) -> None:
    head, phi, y = problem(task, rows=60)
    if fitted:
        head.fit_posterior(phi, y, validation=(phi, y))
    head.loss(phi, y)
    expected = head.predict(phi, return_std=True)
    for name, other in copies(head).items():
        assert other.fitted == fitted, name
        assert all(map(torch.equal, other.predict(phi, return_std=True), expected)), name
        assert other.loss(phi, y).item() == head.loss(phi, y).item(), name
        other.w.data.add_(1.0)
    assert all(map(torch.equal, head.predict(phi, return_std=True), expected))


def test_a_posterior_outlives_another_precision_and_is_part_of_a_model() -> None:
    head, phi, y = problem("regression", rows=60)
    head.fit_posterior(phi, y)
    model = nn.Sequential(nn.Identity(), head)
    expected = head.predict(phi, return_std=True)
    model.float()
    assert head.fitted
    for a, b in zip(expected, head.predict(phi, return_std=True)):
        torch.testing.assert_close(a, b, atol=1e-3, rtol=1e-3)
    model.double()
    assert head.fitted
    other = nn.Sequential(nn.Identity(), problem("regression")[0])
    other.load_state_dict(model.state_dict())
    assert other[1].fitted
    unfitted = nn.Sequential(nn.Identity(), problem("regression")[0])
    other.load_state_dict(unfitted.state_dict())
    assert not other[1].fitted


def test_the_head_says_what_it_is() -> None:
    head, _, _ = problem("classification")
    assert "features=3, inducing=5, task='classification', classes=3" in repr(head)


# ---- refusals ----------------------------------------------------------------------------------------------------------


def refused(match: str, call: Any) -> None:
    with pytest.raises(ValueError, match=match) as caught:
        call()
    assert "\nhint: " in str(caught.value), caught.value


def test_features_that_make_no_sense_are_refused() -> None:
    head, phi, y = problem("classification")
    broken = phi.clone()
    broken[4, 2] = math.nan
    infinite = phi.clone()
    infinite[11, 0] = math.inf
    for call in (lambda x: head.loss(x, y), head.predict, head.predict_proba, lambda x: head.fit_posterior(x, y)):
        refused("row 4: feature 2 is nan", lambda: call(broken))
        refused("row 11: feature 0 is inf", lambda: call(infinite))
        for half in (torch.float16, torch.bfloat16, torch.int64, torch.complex64):
            refused(f"`features` are {half}; expected torch.float32 or torch.float64", lambda: call(phi.to(half)))
        refused(r"the shape \[12, 2\]; expected \[N, 3\]", lambda: call(phi[:, :2]))
        refused(r"the shape \[3\]; expected \[N, 3\]", lambda: call(phi[0]))
        refused("`features` have no rows", lambda: call(phi[:0]))
        refused("device `meta`", lambda: call(phi.to("meta")))
        refused("is of type ndarray, not a tensor", lambda: call(phi.numpy()))


def test_labels_that_make_no_sense_are_refused() -> None:
    head, phi, y = problem("classification")
    wrong = y.clone()
    wrong[5] = 3
    refused("row 5: label 3 of 3 classes", lambda: head.loss(phi, wrong))
    refused("row 5: label -1 of 3 classes", lambda: head.loss(phi, wrong.where(wrong < 3, -1)))
    refused(r"`y` is torch.float32; expected the class", lambda: head.loss(phi, y.float()))
    refused(r"the shape \[12, 1\]; expected \[12\]", lambda: head.loss(phi, y[:, None]))
    refused(r"the shape \[11\]; expected \[12\]", lambda: head.loss(phi, y[1:]))


def test_targets_and_weights_that_make_no_sense_are_refused() -> None:
    head, phi, y = problem("regression")
    wrong = y.clone()
    wrong[7, 1] = math.nan
    refused("row 7: target nan", lambda: head.loss(phi, wrong))
    refused(r"the shape \[12\]; expected \[12, 2\]", lambda: head.loss(phi, y[:, 0]))
    refused("expected numbers", lambda: head.loss(phi, y > 0))
    one = GPHead(features=3, inducing=5, task="regression", dtype=F64)
    refused(r"the shape \[12, 2\]; expected \[12\] or \[12, 1\]", lambda: one.loss(phi, y))
    assert one.loss(phi, y[:, 0]).item() == one.loss(phi, y[:, :1]).item()
    weight = torch.ones(12)
    refused(r"`weight` has the shape \[11\]", lambda: head.loss(phi, y, weight[1:]))
    refused("all weights of the batch are zero", lambda: head.loss(phi, y, 0 * weight))
    weight[2] = -1.0
    refused(r"row 2: weight -1\.0", lambda: head.loss(phi, y, weight))
    joint = problem("regression", coupling="batch")[0]
    refused("have no weights", lambda: joint.loss(phi, y, torch.ones(12)))


def test_heads_that_make_no_sense_are_refused() -> None:
    for match, options in [
        ("`task` is 'ranking'", {"task": "ranking"}),
        ("`classes` is missing", {"task": "classification"}),
        ("`classes` is 1", {"task": "classification", "classes": 1}),
        ("`classes` is given for a regression", {"classes": 3}),
        ("`link` is given for a regression", {"link": "logit"}),
        ("`outputs` is 2, of a classification", {"task": "classification", "classes": 3, "outputs": 2}),
        ('has no `link="logit"`', {"task": "classification", "classes": 3, "coupling": "batch", "link": "logit"}),
        ("`coupling` is 'row'", {"coupling": "row"}),
        ("`kernel` is 'cosine'", {"kernel": "cosine"}),
        ("`precision` is 'f16'", {"precision": "f16"}),
        ("`features` is 0", {"features": 0}),
        ("`inducing` is 2.5", {"inducing": 2.5}),
        ("`jitter` is -1", {"jitter": -1.0}),
        ("`gamma` is nan", {"gamma": math.nan}),
        ("`dtype` is torch.float16", {"dtype": torch.float16}),
    ]:
        refused(match, lambda: GPHead(**{"features": 3, "task": "regression", **options}))


def test_calls_that_make_no_sense_are_refused() -> None:
    regression, phi, y = problem("regression")
    classification, _, labels = problem("classification")
    refused("no class probabilities", lambda: regression.predict_proba(phi))
    refused("classes have no intervals", lambda: classification.predict_interval(phi))
    refused(r"`level` is 90", lambda: regression.predict_interval(phi, 90))
    refused("4 rows for 5 inducing points", lambda: regression.initialise(phi[:4]))
    refused("`y` is missing", lambda: regression.fit_posterior(phi))
    refused("`data` holds no rows", lambda: regression.fit_posterior(iter([])))
    refused("a batch is of type Tensor", lambda: regression.fit_posterior([phi]))
    meta = GPHead(features=3, task="regression", device="meta")
    refused("the head is on the device `meta`", lambda: meta.loss(phi, y[:, 0]))
    refused("the head is on the device `meta`", lambda: meta.predict(phi))


def test_parameters_that_are_not_finite_are_an_error_and_not_a_number() -> None:
    head, phi, y = problem("regression")
    head.z.data[0, 0] = math.nan
    for call in (lambda: head.loss(phi, y), lambda: head.predict(phi)):
        with pytest.raises(RuntimeError, match="not finite(.|\n)*hint: lower the learning rate"):
            call()


@pytest.mark.parametrize("module", [inducing.torch, refit])
def test_every_example_runs(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
