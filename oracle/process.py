"""The process on the inducing points: latent functions at features (docs/model-file.md, section 7)."""

from dataclasses import dataclass

import numpy as np

from encoders import features
from model_file import within


def kernel_matrix(family, s, shape, a, b):
    if family == "linear":
        return s * (a @ b.T) + shape
    squared = np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * a @ b.T, 0.0)
    if family == "rbf":
        return s * np.exp(-shape * squared)
    if family == "matern32":
        u = np.sqrt(6 * shape * squared)
        return s * (1 + u) * np.exp(-u)
    assert family == "matern52", family
    u = np.sqrt(10 * shape * squared)
    return s * (1 + u + u * u / 3) * np.exp(-u)


def factor(k_zz, jitter):
    """Lower factor of K_zz + jitter·I, with ten times the jitter as long as that is not positive definite."""
    top = 0.1 * abs(np.diag(k_zz).mean()) + jitter
    while True:
        try:
            return np.linalg.cholesky(k_zz + jitter * np.eye(len(k_zz)))
        except np.linalg.LinAlgError:
            jitter *= 10
            if jitter > top:
                raise


def posterior(family, jitter, tensors, phi):
    """Latent mean [N, C] and variance [N]."""
    s, shape = np.exp(tensors["kernel.log_parameters"].astype(float))
    z, w, b = (tensors[f"inducing.{name}"].astype(float) for name in "zwb")
    lower = factor(kernel_matrix(family, s, shape, z, z), jitter)                                  # [M, M]
    alpha = np.linalg.solve(lower.T, np.linalg.solve(lower, z @ w + b))                            # [M, C]
    k_zx = kernel_matrix(family, s, shape, z, phi)                                                 # [M, N]
    prior = s * (phi * phi).sum(1) + shape if family == "linear" else np.full(len(phi), s)         # [N]
    a = np.linalg.solve(lower, k_zx)                                                               # [M, N]
    return k_zx.T @ alpha, np.maximum(prior - (a * a).sum(0), 0.0)


@dataclass
class Network:
    """What one network says of N inputs."""
    phi: np.ndarray     # [N, D]
    mean: np.ndarray    # [N, c]
    var: np.ndarray     # [N]


def ask_network(header, tensors, k, inputs):
    """Of network k: the first has the header's own fields and no prefix before its tensors."""
    own = within(tensors, f"{k}.") if k else tensors
    fields = header["others"][k - 1] if k else header
    phi = features(header["encoder"], fields["feature_scale"], own, inputs)
    if header["config"].get("head", "gp") == "softmax":
        return Network(phi, phi @ own["softmax.w"].astype(float) + own["softmax.b"], np.zeros(len(phi)))
    return Network(phi, *posterior(fields["kernel"]["family"], header["config"]["gp"]["jitter"], own, phi))


def ask_networks(header, tensors, inputs):
    return [ask_network(header, tensors, k, inputs) for k in range(1 + len(header.get("others", [])))]


def latent(header, networks):
    """Latent mean and variance, both [N, C]: of all networks together in an ensemble, else of one for all outputs or one for each."""
    means = [network.mean for network in networks]
    variances = [np.repeat(network.var[:, None], network.mean.shape[1], axis=1) for network in networks]
    if "ensemble" not in header:
        return np.concatenate(means, axis=1), np.concatenate(variances, axis=1)
    between = np.var(means, axis=0, ddof=1) if len(means) > 1 else 0.0
    return np.mean(means, axis=0), np.mean(variances, axis=0) + between
