"""Reference for the scores of Gaussian predictions and the normal quantile function, with 50 digits.

    rmse = sqrt(mean (y-m)^2)      mae = mean |y-m|      r2 = 1 - sum (y-m)^2 / sum (y-mean y)^2   (null if all y are equal)
    nll  = mean [ 1/2 ((y-m)/s)^2 + log s + 1/2 log 2 pi ]
    crps = mean s [ u (2 Phi(u) - 1) + 2 phi(u) - 1/sqrt(pi) ],  u = (y-m)/s
    coverage_p = share of |y-m| <= s Phi^-1((1+p)/2)                sharpness = mean s

The closed form of the CRPS is checked here against its definition, the integral of (F(x) - [x >= y])^2.
Writes metrics.json.
"""

import random

from mpmath import erf, erfinv, exp, fabs, log, mp, mpf, ncdf, pi, quad, sqrt

from fixture import write_or_check

mp.dps = 50


def quantile(p):
    x = sqrt(mpf(2)) * erfinv(2 * p - 1)
    assert fabs(ncdf(x) - p) < fabs(p) * mpf("1e-35")
    return x


def crps_closed(y, mean, std):
    u = (y - mean) / std
    density = exp(-u * u / 2) / sqrt(2 * pi)
    return std * (u * erf(u / sqrt(mpf(2))) + 2 * density - 1 / sqrt(pi))


def crps_integral(y, mean, std):
    """In units of std, split at the observation and at the mean; the tails beyond 40 deviations are below 1e-300."""
    u = (y - mean) / std
    below = quad(lambda x: ncdf(x) ** 2, sorted({-mpf(40), -mpf(8), min(mpf(0), u), u}))
    above = quad(lambda x: ncdf(-x) ** 2, sorted({u, max(mpf(0), u), mpf(8), mpf(40)}))
    return std * (below + above)


def scores(name, y, mean, std):
    y, mean, std = ([mpf(v) for v in values] for values in (y, mean, std))
    n = len(y)
    error = [a - b for a, b in zip(y, mean)]
    centre = sum(y) / n
    total = sum((a - centre) ** 2 for a in y)
    squares = sum(e * e for e in error)
    crps = [crps_closed(a, b, s) for a, b, s in zip(y, mean, std)]
    for closed, a, b, s in zip(crps, y, mean, std):
        if fabs(a - b) < 7 * s:  # the integration ranges above assume that the observation lies within them
            assert fabs(closed - crps_integral(a, b, s)) < s * mpf("1e-25"), (name, a, b, s)

    def coverage(p):
        # The inputs keep clear of the interval ends, so that rounding in doubles cannot move a point across one.
        z = quantile((1 + mpf(p)) / 2)
        assert all(fabs(fabs(e) / s - z) > 1e-6 for e, s in zip(error, std))
        return mpf(sum(fabs(e) <= z * s for e, s in zip(error, std))) / n

    return {
        "name": name, "y": y, "mean": mean, "std": std,
        "n": n,
        "rmse": sqrt(squares / n),
        "mae": sum(fabs(e) for e in error) / n,
        "r2": 1 - squares / total if total > 0 else None,
        "nll": sum((e / s) ** 2 / 2 + log(s) + log(2 * pi) / 2 for e, s in zip(error, std)) / n,
        "crps": sum(crps) / n,
        "coverage_50": coverage("0.5"),
        "coverage_90": coverage("0.9"),
        "coverage_95": coverage("0.95"),
        "sharpness": sum(std) / n,
    }


def random_scores(rng, name, n, centre, spread, over_confidence):
    mean = [round(rng.gauss(centre, spread), 5) for _ in range(n)]
    std = [round(spread * rng.uniform(0.2, 1.0), 5) for _ in range(n)]
    y = [round(m + over_confidence * s * rng.gauss(0.0, 1.0), 5) for m, s in zip(mean, std)]
    return scores(name, y, mean, std)


PROBABILITIES = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 0.01, 0.02425, 0.025, 0.05, 0.1, 0.25, 0.4, 0.499999,
                 0.5, 0.500001, 0.6, 0.75, 0.9, 0.95, 0.97575, 0.975, 0.99, 0.995, 1 - 1e-4, 1 - 1e-6, 1 - 1e-8,
                 1 - 1e-10, 1 - 1e-12)


def main():
    rng = random.Random(20240608)
    cases = [
        random_scores(rng, "calibrated", 40, 0.0, 1.0, 1.0),
        random_scores(rng, "over-confident", 25, 3.0, 2.0, 3.0),
        random_scores(rng, "cautious, large values", 17, 5000.0, 300.0, 0.3),
        scores("one row: r2 is undefined", [1.5], [1.0], [0.4]),
        scores("constant target: r2 is undefined", [2.0, 2.0, 2.0], [1.9, 2.3, 2.0], [0.2, 0.2, 0.1]),
        scores("worse than the mean: r2 is negative", [0.0, 1.0, 2.0], [2.0, 1.0, -1.0], [0.5, 1.0, 2.5]),
        scores("perfect means", [0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [1e-6, 1.0, 1e6]),
        scores("fifty and a thousand deviations off", [5.0, -1.0], [0.0, 0.0], [0.1, 0.001]),
    ]
    quantiles = [{"p": p, "x": quantile(mpf(p))} for p in PROBABILITIES]
    write_or_check("metrics.json", {"cases": cases, "normal_quantile": quantiles})


if __name__ == "__main__":
    main()
