"""Cross-fitted members joined with the nearest training rows (docs/model-file.md, section 7, "Ensembles").

    μ     = w₁f̄ + w₂g + w₃h        f̄ of the members, g of a process on the nearest rows, h of members with rows that they left out
    var y = a₁v_f + a₂v_g + a₃(f̄ − g)² + a₄v_h + a₅n + a₆ + κ max(0, v_g − v₅₀)
    p     = (λ p₀ + Σ_j κ_j N(y_j, η²)) / (λ + Σ_j κ_j)        κ_j = exp(−r_j/r₀)

In feature space the nearest rows depend on the last digits of the encoder; rows where these may decide are counted as near ties.
"""

from dataclasses import dataclass

import numpy as np

from density import Mixture
from inputs import Inputs
from neighbours import condition, distance_of, familiarity, far, nearest, weights
from process import ask_networks


# ---- numbers ----------------------------------------------------------------------------------------------------

@dataclass
class Stacked:
    """What is said of one standardised target at N rows."""
    mean: np.ndarray            # [N]
    var_latent: np.ndarray      # [N]
    density: Mixture
    familiarity: np.ndarray     # [N]
    near_ties: set              # rows


def linear(stack, x):
    *slopes, intercept = stack["linear"]
    return x.astype(float) @ slopes + intercept


def left_out(folds, member):
    """Kept rows that a member never saw; −2 marks those that no member has seen."""
    return ((folds == member) | (folds == -2)).any(1)


def by_features(stack, c, header, tensors, inputs, networks):
    """h and v_h [N]: each member with the nearest of the rows that it left out, on average; rows with near ties."""
    process, x = stack["feature_process"], tensors["neighbours.x"]
    h, v_h, near_ties = np.zeros(inputs.rows), np.zeros(inputs.rows), set()
    coordinates = lambda x, network: np.concatenate(                                               # noqa: E731  [x/ℓ | φ | f]
        [x * weights(stack["process"]), network.phi, network.mean[:, c:c + 1]], axis=1).astype(np.float32)
    known = ask_networks(header, tensors, Inputs(len(x), x))
    for member, (at_kept, here) in enumerate(zip(known, networks)):
        rows = left_out(tensors["neighbours.folds"], member)
        own = coordinates(x, at_kept)[rows]                                                        # [n, d + D + 1]
        labels = tensors["neighbours.y"][rows, c].astype(float) - at_kept.mean[rows, c]            # [n]
        asked = coordinates(inputs.x, here)                                                        # [N, d + D + 1]
        scale = weights(process)
        found, _, ties = nearest(own * scale, asked * scale, stack["feature_count"], exact=False)
        add, var, _ = condition(process, own, labels, found, asked)
        h += (here.mean[:, c] + add) / len(networks)
        v_h += var / len(networks)
        near_ties |= ties
    return h, v_h, near_ties


def predict_stack(c, header, tensors, inputs, networks, mean, var):
    """Target c, from the members' joint mean f̄ and variance v_f [N]."""
    stack = header["ensemble"]["stacks"][c]
    process, x = stack["process"], tensors["neighbours.x"]
    y, errors = (tensors[f"neighbours.{name}"][:, c].astype(float) for name in ("y", "errors"))
    h, v_h, near_ties = mean, np.zeros(inputs.rows), set()
    if stack["feature_process"] is not None:
        h, v_h, near_ties = by_features(stack, c, header, tensors, inputs, networks)
    usual, scale = linear(stack, inputs.x), weights(process)                                       # [N], [d]
    found, _, ties = nearest(x * scale, inputs.x * scale, stack["count"])                          # [N, k]
    add, v_g, r = condition(process, x, y - linear(stack, x), found, inputs.x)
    g, kappa = usual + add, np.exp(-r)
    noise = (stack["usual_error"] + (kappa * errors[found]).sum(1)) / (1 + kappa.sum(1))
    t = far(stack, distance_of(r))
    w, a = stack["weights"], stack["parts"]
    mu = (1 - t) * (w[0] * mean + w[1] * g + w[2] * h) + t * usual
    unusual = stack.get("caution", 1.0) * np.maximum(v_g - stack["usual_variance"], 0)
    b, usual_gap = stack.get("gap_weights", [0, 0]), stack.get("gap_thresholds", [0, 0])
    apart = (mean - g) ** 2
    gap = b[0] * np.maximum(v_g - usual_gap[0], 0) + b[1] * np.maximum(apart - usual_gap[1], 0)
    var_latent = np.maximum(a[0] * var + a[1] * v_g + a[2] * apart + a[3] * v_h + unusual + gap, t)
    std = np.sqrt(var_latent + a[4] * noise + stack["noise"])
    familiar = familiarity(stack["distances"], distance_of(r))
    return Stacked(mu, var_latent, mixture(stack, mu, std, r, y[found]), familiar, near_ties | ties)


def mixture(stack, mu, std, r, labels):
    """A shape scaled by mean and deviation [N], and the neighbours' labels [N, k] by their distances."""
    share, shift, width = np.array(stack["shape"]).T                                               # [K]
    share = np.repeat(share[None], len(mu), axis=0)                                                # [N, K]
    means, stds = mu[:, None] + std[:, None] * shift, std[:, None] * width
    if stack["prior"] is not None:
        kappa = np.exp(-r / stack["reach"])                                                        # [N, k]
        kappa[kappa <= 1e-6 * stack["prior"]] = 0.0
        share = np.hstack([stack["prior"] * share, kappa])
        means, stds = np.hstack([means, labels]), np.hstack([stds, np.full(labels.shape, stack["bandwidth"])])
    return Mixture(share / share.sum(1, keepdims=True), means, stds)


# ---- classes ----------------------------------------------------------------------------------------------------

def join_neighbours(stack, classes, p, found, r):
    """Probabilities p [N, K] joined with the classes of the rows that were found near each, at distances r, both [N, k]."""
    if stack["prior"] is None:
        return p
    kappa = np.exp(-r / stack["reach"])                                                            # [N, k]
    counts = np.stack([(kappa * (classes[found] == k)).sum(1) for k in range(p.shape[1])], axis=1)
    return (stack["prior"] * p + counts) / (stack["prior"] + kappa.sum(1, keepdims=True))


def join_classes(stack, tensors, x, p):
    """Probabilities p [N, K] joined with the classes of the nearest rows, the rows' familiarity [N], rows with near ties."""
    classes, scale = tensors["neighbours.y"][:, 0].astype(int), weights(stack["process"])
    found, r, ties = nearest(tensors["neighbours.x"] * scale, x * scale, stack["count"])
    t = far(stack, distance_of(r))[:, None]
    joined = (1 - t) * join_neighbours(stack, classes, p, found, r) + t * np.array(stack["frequencies"])
    return joined, familiarity(stack["distances"], distance_of(r)), ties
