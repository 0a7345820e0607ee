"""Ridge regression as a distribution: a Gaussian whose deviation is that of the residuals, the same for all rows."""

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import scores

FEWEST = 5  # rarer categories share a column


def regression(split):
    """Standardised numbers, a column for each category; the penalty with the least leave-one-out error."""
    categories = OneHotEncoder(min_frequency=FEWEST, handle_unknown="infrequent_if_exist", sparse_output=False)
    inputs = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (categories, make_column_selector(dtype_exclude="number")),
    )
    ridge = RidgeCV(alphas=np.logspace(-3, 5, 17), store_cv_results=True)
    model = make_pipeline(inputs, ridge).fit(split.x_train, split.y_train)
    deviation = np.sqrt(ridge.cv_results_.mean(0).min())  # of the rows left out
    mean = model.predict(split.x_test)
    return scores.summary(split, scores.gaussian(split.y_test, mean, np.full(len(mean), deviation)))
