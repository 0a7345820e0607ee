"""Kept training rows that are near a row, a process on them, and how far a row is from all of them (docs/model-file.md, section 7,
"Nearest rows").

Which rows are nearest is decided in the 32 bits that the format defines, so that rows that are equally near are found in the
program's order. Linear solves stand in place of Cholesky factors.
"""

import numpy as np

# The neighbour whose distance says how far a row is, and how many times the usual distance is far from all rows.
RANK, FAR = 8, 2.0
# Two distances that differ by less than this, relatively, may change places in 32 bits: ten to twenty times their rounding.
NEAR_TIE = 2e-6
# Rows beyond those asked for whose distances the program computes with the same digits as this script.
SPARE = 8
# Rows at a time: differences of neighbours take memory.
BLOCK = 512


# ---- the nearest rows -------------------------------------------------------------------------------------------

def inverse_lengths(process):
    """1/ℓ of each coordinate, [d]."""
    return np.exp(-np.array(process["log_lengths"]))[process["groups"]]


def weights(process):
    """The same in single precision."""
    return inverse_lengths(process).astype(np.float32)


def squared_distances(points, queries):
    """[n, N], in double precision of single-precision differences, coordinate by coordinate."""
    squared = np.zeros((len(queries), len(points)))
    for j in range(points.shape[1]):
        squared += (queries[:, j, None] - points[None, :, j]).astype(float) ** 2
    return squared


def nearest(points, queries, count, exact=True):
    """The `count` rows of points [N, d] nearest to each query [n, d], nearest first, with their distances, both [n, k]; queries where
    rounding may choose others. Points and queries are weighted and single; they are `exact` if the program has the same digits.
    """
    centre = points.astype(float).mean(axis=0).astype(np.float32)                                  # [d]
    points, queries = points - centre, queries - centre
    squared = squared_distances(points, queries)
    order = np.argsort(squared, axis=1, kind="stable")                                             # the first of equal ones
    r = np.sqrt(np.take_along_axis(squared, order, axis=1))                                        # [n, N]
    k, certain = min(count, len(points)), min(count, len(points)) + (SPARE if exact else 0)
    near_ties = set()
    if certain < len(points):
        apart = np.abs(r - r[:, k - 1:k]) <= NEAR_TIE * r[:, k - 1:k]                              # [n, N]
        for i in np.flatnonzero(apart[:, certain]):
            group = points[order[i, apart[i]]]
            near_ties |= set() if (group == group[0]).all() else {int(i)}
    return order[:, :k], r[:, :k], near_ties


# ---- a process on them ------------------------------------------------------------------------------------------

def correlation(family, r):
    if family == "half":
        return np.exp(-r)
    if family == "three_halves":
        u = np.sqrt(3) * r
        return (1 + u) * np.exp(-u)
    assert family == "five_halves", family
    u = np.sqrt(5) * r
    return (1 + u + u ** 2 / 3) * np.exp(-u)


def condition(process, points, labels, found, queries):
    """Mean and variance [n] of a process at queries [n, d], given the points [N, d] that were found near each [n, k] and their labels
    [N]; the distances r [n, k]."""
    parts = [_condition(process, points[found[at:at + BLOCK]].astype(float) - queries[at:at + BLOCK, None], labels[found[at:at + BLOCK]])
             for at in range(0, len(queries), BLOCK)]
    return tuple(np.concatenate(values) for values in zip(*parts))


def _condition(process, differences, labels):
    s, noise = np.exp(process["log_scale"]), np.exp(process["log_noise"])
    scaled = differences * inverse_lengths(process)                                                # [n, k, d]
    r = np.sqrt((scaled ** 2).sum(2))                                                              # [n, k]
    apart = np.zeros((*r.shape, r.shape[1]))                                                       # [n, k, k]
    for j in range(scaled.shape[2]):
        apart += (scaled[:, :, None, j] - scaled[:, None, :, j]) ** 2
    k_nn = s * correlation(process["family"], np.sqrt(apart)) + noise * np.eye(r.shape[1])
    k_nx = s * correlation(process["family"], r)                                                   # [n, k]
    solved = np.linalg.solve(k_nn, np.stack([labels, k_nx], axis=2))                               # [n, k, 2]
    mean, explained = (k_nx[:, :, None] * solved).sum(1).T                                         # [n]
    return mean, np.clip(s - explained, 0.0, s), r


# ---- how far a row is -------------------------------------------------------------------------------------------

def distance_of(r):
    """ϱ [n]: of the eighth neighbour, or the last of fewer."""
    return r[:, :RANK].max(axis=1)


def beyond(usual, value):
    """From 0, where a value is usual, to 1, where it is twice the largest of the usual ones."""
    return np.clip((value / max(usual[-1], 1e-9) - 1) / (FAR - 1), 0, 1) if usual else np.zeros(len(value))


def far(stack, distance):
    """t [n]: from 0 where training rows are to 1 where none is and none says anything of a point."""
    return beyond(stack["distances"], distance) * (1 - correlation(stack["process"]["family"], distance))


def familiarity(usual, value):
    """Share of training rows, or held-out ones, with at least this value, [n]."""
    return (np.array(usual)[None, :] >= value[:, None]).sum(1) / max(len(usual), 1)


def near_steps(usual, value):
    """Values that are usual ones but for their rounding, which decides their familiarity; a distance of 0 may be that of a copy."""
    apart = np.abs(np.array(usual)[None, :] - value[:, None]).min(axis=1, initial=np.inf)
    return set(np.flatnonzero(apart <= 1e-5 * value + 1e-6).tolist())
