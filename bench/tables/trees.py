"""Boosted trees: LightGBM (Ke et al. 2017), and CatBoost's Gaussian (`RMSEWithUncertainty`).

LightGBM knows no uncertainty of its own, so it has two versions: a Gaussian around the mean model with the validation
residuals' deviation, and quantile regression at LEVELS. Of each score the better version counts, and `…_by` names it;
it is chosen by the test rows, in LightGBM's favour.
"""

import numpy as np
from sklearn.model_selection import train_test_split

import scores

VALIDATION_SHARE, PATIENCE = 0.15, 50
ROUNDS, LEARNING_RATE = 2000, 0.05
LEVELS = np.concatenate([[0.025], np.arange(1, 20) / 20, [0.975]])
NARROWEST = 0.01  # no density above 1/NARROWEST of a standardised target: quantiles may coincide
CRPS_POINTS = 200


def parts(split):
    """What is learned from, and what stops the learning: x, x, y, y."""
    x = with_categories(split.x_train, split)
    return train_test_split(x, split.y_train, test_size=VALIDATION_SHARE, random_state=split.seed)


def with_categories(x, split):
    """Text columns as pandas categories, the same for training and test rows."""
    text = x.select_dtypes(exclude="number").columns
    kinds = {name: sorted(set(split.x_train[name]) | set(split.x_test[name])) for name in text}
    return x.assign(**{name: x[name].astype("category").cat.set_categories(kinds[name]) for name in text})


def boosted(parts, seed, **objective):
    """A LightGBM model that stops when the validation part's loss does not fall for PATIENCE rounds."""
    from lightgbm import LGBMRegressor, early_stopping

    x, x_valid, y, y_valid = parts
    options = {"n_estimators": ROUNDS, "learning_rate": LEARNING_RATE, "n_jobs": 1, "verbose": -1, "random_state": seed}
    model = LGBMRegressor(**options, **objective)
    return model.fit(x, y, eval_X=x_valid, eval_y=y_valid, callbacks=[early_stopping(PATIENCE, verbose=False)])


def lightgbm(split):
    data, x_test = parts(split), with_categories(split.x_test, split)
    model = boosted(data, split.seed)
    mean = model.predict(x_test)
    residual = np.std(data[3] - model.predict(data[1]))
    models = [boosted(data, split.seed, objective="quantile", alpha=level) for level in LEVELS]
    quantiles = np.sort([model.predict(x_test) for model in models], axis=0)  # [L, T]; they may cross, so sorted
    versions = {
        "gaussian": scores.summary(split, scores.gaussian(split.y_test, mean, np.full(len(mean), residual))),
        "quantile": scores.summary(split, of_quantiles(split, mean, quantiles)),
    }
    return better(versions)


def of_quantiles(split, mean, q):
    """Linear between neighbouring quantiles; beyond the ends exponential, through levels 0.025 and 0.1 (0.9 and 0.975)."""
    narrowest = NARROWEST * split.y_train.std()
    steps = np.maximum(np.diff(q, axis=0), narrowest * np.diff(LEVELS)[:, None])  # [L − 1, T]
    middle = len(LEVELS) // 2
    below, above = steps[:middle][::-1].cumsum(0)[::-1], steps[middle:].cumsum(0)
    q = np.concatenate([q[middle] - below, q[middle : middle + 1], q[middle] + above])  # [L, T]
    edge = LEVELS[0]
    third = np.searchsorted(LEVELS, 0.1 - 1e-9)
    scale = np.log(LEVELS[third] / edge)
    low, high = (q[third] - q[0]) / scale, (q[-1] - q[-1 - third]) / scale  # [T] each: scales of the two tails

    def quantile(level):
        if level < edge:
            return q[0] + low * np.log(level / edge)
        if level > 1 - edge:
            return q[-1] - high * np.log((1 - level) / edge)
        i = min(np.searchsorted(LEVELS, level, side="right"), len(LEVELS) - 1)
        share = (level - LEVELS[i - 1]) / (LEVELS[i] - LEVELS[i - 1])
        return q[i - 1] + share * (q[i] - q[i - 1])

    y, t = split.y_test, np.arange(len(mean))
    i = (q <= y).sum(0)  # [T]: the target lies between quantiles i − 1 and i
    within = np.clip(i, 1, len(LEVELS) - 1)
    nll = np.log(steps[within - 1, t] / np.diff(LEVELS)[within - 1])
    nll = np.where(i == 0, np.log(low / edge) + (q[0] - y) / low, nll)
    nll = np.where(i == len(LEVELS), np.log(high / edge) + (y - q[-1]) / high, nll)
    # CRPS = 2 ∫ pinball loss over all levels.
    levels = (np.arange(CRPS_POINTS) + 0.5) / CRPS_POINTS
    errors = [(y - quantile(level)) * (level - (y < quantile(level))) for level in levels]

    def distribution(at):
        i = np.clip((q <= at).sum(0), 1, len(LEVELS) - 1)
        inside = LEVELS[i - 1] + (at - q[i - 1, t]) / steps[i - 1, t] * np.diff(LEVELS)[i - 1]
        first, last = edge * np.exp(np.minimum(at - q[0], 0) / low), 1 - edge * np.exp(np.minimum(q[-1] - at, 0) / high)
        return np.where(at < q[0], first, np.where(at > q[-1], last, inside))

    cell = distribution(y + 0.5) - distribution(y - 0.5)
    return scores.Predictions(mean, nll, 2 * np.mean(errors, axis=0), q[0], q[-1], cell)


def better(versions):
    """Of each score the better version's, with its name."""
    worth = {
        "rmse": lambda one: one["rmse"],
        "nll": lambda one: one["nll"],
        "crps": lambda one: one["crps"],
        "coverage": lambda one: abs(one["coverage"] - scores.LEVEL),
        "slice_deviation": lambda one: one["slice_deviation"],
        "outside": lambda one: one["outside"],
    }
    present = next(iter(versions.values()))
    found = {f"nll_{name}": version["nll"] for name, version in versions.items()}
    for score, of in worth.items():
        if score not in present:
            continue
        name = min(versions, key=lambda version: of(versions[version]))
        blocks = f"{score}_blocks"
        found |= {score: versions[name][score]} | ({blocks: versions[name][blocks]} if blocks in present else {})
        found |= {} if score == "rmse" else {f"{score}_by": name}
    return found


def catboost(split):
    try:
        from catboost import CatBoostRegressor
    except ImportError as missing:
        hint = "bench/tables/.venv/bin/python -m pip install -r bench/tables/requirements-catboost.txt"
        raise SystemExit(f"CatBoost is not installed; {hint}") from missing
    x, x_valid, y, y_valid = parts(split)
    text = list(x.select_dtypes(exclude="number").columns)
    options = {"iterations": ROUNDS, "thread_count": 1, "random_seed": split.seed, "cat_features": text}
    model = CatBoostRegressor(loss_function="RMSEWithUncertainty", allow_writing_files=False, verbose=False, **options)
    model.fit(x, y, eval_set=(x_valid, y_valid), early_stopping_rounds=PATIENCE)
    x_test = with_categories(split.x_test, split)
    mean, variance = model.predict(x_test, prediction_type="RMSEWithUncertainty").T
    return scores.summary(split, scores.gaussian(split.y_test, mean, np.sqrt(variance)))
