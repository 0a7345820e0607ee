"""scikit-learn's own checks of estimators."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from inducing import IGNClassifier, IGNRegressor

FAILS = {
    "check_sample_weight_equivalence_on_dense_data": "a row of weight 2 stands in one fold, two rows of weight 1 in two",
}


def expected_failures(_estimator: object) -> dict[str, str]:
    return FAILS


@parametrize_with_checks([IGNRegressor(), IGNClassifier()], expected_failed_checks=expected_failures)
def test_estimator_keeps_scikit_learns_promises(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", [IGNRegressor(), IGNClassifier()], ids=repr)
def test_columns_are_compared_by_name(estimator: Any) -> None:
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)
