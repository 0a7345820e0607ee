"""Logistic regression, LightGBM and CatBoost as classifiers."""

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import train_test_split

from exact_gp import standardised
from trees import LEARNING_RATE, PATIENCE, ROUNDS, VALIDATION_SHARE, with_categories

SMALLEST = 1e-15  # as in `ign evaluate`: a probability of zero has a finite loss


def scored(split, classes, probabilities):
    column = np.searchsorted(classes, split.y_test)  # classes are sorted
    true = probabilities[np.arange(len(column)), column]
    nll = -np.log(np.maximum(true, SMALLEST))
    brier = (probabilities**2).sum(1) - 2 * true + 1  # Σ_c (p_c − 1[c = y])²
    accuracy = np.mean(probabilities.argmax(1) == column)
    found = {"nll": nll.mean(), "accuracy": accuracy, "brier": brier.mean()}
    blocks = {"nll_blocks": split.block_means(nll), "brier_blocks": split.block_means(brier)}
    return found | (blocks if split.blocks else {})


def logistic(split):
    """Standardised inputs; the penalty with the least log loss in five inner folds."""
    x, x_test = standardised(split.x_train, split.x_test)
    penalties = {"Cs": np.logspace(-4, 4, 17), "l1_ratios": (0,), "use_legacy_attributes": False}
    model = LogisticRegressionCV(**penalties, cv=5, scoring="neg_log_loss", max_iter=5000).fit(x, split.y_train)
    return scored(split, model.classes_, model.predict_proba(x_test)) | {"C": model.C_}


def lightgbm(split):
    from lightgbm import LGBMClassifier, early_stopping

    # Numbers for classes: with `eval_y` LightGBM 4.7 does not translate names itself.
    classes, y = np.unique(split.y_train, return_inverse=True)
    x = with_categories(split.x_train, split)
    x, x_valid, y, y_valid = train_test_split(x, y, test_size=VALIDATION_SHARE, random_state=split.seed, stratify=y)
    options = {"n_estimators": ROUNDS, "learning_rate": LEARNING_RATE, "random_state": split.seed}
    model = LGBMClassifier(**options, n_jobs=1, verbose=-1)
    model.fit(x, y, eval_X=x_valid, eval_y=y_valid, callbacks=[early_stopping(PATIENCE, verbose=False)])
    return scored(split, classes, model.predict_proba(with_categories(split.x_test, split)))


def catboost(split):
    from catboost import CatBoostClassifier

    x, y = with_categories(split.x_train, split), split.y_train
    x, x_valid, y, y_valid = train_test_split(x, y, test_size=VALIDATION_SHARE, random_state=split.seed, stratify=y)
    text = list(x.select_dtypes(exclude="number").columns)
    options = {"iterations": ROUNDS, "thread_count": 1, "random_seed": split.seed, "cat_features": text}
    loss = "Logloss" if len(np.unique(y)) == 2 else "MultiClass"
    model = CatBoostClassifier(loss_function=loss, allow_writing_files=False, verbose=False, **options)
    model.fit(x, y, eval_set=(x_valid, y_valid), early_stopping_rounds=PATIENCE)
    return scored(split, model.classes_, model.predict_proba(with_categories(split.x_test, split)))
