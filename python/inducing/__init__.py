"""Predictions that say how sure they are, from tables, images and texts."""

from ._core import __version__

__all__ = ["__version__"]
