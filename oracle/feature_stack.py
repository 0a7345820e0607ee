"""One network joined with the features of training rows that it keeps (docs/model-file.md, section 7, "Kept features").

    v   ← v + v(c)            c = [Φ | ŷ] or [Φ | tanh(f/4)] in 32 bits, v(c) the variance of a process given the nearest kept c
    e   = ‖x − m‖² − ‖V(x − m)‖²        what principal components of training images leave of an image
    t   = max( far(ϱ), beyond(e) )        familiarity = 1 − (1 − min(p_ϱ, p_e))²
"""

from dataclasses import dataclass

import numpy as np

from ensemble import join_neighbours
from neighbours import beyond, condition, distance_of, familiarity, far, near_steps, nearest, weights


@dataclass
class Position:
    """Where N inputs are among the kept features."""
    var: np.ndarray             # [N]       of the process
    found: np.ndarray           # [N, k]    kept rows
    r: np.ndarray               # [N, k]    and their distances
    far: np.ndarray             # [N]       t
    familiarity: np.ndarray     # [N]
    near_ties: set              # rows


def locate(stack, tensors, inputs, network):
    kept, process = tensors["neighbours.x"], stack["process"]
    means = np.tanh(network.mean / 4) if stack["frequencies"] else network.mean                    # of classes, of numbers
    asked = np.concatenate([network.phi, means], axis=1).astype(np.float32)                        # [N, D + C]
    found, r, ties = nearest(kept * weights(process), asked * weights(process), stack["count"], exact=False)
    _, var, _ = condition(process, kept, np.zeros(len(kept)), found, asked)
    t, familiar = far(stack, distance_of(r)), familiarity(stack["distances"], distance_of(r))
    ties |= near_steps(stack["distances"], distance_of(r))
    usual = stack.get("reconstruction")
    if usual is not None:
        error = reconstruction_error(tensors, inputs.x)
        ties |= near_steps(usual, error)
        t = np.maximum(t, beyond(usual, error))
        familiar = 1 - (1 - np.minimum(familiar, familiarity(usual, error))) ** 2
    return Position(var, found, r, t, familiar, ties)


def reconstruction_error(tensors, x):
    """What the components V [p, d] leave of images x [N, d]."""
    v = tensors["reconstruction.components"].astype(float)
    centred = x.astype(float) - tensors["reconstruction.mean"]
    scores = centred @ v.T                                                                         # [N, p]
    return np.maximum((centred ** 2).sum(1) - (scores ** 2).sum(1), 0.0)


def join_features(stack, tensors, position, p):
    """Probabilities p [N, K] joined with the classes of the nearest kept rows."""
    classes, t = tensors["neighbours.y"][:, 0].astype(int), position.far[:, None]
    return (1 - t) * join_neighbours(stack, classes, p, position.found, position.r) + t * np.array(stack["frequencies"])
