from typing import Any

class HistogramQPD:
    index: Any
    def __init__(self, quantiles: Any, tails: str = ...) -> None: ...
