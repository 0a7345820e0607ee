"""Cross-fitted members joined with the nearest training rows (docs/model-file.md, section 7, "Ensembles").

    μ     = w₁f̄ + w₂g + w₃h        f̄ of the members, g of a process on the nearest rows, h of members with rows that they left out
    var y = a₁v_f + a₂v_g + a₃(f̄ − g)² + a₄v_h + a₅n + a₆ + max(0, v_g − v₉₉)
    p     = (λ p₀ + Σ_j κ_j N(y_j, η²)) / (λ + Σ_j κ_j)        κ_j = exp(−r_j/r₀)

Row by row, with linear solves in place of Cholesky factors. Neighbours of x are found in the 32 bits that the format defines; in
feature space they depend on the last digits of the encoder, and rows where these may decide are counted as near ties.
"""

from dataclasses import dataclass

import numpy as np

from density import Mixture
from inputs import Inputs
from process import ask_networks

# The neighbour whose distance says how far a row is, and how many times the usual distance is far from all rows.
RANK, FAR = 8, 2.0
# Two distances that differ by less than this, relatively, may change places in 32 bits.
NEAR_TIE = 1e-5


# ---- rows near a row --------------------------------------------------------------------------------------------

def inverse_lengths(process):
    """1/ℓ of each coordinate, [d]."""
    return np.exp(-np.array(process["log_lengths"]))[process["groups"]]


def weighted(process, coordinates):
    """Coordinates over their lengths, all in single precision."""
    return coordinates.astype(np.float32) * inverse_lengths(process).astype(np.float32)


def nearest(points, query, count):
    """The `count` rows of points [N, d] nearest to a query [d], nearest first, with their distances; whether one more is as near."""
    squared = ((points - query).astype(float) ** 2).sum(1)                                         # [N]
    order = np.argsort(squared, kind="stable")
    r = np.sqrt(squared[order[:count + 1]])
    tie = len(order) > count and r[count] - r[count - 1] <= NEAR_TIE * r[count]
    return order[:count], r[:count], tie


def correlation(family, r):
    if family == "half":
        return np.exp(-r)
    assert family == "three_halves", family
    u = np.sqrt(3) * r
    return (1 + u) * np.exp(-u)


def condition(process, differences, labels):
    """Mean and variance of a process at a point, from its neighbours' differences [k, d] and labels [k]; their distances r [k]."""
    s, noise = np.exp(process["log_scale"]), np.exp(process["log_noise"])
    scaled = differences * inverse_lengths(process)                                                # [k, d]
    r = np.sqrt((scaled ** 2).sum(1))                                                              # [k]
    apart = np.sqrt(((scaled[:, None] - scaled[None]) ** 2).sum(2))                                # [k, k]
    k_nn = s * correlation(process["family"], apart) + noise * np.eye(len(r))
    k_nx = s * correlation(process["family"], r)                                                   # [k]
    solved = np.linalg.solve(k_nn, np.stack([labels, k_nx], axis=1))                               # [k, 2]
    mean, explained = k_nx @ solved
    return mean, np.clip(s - explained, 0.0, s), r


# ---- how far a row is -------------------------------------------------------------------------------------------

def distance_of(r):
    """Of the eighth neighbour, or the last of fewer."""
    return r[:RANK].max()


def far(stack, distance):
    """t: from 0 where training rows are to 1 where none is."""
    usual = stack["distances"]
    return float(np.clip((distance / max(usual[-1], 1e-9) - 1) / (FAR - 1), 0, 1)) if usual else 0.0


