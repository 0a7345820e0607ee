# What inducing uses of scikit-learn, which has no types of its own.
