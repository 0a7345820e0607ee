"""The estimators in other frameworks: :mod:`inducing.adapters.skpro` and :mod:`inducing.adapters.mlflow`.

Each needs its framework: ``pip install inducing[skpro]``, ``pip install inducing[mlflow]``.
"""