def familiarity(stack, distance):
    """Share of training rows that were at least as far from the others."""
    usual = stack["distances"]
    return sum(other >= distance for other in usual) / max(len(usual), 1)


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
        [weighted(stack["process"], x), network.phi, network.mean[:, c:c + 1]], axis=1).astype(np.float32)
    known = ask_networks(header, tensors, Inputs(len(x), x))
    for member, (at_kept, here) in enumerate(zip(known, networks)):
        rows = left_out(tensors["neighbours.folds"], member)
        own = coordinates(x, at_kept)[rows]                                                        # [n, d + D + 1]
        labels = tensors["neighbours.y"][rows, c].astype(float) - at_kept.mean[rows, c]            # [n]
        asked = coordinates(inputs.x, here)                                                        # [N, d + D + 1]
        points, queries = weighted(process, own), weighted(process, asked)
        for i in range(inputs.rows):
            found, _, tie = nearest(points, queries[i], stack["feature_count"])
            add, var, _ = condition(process, own[found].astype(float) - asked[i], labels[found])
            h[i] += (here.mean[i, c] + add) / len(networks)
            v_h[i] += var / len(networks)
            near_ties |= {i} if tie else set()
    return h, v_h, near_ties


def predict_stack(c, header, tensors, inputs, networks, mean, var):
    """Target c, from the members' joint mean f̄ and variance v_f [N]."""
    stack = header["ensemble"]["stacks"][c]
    process, x, n = stack["process"], tensors["neighbours.x"], inputs.rows
    y, errors = (tensors[f"neighbours.{name}"][:, c].astype(float) for name in ("y", "errors"))
    h, v_h, near_ties = mean, np.zeros(n), set()
    if stack["feature_process"] is not None:
        h, v_h, near_ties = by_features(stack, c, header, tensors, inputs, networks)
    residuals = y - linear(stack, x)
    points, queries = weighted(process, x), weighted(process, inputs.x)
    usual = linear(stack, inputs.x)                                                                # [N]
    k = min(stack["count"], len(x))
    g, v_g, noise, t, familiar = (np.zeros(n) for _ in range(5))
    r, labels = np.zeros((n, k)), np.zeros((n, k))
    for i in range(n):
        found, _, _ = nearest(points, queries[i], k)
        add, v_g[i], r[i] = condition(process, x[found].astype(float) - inputs.x[i], residuals[found])
        g[i], labels[i] = usual[i] + add, y[found]
        kappa = np.exp(-r[i])
        noise[i] = (stack["usual_error"] + kappa @ errors[found]) / (1 + kappa.sum())
        t[i], familiar[i] = far(stack, distance_of(r[i])), familiarity(stack, distance_of(r[i]))
    w, a = stack["weights"], stack["parts"]
    mu = (1 - t) * (w[0] * mean + w[1] * g + w[2] * h) + t * usual
    unusual = np.maximum(v_g - stack["usual_variance"], 0)
    var_latent = np.maximum(a[0] * var + a[1] * v_g + a[2] * (mean - g) ** 2 + a[3] * v_h + unusual, t)
    std = np.sqrt(var_latent + a[4] * noise + stack["noise"])
    return Stacked(mu, var_latent, mixture(stack, mu, std, r, labels), familiar, near_ties)


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

def join_classes(stack, tensors, x, p):
    """Probabilities p [N, K] joined with the classes of the nearest rows, and the rows' familiarity [N]."""
    classes = tensors["neighbours.y"][:, 0].astype(int)
    points, queries = weighted(stack["process"], tensors["neighbours.x"]), weighted(stack["process"], x)
    joined, familiar = p.copy(), np.zeros(len(p))
    for i in range(len(p)):
        found, r, _ = nearest(points, queries[i], stack["count"])
        if stack["prior"] is not None:
            kappa = np.exp(-r / stack["reach"])
            counts = np.bincount(classes[found], weights=kappa, minlength=p.shape[1])              # [K]
            joined[i] = (stack["prior"] * p[i] + counts) / (stack["prior"] + kappa.sum())
        t, familiar[i] = far(stack, distance_of(r)), familiarity(stack, distance_of(r))
        joined[i] = (1 - t) * joined[i] + t * np.array(stack["frequencies"])
    return joined, familiar
