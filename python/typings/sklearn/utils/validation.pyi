from typing import Any

import numpy.typing as npt

def check_array(
    array: object,
    *,
    dtype: Any = ...,
    ensure_2d: bool = ...,
    ensure_all_finite: bool | str = ...,
    ensure_min_samples: int = ...,
    estimator: object = ...,
    input_name: str = ...,
) -> npt.NDArray[Any]: ...
def assert_all_finite(X: object, *, input_name: str = ...) -> None: ...
def column_or_1d(y: object, *, warn: bool = ...) -> npt.NDArray[Any]: ...
def check_is_fitted(estimator: object) -> None: ...
