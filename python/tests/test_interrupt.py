"""Ctrl-C ends a fit at once and leaves the estimator as it was."""

import signal
import subprocess
import sys
import time

PROGRAM = """
import sys, time
import numpy as np
from inducing import IGNRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
model = IGNRegressor(preset="single").fit(X, X[:, 0])
before = model.predict(X)
many = rng.normal(size=(20000, 8))
print("begins", flush=True)
try:
    model.fit(many, many[:, 0] * many[:, 1])
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
assert np.array_equal(model.predict(X), before)
assert model.n_features_in_ == 3
print("usable", flush=True)
"""


def test_an_interrupt_ends_a_fit_within_100_ms_and_leaves_the_estimator() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(1.5)  # reading is over, training is on
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, caught = process.stdout.readline().split()
        assert word == "interrupted"
        # Signals are looked at every 20 ms; the rest is for a machine that is busy.
        assert float(caught) - sent < 0.1
        assert process.stdout.readline() == "usable\n"
        assert process.wait(timeout=60) == 0
