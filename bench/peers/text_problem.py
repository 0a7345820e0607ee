"""The texts of the rows "text-step": sizes and data. Numpy only, as problem.py.

Token ids follow Zipf's law; `full` texts have 200 tokens, `mixed` ones are as long as film reviews cut at 200: 60 % are cut,
the others have between 40 and 199 tokens.
"""

import numpy as np

VOCABULARY, LENGTH, WIDTH, HEADS, FEED_FORWARD, FEATURES = 20_000, 200, 32, 2, 32, 64
BATCH, BATCHES = 32, 16
LENGTHS = ("full", "mixed")


def batches(lengths):
    """[(texts as arrays of ids, labels [N])]"""
    rng = np.random.default_rng(0)

    def text():
        short = lengths == "mixed" and rng.random() < 0.4
        length = rng.integers(40, LENGTH) if short else LENGTH
        return (2 + (VOCABULARY - 2) * rng.random(length) ** 4).astype(np.int64)

    return [([text() for _ in range(BATCH)], rng.integers(0, 2, BATCH)) for _ in range(BATCHES)]
