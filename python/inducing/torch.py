"""A Gaussian process head for any PyTorch model: every prediction gets a mean and a variance.

The encoder stays in PyTorch. The head takes its features Φ [N, D] and computes the loss with all gradients, ∂Φ among them,
in one call of the Rust core: in closed form, without a tape over factorisations.

>>> import torch
>>> from inducing.torch import GPHead
>>> _ = torch.manual_seed(0)
>>> encoder = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
>>> head = GPHead(features=8, inducing=16, task="classification", classes=3)
>>> x, y = torch.randn(64, 2), torch.randint(3, (64,))
>>> _ = head.initialise(encoder(x), y)
>>> optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)
>>> head.loss(encoder(x), y).backward()
>>> optimiser.step()
>>> head.predict_proba(encoder(x)).shape
torch.Size([64, 3])
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

try:
    import torch
except ImportError as missing:  # pragma: no cover
    raise ImportError("inducing.torch needs PyTorch\nhint: pip install torch") from missing
from torch import Tensor, nn

from . import _core
from . import _torch_checks as check
from . import _torch_refit as refit
from ._torch_loss import Call, Loss, array_of

__all__ = ["GPHead"]

Kernel: TypeAlias = Literal["rbf", "matern32", "matern52", "linear"]
Batches: TypeAlias = Iterable[Any]
Encoder: TypeAlias = Callable[[Any], Tensor]

BLOCK = 4096  # rows that are whitened at a time
THREAD = 50_000_000  # multiplications that are worth another thread; no result depends on their number
LOW_UTILISATION = 0.02  # below it inducing points do nothing
REINITIALISE = 0.05  # below it they all get new places


@dataclass
class _Core:
    """What belongs to the Rust side: cached, never part of a state, a copy or a pickle."""

    objective: _core.HeadObjective | None = None
    posterior: _core.HeadPosterior | None = None
    inputs: tuple[Tensor, ...] = ()  # that the posterior was made from
    threads: int = 0
    refit: refit.Refit | None = None


class GPHead(nn.Module):
    """Gaussian process head on the features of any encoder.

    `M` inducing points Z with pseudo-labels `r(z) = wᵀz + b` live in feature space; the process conditioned on them gives
    every input a mean and a variance, which is small near them and returns to the prior far away.

    Points and features must stay near each other. Call `initialise` before training, end the encoder with
    `torch.nn.LayerNorm(D, elementwise_affine=False)`, and let it learn at a tenth of the head's rate; a warning says when
    the points explain nothing, and `reinitialise_unused` mends it.

    Parameters
    ----------
    features : int
        Width D of the encoder's output.
    inducing : int, default 128
        Inducing points M. A step costs O(M³/3 + M²(2N + D) + MND) for N rows.
    task : {"classification", "regression"}
        What the targets are.
    classes : int, optional
        How many classes there are; classification only.
    outputs : int, default 1
        How many targets a row has; regression only.
    kernel : {"rbf", "matern32", "matern52", "linear"}, default "rbf"
        Family of the kernel.
    scale, gamma : float, default 1.0 and 0.3
        Where the kernel begins: `scale · exp(−gamma · d²/m)` for "rbf", with m the median squared distance of features.
        Until `initialise` measures it, m is that of standard normal features, 2D.
    learn_kernel : bool, default True
        Whether the kernel's parameters get gradients.
    noise : float, default 0.1
        Standard deviation of the noise to begin with, in deviations of the target; regression only.
    noise_floor : float, default 0.001
        What is added to the noise in any case: `σ² = exp(2 log_sigma) + noise_floor²`; regression only.
    coupling : {"rows", "batch"}, default "rows"
        Whether the loss is each row's own predictive density, or the joint one of a batch (the paper's; for classes Laplace's
        approximation of one-against-all problems).
    link : {"logit", "probit"}, optional
        From latent functions to probabilities. By default "logit", for `coupling="batch"` "probit", which it needs.
    jitter : float, optional
        On the diagonal of K_zz. By default 1e-6, in single precision 1e-3.
    precision : {"f64", "f32"}, default "f64"
        Precision of the loss inside the core, whatever the tensors' own. Single precision is faster, but needs more jitter.
    device, dtype : optional
        Of the parameters. The core computes on the CPU: features of other devices are copied there, gradients back.

    Attributes
    ----------
    z, w, b, log_sigma, log_kernel : torch.nn.Parameter
        `[M, D]`, `[D, C]`, `[C]`, `[C]` (regression only) and `[2]`: log s and log γ, for "linear" log s and log c. C is the
        number of latent functions: `outputs`, or one for two classes and one each for more.
    utilisation : float
        Of the last loss: how much of the prior variance the inducing points explain. Near 0 they do nothing.

    Examples
    --------
    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> x = torch.linspace(-2, 2, 200)[:, None]
    >>> y = torch.sin(3 * x) + 0.1 * torch.randn(200, 1)
    >>> encoder = torch.nn.Sequential(torch.nn.Linear(1, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4))
    >>> head = GPHead(features=4, inducing=20, task="regression").initialise(encoder(x), y)
    >>> optimiser = torch.optim.Adam([{"params": encoder.parameters()}, {"params": head.parameters(), "lr": 0.01}], lr=0.001)
    >>> for _ in range(200):
    ...     optimiser.zero_grad()
    ...     head.loss(encoder(x), y).backward()
    ...     _ = optimiser.step()
    >>> head = head.fit_posterior(encoder(x), y)
    >>> mean, std = head.predict(encoder(torch.tensor([[0.5], [8.0]])), return_std=True)
    >>> bool(abs(mean[0] - torch.sin(torch.tensor(1.5))) < 0.1), bool(std[1] > 2 * std[0])
    (True, True)
    """

    z: nn.Parameter
    w: nn.Parameter
    b: nn.Parameter
    log_sigma: nn.Parameter | None
    log_kernel: nn.Parameter
    y_shift: Tensor
    y_scale: Tensor
    calibration: Tensor
    posterior_shift: Tensor
    posterior_basis: Tensor
    posterior_share: Tensor
    posterior_digest: Tensor

    def __init__(
        self,
        features: int,
        inducing: int = 128,
        *,
        task: Literal["classification", "regression"],
        classes: int | None = None,
        outputs: int = 1,
        kernel: Kernel = "rbf",
        scale: float = 1.0,
        gamma: float = 0.3,
        learn_kernel: bool = True,
        noise: float = 0.1,
        noise_floor: float = 1e-3,
        coupling: Literal["rows", "batch"] = "rows",
        link: Literal["logit", "probit"] | None = None,
        jitter: float | None = None,
        precision: Literal["f64", "f32"] = "f64",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check.size("features", features, 1)
        check.size("inducing", inducing, 1)
        check.one_of("task", task, ("classification", "regression"))
        check.one_of("kernel", kernel, ("rbf", "matern32", "matern52", "linear"))
        check.one_of("coupling", coupling, ("rows", "batch"))
        check.one_of("precision", precision, ("f64", "f32"))
        for name, value in (("scale", scale), ("gamma", gamma), ("noise", noise)):
            check.positive(name, value)
        check.positive("noise_floor", noise_floor, zero=True)
        if jitter is None:
            jitter = 1e-6 if precision == "f64" else 1e-3
        check.positive("jitter", jitter, zero=True)
        self.classes: int | None = None
        self.link: str | None = None
        if task == "classification":
            if classes is None:
                raise check.error("`classes` is missing", 'say how many classes there are, or give task="regression"')
            check.size("classes", classes, 2)
            if outputs != 1:
                raise check.error(f"`outputs` is {outputs}, of a classification", "leave it out")
            self.classes = classes
            self.link = link or ("logit" if coupling == "rows" else "probit")
            check.one_of("link", self.link, ("logit", "probit"))
            if coupling == "batch" and self.link == "logit":
                raise check.error('`coupling="batch"` has no `link="logit"`', 'take link="probit", or coupling="rows"')
            outputs = 1 if classes == 2 else classes
        elif classes is not None or link is not None:
            name = "classes" if classes is not None else "link"
            raise check.error(f"`{name}` is given for a regression", 'leave it out, or give task="classification"')
        check.size("outputs", outputs, 1)
        self.features, self.inducing, self.outputs = features, inducing, outputs
        self.task, self.kernel, self.coupling = task, kernel, coupling
        self.scale, self.gamma, self.noise = float(scale), float(gamma), float(noise)
        self.noise_floor, self.jitter, self.precision = float(noise_floor), float(jitter), precision
        self.utilisation = math.nan

        if dtype is not None and dtype not in check.FLOATS:
            raise check.error(f"`dtype` is {dtype}", "choose torch.float32 or torch.float64")
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        bound = 1.0 / math.sqrt(features)
        self.z = nn.Parameter(torch.randn(inducing, features, **like))
        self.w = nn.Parameter(torch.empty(features, outputs, **like).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.zeros(outputs, **like))
        start = self._log_kernel(2.0 * features)
        self.log_kernel = nn.Parameter(torch.tensor(start, **like), requires_grad=learn_kernel)
        if task == "regression":
            self.log_sigma = nn.Parameter(torch.full((outputs,), math.log(noise), **like))
            self.register_buffer("y_shift", torch.zeros(outputs, **like))
            self.register_buffer("y_scale", torch.ones(outputs, **like))
        else:
            self.register_parameter("log_sigma", None)
        # Factors on the latent variance, and on the noise (regression) or on the latent means (classification).
        self.register_buffer("calibration", torch.ones(2, outputs if task == "regression" else 1, **like))
        for name in ("shift", "basis", "share"):
            self.register_buffer(f"posterior_{name}", torch.empty(0, 0, **like))
        self.register_buffer("posterior_digest", torch.zeros((), dtype=torch.int64, device=device))
        self._core = _Core()

    def _log_kernel(self, median: float) -> list[float]:
        """The kernel's parameters where random features have this median squared distance."""
        if self.kernel == "linear":
            return [math.log(self.scale / median), math.log(self.scale)]
        return [math.log(self.scale), math.log(self.gamma / median)]

    # ---- training ------------------------------------------------------------------------------------------------------

    def loss(self, features: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
        """Mean negative log-likelihood of a row.

        Parameters
        ----------
        features : Tensor [N, D]
            What the encoder gives; any device, single or double precision.
        y : Tensor
            Class indices [N], or numbers [N, outputs] ([N] where there is one output).
        weight : Tensor [N], optional
            Of each row; the loss is then their weighted mean. A regression with `coupling="batch"` takes none.

        Returns
        -------
        Tensor
            A scalar with gradients by `features` and by the head's parameters, summed over outputs and in the unit of y.

        Raises
        ------
        ValueError
            For features, labels or weights that make no sense; what is not finite is named by its row.

        Examples
        --------
        >>> head = GPHead(features=4, inducing=8, task="regression")
        >>> phi = torch.randn(16, 4, requires_grad=True)
        >>> head.loss(phi, torch.randn(16)).backward()
        >>> phi.grad.shape, head.z.grad.shape
        (torch.Size([16, 4]), torch.Size([8, 4]))
        """
        self._real()
        check.features(features, self.features)
        rows = len(features)
        targets = self._signs(check.labels(y, rows, self.classes)) if self.classes else self._standardised(y, rows)
        weight = check.weights(weight, rows)
        if weight is not None and self.task == "regression" and self.coupling == "batch":
            hint = 'take coupling="rows", or leave out `weight`'
            raise check.error('rows of a regression with `coupling="batch"` have no weights', hint)
        if self._core.objective is None:
            self._core.objective = _core.HeadObjective(
                self.kernel, link=self.link, coupling=self.coupling, jitter=self.jitter, precision=self.precision
            )
        log_sigma = self._log_noise()
        inputs = (features, self.z, self.w, self.b, log_sigma, self.log_kernel)
        gradient = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in inputs)
        dtype = torch.float64 if self.precision == "f64" else torch.float32
        said: dict[str, float] = {}
        m, d = self.inducing, self.features
        work = m**3 // 3 + m * m * (2 * rows + d) + m * rows * d
        threads = min(torch.get_num_threads(), 1 + work // THREAD)
        call = Call(self._core.objective, dtype, targets, weight, gradient, threads)
        loss: Tensor = Loss.apply(*inputs, call, said)
        if said["utilisation"] < LOW_UTILISATION and not self.utilisation < LOW_UTILISATION:
            warnings.warn(
                f"inducing points explain {said['utilisation']:.1%} of the prior variance: features are far from them\n"
                "hint: call head.initialise(features, y) with features of many rows before training, end the encoder with "
                "torch.nn.LayerNorm(D, elementwise_affine=False), and give it a lower learning rate than the head",
                stacklevel=2,
            )
        self.utilisation = said["utilisation"]
        if weight is not None:
            loss = loss * (rows / float(weight.sum()))
        if self.classes is None:
            loss = loss + self.y_scale.to(loss).log().sum()
        return loss

    def forward(self, features: Tensor, y: Tensor | None = None, weight: Tensor | None = None) -> Tensor:
        """`loss(features, y, weight)` with targets; without, `predict_proba(features)` or `predict(features)`.

        Examples
        --------
        >>> head = GPHead(features=4, inducing=8, task="classification", classes=2)
        >>> head(torch.zeros(3, 4)).shape
        torch.Size([3, 2])
        """
        if y is not None:
            return self.loss(features, y, weight)
        if self.classes:
            return self.predict_proba(features)
        prediction: Tensor = self.predict(features)
        return prediction

    @torch.no_grad()
    def initialise(self, features: Tensor, y: Tensor | None = None, *, seed: int = 0) -> GPHead:
        """Begin from data, as the library does: call it once, with the features of many rows, before training.

        Inducing points become k-means centres of the features, and γ fits their median distance. With y, `w` and `b` become a
        ridge regression of the targets on the features; a regression also standardises its targets from here on, and begins
        with the noise that the ridge regression leaves.

        Parameters
        ----------
        features : Tensor [N, D]
            At least as many rows as there are inducing points; 8,192 random ones are looked at.
        y : Tensor, optional
            As for `loss`.
        seed : int, default 0
            Decides the random rows; the same seed gives the same bytes.

        Returns
        -------
        GPHead
            The head itself.

        Examples
        --------
        >>> head = GPHead(features=4, inducing=8, task="regression")
        >>> phi = 100.0 * torch.randn(50, 4)
        >>> head.initialise(phi, phi.sum(1)).loss(phi, phi.sum(1)).isfinite()
        tensor(True)
        """
        check.features(features, self.features)
        rows = len(features)
        if rows < self.inducing:
            hint = "pass the features of more rows, of several batches, or use fewer inducing points"
            raise check.error(f"{rows} rows for {self.inducing} inducing points", hint)
        self._real()
        labels = None if y is None else check.labels(y, rows, self.classes) if self.classes else None
        if y is not None and labels is None:
            numbers = check.targets(y, rows, self.outputs)
            scale = numbers.std(0, unbiased=False)
            self.y_shift.copy_(numbers.mean(0))
            self.y_scale.copy_(torch.where(scale > 0.0, scale, 1.0))
        chosen = refit.sample(rows, self.inducing, seed)
        phi = features.detach().to("cpu", torch.float64)[chosen]
        self.z.copy_(refit.k_means(phi, self.inducing))
        median = refit.median_squared_distance(phi, seed)
        self.log_kernel.copy_(torch.tensor(self._log_kernel(median)))
        if y is not None:
            targets = self._standardised(y, rows) if labels is None else self._signs(labels)
            w, b, rmse = refit.linear_fit(phi, targets[chosen])
            if labels is not None and self.link is not None:
                mean, zero, own = phi @ w + b, torch.zeros(len(phi), dtype=phi.dtype), labels[chosen]
                link = self.link
                slope = math.exp(
                    refit.minimise(-2.0, 4.0, lambda x: refit.class_nll(link, math.exp(x) * mean, zero, own))
                )
                w, b = slope * w, slope * b
            self.w.copy_(w)
            self.b.copy_(b)
            if self.log_sigma is not None:
                self.log_sigma.copy_(rmse.clamp(1e-3, 1.0).log())
        self.clear_posterior()
        self.utilisation = math.nan
        return self

    @torch.no_grad()
    def reinitialise_unused(self, features: Tensor, *, seed: int = 0) -> int:
        """Move inducing points that no feature comes near onto random features; returns how many.

        For once an epoch or so, in the first two thirds of a training: features move away from points faster than points
        follow. Where points explain less than a twentieth of the variance all of them become k-means centres.

        Examples
        --------
        >>> head = GPHead(features=2, inducing=8, task="regression").initialise(torch.randn(100, 2))
        >>> head.reinitialise_unused(torch.randn(100, 2)), head.reinitialise_unused(torch.randn(100, 2) + 50.0)
        (0, 8)
        """
        check.features(features, self.features)
        if self.kernel == "linear" or len(features) < self.inducing:
            return 0
        phi = features.detach().to("cpu", torch.float64)[refit.sample(len(features), self.inducing, seed)]
        _, var, _ = self._conditioned(phi, whitened=False)
        log_scale, log_gamma = self.log_kernel.detach().to("cpu", torch.float64).tolist()
        if 1.0 - float(var.mean()) / math.exp(log_scale) < REINITIALISE:
            z, moved = refit.k_means(phi, self.inducing), self.inducing
        else:
            z = self.z.detach().to("cpu", torch.float64)
            dead = torch.cdist(z, phi).amin(1).square() > math.log(1e3) / math.exp(log_gamma)
            moved = int(dead.sum())
            z = torch.where(dead[:, None], phi[: self.inducing], z)  # rows are in random order
        if moved:
            self.z.copy_(z)
        return moved

    # ---- prediction ----------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def predict(self, features: Tensor, *, return_std: bool = False, latent: bool = False) -> Any:
        """Mean of the targets, or the most probable class.

        Parameters
        ----------
        features : Tensor [N, D]
            What the encoder gives.
        return_std : bool, default False
            Whether the standard deviation comes too: of an observation, noise included; with `latent`, and for classes,
            of the latent function.
        latent : bool, default False
            Latent functions instead: for a regression the same mean with a deviation that leaves out the noise.

        Returns
        -------
        Tensor, or two
            [N] for one output and for classes, else [N, outputs]; on the device of the features.

        Examples
        --------
        >>> head = GPHead(features=2, inducing=4, task="regression")
        >>> mean, std = head.predict(torch.full((1, 2), 1e3), return_std=True)
        >>> round(float(mean), 3), round(float(std), 3)  # far from every inducing point: the prior, with noise
        (0.0, 1.005)
        """
        mean, var = self._latent(features)
        if self.classes:
            std = var.sqrt() if var.shape[1] == 1 and self.outputs > 1 else var.sqrt().expand_as(mean)
            if not latent:
                mean = self._probabilities(mean, var).argmax(1, keepdim=True)
                std = std[:, :1]
            elif std.shape != mean.shape:
                std = std.expand_as(mean)
        else:
            if not latent:
                var = var + self._noise()
            scale = self.y_scale.to("cpu", torch.float64)
            mean, std = mean * scale + self.y_shift.to("cpu", torch.float64), var.sqrt() * scale
        mean, std = (x[:, 0] if x.shape[1] == 1 else x for x in (mean, std))
        mean = mean.to(features if mean.is_floating_point() else features.device)
        return (mean, std.to(features)) if return_std else mean

    @torch.no_grad()
    def predict_proba(self, features: Tensor) -> Tensor:
        """Class probabilities [N, classes]; they are less certain where the latent variance is large.

        Examples
        --------
        >>> head = GPHead(features=2, inducing=4, task="classification", classes=4)
        >>> head.predict_proba(torch.full((1, 2), 1e3))  # far from every inducing point
        tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
        """
        if self.classes is None:
            raise check.error("a regression has no class probabilities", "call predict or predict_interval")
        return self._probabilities(*self._latent(features)).to(features)

    @torch.no_grad()
    def predict_interval(self, features: Tensor, level: float = 0.9) -> tuple[Tensor, Tensor]:
        """Interval that holds an observation with probability `level`: its lower and its upper end.

        Examples
        --------
        >>> head = GPHead(features=2, inducing=4, task="regression")
        >>> low, high = head.predict_interval(torch.zeros(3, 2), level=0.95)
        >>> bool((low < high).all())
        True
        """
        if self.classes:
            raise check.error("classes have no intervals", "call predict_proba")
        if not 0.0 < level < 1.0:
            raise check.error(f"`level` is {level!r}", "give a probability between 0 and 1, such as 0.9")
        mean, std = self.predict(features, return_std=True)
        wide = NormalDist().inv_cdf(0.5 + 0.5 * level) * std
        return mean - wide, mean + wide

    @torch.no_grad()
    def nll(self, features: Tensor, y: Tensor) -> float:
        """Mean negative log-likelihood of predictions, with posterior and calibration: to compare heads by held-out rows.

        Examples
        --------
        >>> head = GPHead(features=2, inducing=4, task="classification", classes=2)
        >>> round(head.nll(torch.full((1, 2), 1e3), torch.tensor([1])), 4)  # log 2
        0.6931
        """
        mean, var = self._latent(features)
        if self.classes and self.link:
            labels = check.labels(y, len(features), self.classes)
            own = self._probabilities(mean, var).gather(1, labels[:, None])
            return float(-own.clamp_min(1e-300).log().mean())
        nll = refit.gaussian_nll(self._standardised(y, len(features)) - mean, var + self._noise())
        return float(nll.mean(0).sum() + self.y_scale.to("cpu", torch.float64).log().sum())

    # ---- after training ------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def fit_posterior(
        self,
        data: Tensor | Batches,
        y: Tensor | None = None,
        *,
        weight: Tensor | None = None,
        encoder: Encoder | None = None,
        validation: Batches | None = None,
    ) -> GPHead:
        """Condition the pseudo-labels on all training rows, with everything else frozen: one pass, O(NM²).

        Training makes pseudo-labels r = Zw + b points without a spread. Here they become `u ~ N(r, K_zz)`, given all rows:
        for a regression the best variational posterior in closed form (Titsias 2009), mean and covariance; for classes the
        covariance of Laplace's approximation around r, which leaves means alone. A variance then counts rows; rows whose
        class is certain count for little. Afterwards, changed parameters need
        another call.

        Parameters
        ----------
        data : Tensor [N, D], or batches
            Features, or a loader of `(features, y)` or `(features, y, weight)`.
        y, weight : Tensor, optional
            Targets and weights, if `data` is a tensor.
        encoder : callable, optional
            Maps the first part of each batch to features; a module is set to evaluation meanwhile.
        validation : batches or a pair, optional
            Held-out `(features, y)` that `recalibrate` gets afterwards.

        Returns
        -------
        GPHead
            The head itself.

        Examples
        --------
        >>> head = GPHead(features=3, inducing=8, task="classification", classes=2)
        >>> loader = [(torch.randn(32, 3), torch.randint(2, (32,))) for _ in range(4)]
        >>> head.fit_posterior(loader).fitted
        True
        """
        self.clear_posterior()
        moments = refit.Moments(self.inducing, self.outputs)
        for phi, targets, of_rows in self._batches(data, y, weight, encoder):
            check.features(phi, self.features)
            of_rows = check.weights(of_rows, len(phi))
            labels = check.labels(targets, len(phi), self.classes) if self.classes else None
            numbers = self._standardised(targets, len(phi)) if labels is None else None
            for start in range(0, len(phi), BLOCK):
                rows = slice(start, start + BLOCK)
                mean, var, a = self._conditioned(phi[rows], whitened=True)
                scale = None if of_rows is None else of_rows[rows]
                if numbers is not None:
                    moments.add(a, numbers[rows] - mean, scale)
                elif self.link is not None:
                    curvature = refit.curvature(self.link, mean, var)
                    moments.add(a, None, curvature if scale is None else curvature * scale)
        if moments.rows == 0:
            raise check.error("`data` holds no rows", "a loader that was read to its end gives nothing; make a new one")
        fitted = moments.classes() if self.classes else moments.numbers(self._noise(calibrated=False))
        for name in ("shift", "basis", "share"):
            # In the order in which a state is loaded: products of other strides differ in the last bit.
            setattr(self, f"posterior_{name}", getattr(fitted, name).to(self.z).contiguous())
        self.posterior_digest.fill_(self._digest())
        self._core = _Core(objective=self._core.objective)
        if validation is not None:
            self.recalibrate(validation, encoder=encoder)
        return self

    @torch.no_grad()
    def recalibrate(
        self, data: Tensor | Batches, y: Tensor | None = None, *, encoder: Encoder | None = None
    ) -> GPHead:
        """Rescale variances by rows that were not trained on; of fewer than some 30 rows nothing is learned.

        For each output of a regression, `var y = a·var f + b·σ²`; for classes, `s = β f/√(1 + κ a v)`: an inverse
        temperature and a factor on the latent variance. They minimise the negative log-likelihood.

        Examples
        --------
        >>> head = GPHead(features=3, inducing=8, task="regression")
        >>> phi, y = torch.randn(200, 3), 5.0 * torch.randn(200)
        >>> before = head.nll(phi, y)
        >>> head.recalibrate(phi, y).nll(phi, y) < before
        True
        """
        self.calibration.fill_(1.0)
        means, variances, targets = [], [], []
        for phi, of_rows, _ in self._batches(data, y, None, encoder):
            mean, var = self._latent(phi)
            rows = len(phi)
            own = check.labels(of_rows, rows, self.classes) if self.classes else self._standardised(of_rows, rows)
            means.append(mean)
            variances.append(var)
            targets.append(own)
        count = sum(map(len, means))
        if count < (refit.FEWEST_LABELS if self.classes else refit.FEWEST_TARGETS):
            warnings.warn(f"{count} rows are too few to recalibrate by; the head stays as it is", stacklevel=2)
            return self
        mean, var, own = torch.cat(means), torch.cat(variances), torch.cat(targets)
        if self.classes and self.link:
            found = [refit.recalibrate_classes(self.link, mean, var[:, 0], own)]
        else:
            noise = self._noise(calibrated=False).tolist()
            var = var.expand_as(mean)
            found = [
                refit.recalibrate_targets(own[:, c] - mean[:, c], var[:, c], noise[c]) for c in range(self.outputs)
            ]
        self.calibration.copy_(torch.tensor(found).T)
        return self

    def clear_posterior(self) -> GPHead:
        """Forget `fit_posterior` and `recalibrate`: pseudo-labels are points again.

        Examples
        --------
        >>> GPHead(features=3, inducing=8, task="regression").clear_posterior().fitted
        False
        """
        with torch.no_grad():
            for name in ("shift", "basis", "share"):
                setattr(self, f"posterior_{name}", self.z.new_empty(0, 0))
            self.calibration.fill_(1.0)
            self.posterior_digest.fill_(0)
        self._core = _Core(objective=self._core.objective)
        return self

    @property
    def fitted(self) -> bool:
        """Whether `fit_posterior` has been called, and parameters are what they were then."""
        return self.posterior_basis.numel() > 0 and int(self.posterior_digest) == self._digest()

    # ---- inside --------------------------------------------------------------------------------------------------------

    def _real(self) -> None:
        if self.z.is_meta:
            hint = 'call head.to_empty(device="cpu") and load a state, or build it on a real device'
            raise check.error("the head is on the device `meta`, where no numbers are", hint)

    def _signs(self, labels: Tensor) -> Tensor:
        """+1 for a row's class, −1 for the others [N, C]; for two classes the second's."""
        if self.outputs == 1:
            return labels[:, None].double() * 2.0 - 1.0
        signs = torch.full((len(labels), self.outputs), -1.0, dtype=torch.float64)
        return signs.scatter_(1, labels[:, None], 1.0)

    def _standardised(self, y: Tensor, rows: int) -> Tensor:
        y = check.targets(y, rows, self.outputs)
        return (y - self.y_shift.to(y)) / self.y_scale.to(y)

    def _log_noise(self) -> Tensor | None:
        """log σ with its floor."""
        if self.log_sigma is None or self.noise_floor == 0.0:
            return self.log_sigma
        floor = torch.full_like(self.log_sigma, 2.0 * math.log(self.noise_floor))
        return 0.5 * torch.logaddexp(2.0 * self.log_sigma, floor)

    def _noise(self, *, calibrated: bool = True) -> Tensor:
        """Variance of the noise [C], of standardised targets."""
        log_sigma = self._log_noise()
        assert log_sigma is not None, "a regression has noise"
        noise = (2.0 * log_sigma.detach().to("cpu", torch.float64)).exp()
        return noise * self.calibration[1].to(noise) if calibrated else noise

    def _posterior(self) -> _core.HeadPosterior:
        """Made anew where a parameter has changed.

        By the numbers themselves: writing to `.data` moves no version, and the copy is small beside a prediction.
        """
        self._real()
        threads = torch.get_num_threads()
        parameters = (self.z, self.w, self.b, self.log_kernel)
        inputs = tuple(x.detach().to("cpu", torch.float64, copy=True) for x in parameters)
        cached = self._core
        same = cached.posterior is not None and cached.threads == threads
        if not same or not all(map(torch.equal, cached.inputs, inputs)):
            z, w, b, log_kernel = inputs
            log_scale, log_shape = log_kernel.tolist()
            cached.posterior = _core.HeadPosterior(
                self.kernel,
                z.numpy(),
                w.numpy(),
                b.numpy(),
                (log_scale, log_shape),
                jitter=self.jitter,
                precision="f64",
                threads=threads,
            )
            cached.inputs, cached.threads, cached.refit = inputs, threads, None
            if self.posterior_basis.numel() > 0:
                if self.fitted:
                    parts = (self.posterior_shift, self.posterior_basis, self.posterior_share)
                    cached.refit = refit.Refit(*(x.to("cpu", torch.float64) for x in parts))
                else:
                    warnings.warn(
                        "parameters have changed since fit_posterior, which predictions now leave out\n"
                        "hint: call fit_posterior again, or clear_posterior",
                        stacklevel=4,
                    )
        assert cached.posterior is not None, "just made"
        return cached.posterior

    def _conditioned(self, features: Tensor, *, whitened: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Mean [N, C] and variance [N] given the pseudo-labels r, and whitened features [N, M] if they are asked for."""
        posterior = self._posterior()
        phi = array_of(features, torch.float64)
        mean, var = posterior.predict(phi)
        a = torch.from_numpy(posterior.whiten(phi)) if whitened else torch.empty(0)
        return torch.from_numpy(mean), torch.from_numpy(var), a

    def _latent(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Mean [N, C] and calibrated variance [N, C] or [N, 1] of latent functions, of standardised targets."""
        check.features(features, self.features)
        self._posterior()
        fitted = self._core.refit
        if fitted is None:
            mean, var, _ = self._conditioned(features, whitened=False)
            spread = var[:, None]
        else:
            means, spreads = [], []
            for start in range(0, len(features), BLOCK):
                mean, var, a = self._conditioned(features[start : start + BLOCK], whitened=True)
                means.append(mean + a @ fitted.shift)
                spreads.append(var[:, None] + (a @ fitted.basis).square() @ fitted.share.T)
            mean, spread = torch.cat(means), torch.cat(spreads)
        factor = self.calibration.to("cpu", torch.float64)
        if self.classes:
            mean = mean * factor[1]
        return mean, spread * factor[0]

    def _probabilities(self, mean: Tensor, var: Tensor) -> Tensor:
        assert self.link is not None, "classes have a link"
        return refit.probabilities(self.link, mean, var[:, 0])

    def _batches(
        self, data: Tensor | Batches, y: Tensor | None, weight: Tensor | None, encoder: Encoder | None
    ) -> Iterable[tuple[Tensor, Tensor, Tensor | None]]:
        """Features, targets and weights, batch by batch."""
        if isinstance(data, Tensor) or y is not None:
            if y is None:
                raise check.error("`y` is missing", "pass targets, or a loader of pairs (features, y)")
            data = [(data, y, weight)]
        elif isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], Tensor):
            data = [data]
        training = isinstance(encoder, nn.Module) and encoder.training
        if isinstance(encoder, nn.Module):
            encoder.eval()
        try:
            for batch in data:
                if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
                    hint = "a loader gives (features, y), (features, y, weight), or with `encoder` (x, y)"
                    raise check.error(f"a batch is of type {type(batch).__name__}, not a pair", hint)
                x, targets, *of_rows = batch
                yield (x if encoder is None else encoder(x)), targets, of_rows[0] if of_rows else None
        finally:
            if isinstance(encoder, nn.Module):
                encoder.train(training)

    def _digest(self) -> int:
        """Of all parameters that a posterior depends on."""
        hashed = hashlib.sha256()
        for x in (self.z, self.w, self.b, self.log_sigma, self.log_kernel):
            if x is not None:
                hashed.update(array_of(x, torch.float64).tobytes())
        return int.from_bytes(hashed.digest()[:7], "little") + 1

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> GPHead:
        # Rounding to another precision is no change of parameters.
        fitted = not self.z.is_meta and self.posterior_basis.numel() > 0 and self.fitted
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if fitted and not self.z.is_meta:
            with torch.no_grad():
                self.posterior_digest.fill_(self._digest())
        self._core = _Core(objective=self._core.objective)
        return self

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        # The posterior is empty until it is fitted.
        for name in ("posterior_shift", "posterior_basis", "posterior_share"):
            if (value := state_dict.get(prefix + name)) is not None:
                setattr(self, name, getattr(self, name).new_empty(value.shape))
        super()._load_from_state_dict(state_dict, prefix, *args)
        self._core = _Core(objective=self._core.objective)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_core": _Core()}

    def extra_repr(self) -> str:
        """What `print` says of the head."""
        size = f"classes={self.classes}, link={self.link!r}" if self.classes else f"outputs={self.outputs}"
        return (
            f"features={self.features}, inducing={self.inducing}, task={self.task!r}, {size}, "
            f"kernel={self.kernel!r}, coupling={self.coupling!r}"
        )
