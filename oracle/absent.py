"""Rows with cells that training never had: missing where none was missing, of a level that none held (docs/model-file.md, section 7,
"Absent cells").

    p(y | known cells) ≈ mean_j p(y | known cells, absent cells of row j)        j: kept rows that are like it in the known cells
"""

from dataclasses import replace

import numpy as np

from density import Mixture
from inputs import Inputs
from neighbours import nearest, weights

# Kept rows whose cells stand in for absent ones, and the least share of a Gaussian that counts in their mixture.
DONORS, LEAST = 32, 1e-4


def scattered(row):
    """SplitMix64 of a row's number."""
    mask = 2 ** 64 - 1
    z = (row + 1) * 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


def process_of_inputs(header):
    """Of the first target, or of the classes; none where the model keeps no inputs."""
    ensemble = header.get("ensemble", {"stacks": []})
    stacks = ensemble["stacks"] or [ensemble.get("class_stack")]
    return stacks[0] and stacks[0]["process"]


def completed(process, tensors, inputs):
    """Each row with absent cells as often as there are donors, with their cells; rows whose donors rounding may choose."""
    kept, scale = tensors["neighbours.x"], weights(process)
    kept = kept[sorted(range(len(kept)), key=scattered)]                                           # of equally near ones any may be a donor
    x, near_ties = [], set()
    for row, columns in sorted(inputs.absent.items()):
        unknown = [j for column in columns for j in inputs.places[column]]
        known = scale.copy()
        known[unknown] = 0
        own = inputs.x[row:row + 1]                                                                # [1, d]
        found, _, ties = nearest(kept * known, own * known, DONORS)
        rows = np.repeat(own, found.shape[1], axis=0)                                              # [donors, d]
        rows[:, unknown] = kept[found[0]][:, unknown]
        x.append(rows)
        near_ties |= {row} if ties else set()
    x = np.concatenate(x)
    return Inputs(len(x), x), near_ties


def rows_of(near_ties, rows, said):
    """Rows of which a donor's prediction has a near tie."""
    return {rows[i * len(rows) // len(said.familiarity)] for i in near_ties}


def mixed_numbers(said, rows):
    """One number of some rows, from what is said of each with the cells of its donors, one after the other."""
    by_row = lambda values: values.reshape(len(rows), -1)  # noqa: E731  [rows, donors]
    mean = by_row(said.mean).mean(axis=1)
    var_latent = (by_row(said.std_latent) ** 2).mean(axis=1) + by_row(said.mean).var(axis=1)
    share, means, stds = (by_row(values) for values in (said.density.share, said.density.mean, said.density.std))
    share = np.where(share >= LEAST, share, 0.0)
    density = Mixture(share / share.sum(1, keepdims=True), means, stds)
    std = density.deviation_about(mean)
    return replace(said, mean=mean, std=std, std_latent=np.minimum(np.sqrt(var_latent), std), density=density,
                   familiarity=np.zeros(len(rows)), near_ties=rows_of(said.near_ties, rows, said))


def mixed_classes(said, rows):
    """The same for classes."""
    by_row = lambda values: values.reshape(len(rows), -1, values.shape[1])  # noqa: E731  [rows, donors, K]
    var = (by_row(said.latent_std) ** 2).mean(axis=1) + by_row(said.latent_mean).var(axis=1)
    return replace(said, p=by_row(said.p).mean(axis=1), latent_mean=by_row(said.latent_mean).mean(axis=1), latent_std=np.sqrt(var),
                   familiarity=np.zeros(len(rows)), near_ties=rows_of(said.near_ties, rows, said))


def shares(header, inputs):
    """Of each row the share of its columns that are absent, [N]."""
    count = [len(inputs.absent.get(row, [])) for row in range(inputs.rows)]
    return np.array(count) / max(len(header["schema"].get("inputs", [])), 1)


def less_certain_classes(said, counts, share):
    """Towards the frequencies of the classes, by the share of absent columns [N]."""
    frequencies = np.array(counts) / sum(counts)
    return replace(said, p=(1 - share[:, None]) * said.p + share[:, None] * frequencies, familiarity=unfamiliar(said.familiarity, share))


def unfamiliar(familiarity, share):
    """Familiarity [N], or none: 0 where a column is absent."""
    return None if familiarity is None else np.where(share > 0, 0.0, familiarity)
