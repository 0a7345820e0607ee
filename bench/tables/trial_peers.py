"""Who runs on the tables of a new user: `ign`, and peers for numbers and for classes."""

from importlib.util import find_spec

import class_peers
import linear
import trees
import trial_sets


def runners(ign):
    """Name → function of a split; CatBoost where it is installed."""
    peers = {"linear": (linear.regression, class_peers.logistic), "lightgbm": (trees.lightgbm, class_peers.lightgbm)}
    if find_spec("catboost"):
        peers["catboost"] = (trees.catboost, class_peers.catboost)

    def for_task(regression, classification):
        return lambda split: (classification if trial_sets.is_classification(split.set) else regression)(split)

    everyone = {who: for_task(*pair) for who, pair in peers.items()}
    prepared = {who: lambda split, run=run: run(trial_sets.for_peers(split)) for who, run in everyone.items()}
    return {"ign": for_task(ign.regression, ign.classification), **prepared}
