from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

def compute_sample_weight(class_weight: Mapping[Any, float] | str, y: object) -> npt.NDArray[np.float64]: ...
