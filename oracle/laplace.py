"""Reference for probit classification with inducing points: mpmath with 50 digits, gradients by central differences.

    a_c = K_xz K_zz^-1 r_c       K = K_xx - K_xz K_zz^-1 K_zx  (shared by all outputs; no noise, no jitter of its own)
    batch:  log Z_c = log p(y_c|f) - 1/2 (f-a_c)' K^-1 (f-a_c) - 1/2 log|I + K W|  at the mode f of the first two terms,
            log p(y|f) = sum_i log Phi(y_i f_i),  W = -diag of its second derivatives
    rows:   log Z_c = sum_i log Phi( y_ic a_ic / sqrt(1 + K_ii) ),  exact
    loss  = -sum_c log Z_c / N

K is singular where two rows have the same features. So the mode is sought as f = a + K u, where the quadratic term is
u'Ku and no inverse of K is needed: u = grad log p(a + Ku), by Newton steps with the non-symmetric matrix I + WK.
The symmetric form B = I + W^1/2 K W^1/2 and the gradient through the mode (R & W, alg. 5.1) appear nowhere.

Prediction: p_c = Phi( mean_c / sqrt(1 + var) ); with several outputs also p_c / sum p.
Writes laplace.json: `cases`, `log_normal_cdf`, `laplace_1d`, `laplace_1d_bound` (README.md has the keys).
"""

import random

from mpmath import erfc, fabs, fdot, inf, log, log1p, mpf, ncdf, npdf, quad, sqrt, workdps

from fixture import write_or_check
from regression import (conditional, exactly, gradients, inverse_and_log_det, normal_matrix,
                        predict, random_kernel)

# A Newton step d leaves an error of about d^2. From nothing: until that is below the 1e-50 of the arithmetic.
# From the mode of a neighbour at h = 1e-15: one step, which leaves 1e-30; and as that is even in h to the leading order,
# it falls out of the central difference.
SMALL, SMALL_FROM_NEIGHBOUR = mpf("1e-38"), mpf("1e-24")


# ---- log Phi ----------------------------------------------------------------------------------------------------

def log_cdf(z):
    """log Phi(z); for z > 0 through the other tail, which keeps all digits."""
    upper = erfc(fabs(z) / sqrt(mpf(2))) / 2
    return log(upper) if z < 0 else log1p(-upper)


def log_cdf_derivatives(z):
    """The first three derivatives of log Phi at z, from n = phi/Phi and n' = -n (z + n)."""
    n = npdf(z) / (erfc(-z / sqrt(mpf(2))) / 2)
    s = z + n
    return n, -n * s, n * (s * s + n * s - 1)


def assert_derivatives(z):
    """Against central differences of the function one order below."""
    h = mpf("1e-12") / (1 + fabs(z))
    above, below = ((log_cdf(x), *log_cdf_derivatives(x)) for x in (z + h, z - h))
    for k, value in enumerate(log_cdf_derivatives(z)):
        difference = (above[k] - below[k]) / (2 * h)
        assert fabs(difference - value) <= mpf("1e-15") * fabs(value), (z, k, value, difference)


# ---- the mode and log Z of one output ---------------------------------------------------------------------------

def solve_and_log_det(a, rhs):
    """x with a x = rhs and log|det a|, by elimination with row pivoting."""
    n = len(a)
    rows = [list(row) + [value] for row, value in zip(a, rhs)]
    log_det = mpf(0)
    for c in range(n):
        p = max(range(c, n), key=lambda i: fabs(rows[i][c]))
        rows[c], rows[p] = rows[p], rows[c]
        log_det += log(fabs(rows[c][c]))
        for i in range(c + 1, n):
            factor = rows[i][c] / rows[c][c]
            rows[i][c:] = [x - factor * y for x, y in zip(rows[i][c:], rows[c][c:])]
    x = [mpf(0)] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x, log_det


def times(matrix, vector):
    return [fdot(row, vector) for row in matrix]


def log_joint(mean, cov, y, u):
    """log p(y|f) - 1/2 (f-a)' K^-1 (f-a) at f = a + K u."""
    k_u = times(cov, u)
    likelihood = sum(log_cdf(label * (a + b)) for label, a, b in zip(y, mean, k_u))
    return likelihood - sum(p * q for p, q in zip(u, k_u)) / 2


def laplace(mean, cov, y, start=None):
    """Mode f [N], log Z, and u [N] with f = a + K u. `start` is u of a neighbouring problem."""
    n = len(y)
    u, small = (start, SMALL_FROM_NEIGHBOUR) if start else ([mpf(0)] * n, SMALL)
    for _ in range(100):
        f = [a + b for a, b in zip(mean, times(cov, u))]
        slopes = [log_cdf_derivatives(label * value) for label, value in zip(y, f)]
        gradient = [label * d[0] for label, d in zip(y, slopes)]                       # grad log p(y|f)
        residual = [g - v for g, v in zip(gradient, u)]
        newton = [[(i == j) - slopes[i][1] * cov[i][j] for j in range(n)] for i in range(n)]  # I + W K
        step, log_det = solve_and_log_det(newton, residual)
        if max(map(fabs, step)) <= small * (1 + max(map(fabs, u))):
            return f, log_joint(mean, cov, y, u) - log_det / 2, u
        if start is None:
            # Concave, but a full step may overshoot: halve it until the joint density grows.
            here = log_joint(mean, cov, y, u)
            while log_joint(mean, cov, y, [a + b for a, b in zip(u, step)]) < here - mpf("1e-40") * (1 + fabs(here)):
                step = [value / 2 for value in step]
        u = [a + b for a, b in zip(u, step)]
    raise AssertionError("no mode after 100 steps")


def log_z(case, starts=None):
    """log Z [C], and with coupling `batch` the modes [C][N] and the vectors u [C][N]."""
    mean, cov = conditional(case, case["phi"])                                         # [N, C], [N, N]
    values, modes, us = [], [], []
    for c in range(len(case["b"])):
        a, y = [row[c] for row in mean], [row[c] for row in case["y"]]
        if case["coupling"] == "rows":
            values.append(sum(log_cdf(y[i] * a[i] / sqrt(1 + cov[i][i])) for i in range(len(y))))
        else:
            mode, value, u = laplace(a, cov, y, starts and starts[c])
            values.append(value)
            modes.append(mode)
            us.append(u)
    return values, modes, us


def assert_textbook(case):
    """log Z as it is defined: K^-1 written out, and the Hessian at the mode by second differences of the density."""
    mean, cov = conditional(case, case["phi"])
    k_inv, k_log_det = inverse_and_log_det(cov)
    n, h = len(cov), mpf("1e-12")
    for c, value in enumerate(case["log_z"]):
        mode = [row[c] for row in case["mode"]]

        def density(moves):
            f = list(mode)
            for i, t in moves:
                f[i] += t
            e = [x - row[c] for x, row in zip(f, mean)]
            likelihood = sum(log(ncdf(row[c] * x)) for row, x in zip(case["y"], f))
            return likelihood - sum(p * q for p, q in zip(e, times(k_inv, e))) / 2

        peak = density([])
        assert all(density([(i, t)]) < peak for i in range(n) for t in (-mpf("1e-9"), mpf("1e-9"))), "not the mode"
        hessian = [[-(density([(i, h), (j, h)]) - density([(i, h), (j, -h)]) - density([(i, -h), (j, h)])
                      + density([(i, -h), (j, -h)])) / (4 * h * h) for j in range(n)] for i in range(n)]
        _, log_det = inverse_and_log_det(hessian)                                      # K^-1 + W
        assert fabs(peak - k_log_det / 2 - log_det / 2 - value) < mpf("1e-15") * (1 + fabs(value)), case["name"]


# ---- cases ------------------------------------------------------------------------------------------------------

# (family, (N, M, D, C), coupling, kinds). Kinds change the random case below; they are part of its name.
CASES = (
    ("rbf", (5, 4, 2, 1), "batch", ("easy",)),
    ("rbf", (8, 5, 2, 1), "batch", ("separable",)),
    ("rbf", (8, 4, 3, 2), "batch", ("separable", "wide prior")),
    ("rbf", (6, 4, 2, 1), "batch", ("contradictory",)),
    ("rbf", (12, 6, 2, 3), "batch", ("easy",)),
    ("rbf", (5, 4, 2, 1), "batch", ("far tails",)),
    ("matern32", (7, 4, 2, 2), "batch", ("contradictory",)),
    ("matern32", (6, 5, 3, 1), "batch", ("easy", "z[0]=phi[0]")),
    ("matern52", (6, 4, 2, 3), "batch", ("contradictory", "z[0]=phi[0]")),
    ("matern52", (5, 6, 2, 1), "batch", ("confident and wrong",)),
    ("matern52", (5, 4, 2, 3), "batch", ("a class is absent",)),
    ("linear", (6, 4, 2, 2), "batch", ("easy",)),
    ("linear", (7, 2, 3, 1), "batch", ("contradictory", "fewer inducing points than dimensions")),
    ("rbf", (9, 5, 2, 1), "rows", ("easy",)),
    ("rbf", (6, 4, 2, 3), "rows", ("contradictory", "z[0]=phi[0]")),
    ("rbf", (5, 4, 2, 1), "rows", ("far tails",)),
    ("matern32", (6, 4, 3, 1), "rows", ("confident and wrong",)),
    ("matern52", (7, 5, 2, 2), "rows", ("separable", "wide prior")),
    ("linear", (6, 2, 3, 2), "rows", ("easy",)),
)


def one_against_all(classes, outputs):
    """[N] class numbers to [N][C] signs; with one output the classes are 0 (-1) and 1 (+1)."""
    if outputs == 1:
        return [[1 if k else -1] for k in classes]
    return [[1 if k == c else -1 for c in range(outputs)] for k in classes]


def labels(rng, case, kinds):
    """[N][C]. By the prior mean (easy), against it, by a hyperplane, or both labels on one point."""
    outputs, n = len(case["b"]), len(case["phi"])
    score = [[float(x) for x in row] for row in conditional(exactly(case), exactly(case["phi"]))[0]]  # [N, C]
    if "separable" in kinds:
        score = [[row[0] - 0.3 * row[1]] + [0.3 * row[1] - row[0]] * (outputs - 1) for row in case["phi"]]
    if "confident and wrong" in kinds:
        score = [[-x for x in row] for row in score]
    if "far tails" in kinds:  # both: far and right, far and wrong
        score = [[x if i % 2 else -x for x in row] for i, row in enumerate(score)]
    best = [int(row[0] > 0) if outputs == 1 else max(range(outputs), key=row.__getitem__) for row in score]
    if "contradictory" in kinds:
        best = [i % max(outputs, 2) for i in range(n)]
    elif "a class is absent" in kinds:
        best = [i % (outputs - 1) for i in range(n)]
    elif "easy" in kinds:  # one label in five is another one
        best = [rng.randrange(max(outputs, 2)) if i % 5 == 4 else k for i, k in enumerate(best)]
    return one_against_all(best, outputs)


def random_case(rng, family, shape, coupling, kinds):
    n, m, d, c = shape
    steep = 1500.0 if "far tails" in kinds else 10.0 if "confident and wrong" in kinds else 1.0
    case = {
        "name": f"{family} N={n} M={m} D={d} C={c} {coupling}: {', '.join(kinds)}",
        "coupling": coupling,
        "kernel": random_kernel(rng, family),
        "jitter": 1e-4,
        "phi": normal_matrix(rng, n, d, 0.8),                                          # [N, D]
        "z": normal_matrix(rng, m, d, 0.8),                                            # [M, D]
        "w": normal_matrix(rng, d, c, steep),                                          # [D, C]
        "b": normal_matrix(rng, 1, c, 0.5)[0],                                         # [C]
        "phi_star": normal_matrix(rng, 3, d, 0.8),                                     # [N*, D]
    }
    if "wide prior" in kinds:
        case["kernel"]["scale"] = 40.0
    if "contradictory" in kinds:  # rows 0, 1 and, if there are enough, 2, 3 are the same points with different labels
        case["phi"][1] = list(case["phi"][0])
        case["phi"][3] = list(case["phi"][2])
    if "z[0]=phi[0]" in kinds:
        case["z"][0] = list(case["phi"][0])
    # The last two new points: exactly on an inducing point, and far from everything.
    case["phi_star"] += [list(case["z"][-1]), [6.0] * d]
    case["y"] = labels(rng, case, kinds)                                               # [N, C]
    return solve(exactly(case))


def solve(case):
    mean, cov = conditional(case, case["phi"])
    case["prior_mean"], case["prior_var"] = mean, [cov[i][i] for i in range(len(cov))]  # [N, C], [N]
    case["log_z"], modes, starts = log_z(case)                                         # [C]
    if modes:
        case["mode"] = [list(row) for row in zip(*modes)]                              # [N, C]
    n = len(case["phi"])
    case["loss"] = -sum(case["log_z"]) / n
    case.update(gradients(case, lambda moved: -sum(log_z(moved, starts)[0]) / n))
    case["mean"], case["var_latent"] = predict(case, case["phi_star"])                 # [N*, C], [N*]
    case["probability"] = [[ncdf(m / sqrt(1 + v)) for m in row]
                           for row, v in zip(case["mean"], case["var_latent"])]        # [N*, C]
    if len(case["b"]) > 1:
        case["class_probability"] = [[p / sum(row) for p in row] for row in case["probability"]]  # [N*, C]
    return case


# ---- one dimension: how good the approximation is ---------------------------------------------------------------

VARIANCES = (1e-6, 1e-3, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
MEANS = (-30.0, -8.0, -4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0)


def assert_quadrature(mean, variance, exact):
    """The closed form log Phi(a / sqrt(1+k)) is the integral of Phi(f) N(f | a, k)."""
    std = sqrt(variance)
    with workdps(25):
        pieces = [-inf, *(mean + t * std for t in (-10, -3, 0, 3, 10)), inf]
        integral = quad(lambda f: ncdf(f) * npdf(f, mean, std), pieces)
    assert fabs(log(integral) - exact) < mpf("1e-12") * (1 + fabs(exact)), (mean, variance)


def one_dimension():
    points, bounds = [], []
    for k in map(mpf, VARIANCES):
        worst = mpf(0)
        for a in map(mpf, MEANS):
            (mode,), approximate, _ = laplace([a], [[k]], [1])
            exact = log_cdf(a / sqrt(1 + k))
            if a in (-2, 0, 1) and k in (1, 10):  # the others differ in numbers only, and quadrature is slow
                assert_quadrature(a, k, exact)
            worst = max(worst, fabs(approximate - exact))
            points.append({"mean": a, "var": k, "mode": mode, "log_z": approximate, "log_z_exact": exact})
        bounds.append({"var": k, "max_error": worst})
    return points, bounds


ARGUMENTS = (-1000.0, -500.0, -200.0, -100.0, -60.0, -50.0, -40.0, -38.5, -37.5, -35.0, -30.0, -25.0, -20.0, -17.0, -15.0,
             -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.5, -6.0, -5.5, -5.0, -4.5, -4.0, -3.5, -3.0, -2.5,
             -2.0, -1.5, -1.0, -0.75, -0.5, -0.25, -0.1, -1e-3, -1e-8, 0.0, 1e-8, 1e-3, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5,
             2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 8.0, 9.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 35.0,
             37.0, 40.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


def log_cdf_table():
    table = []
    for z in map(mpf, ARGUMENTS):
        assert_derivatives(z)
        d1, d2, d3 = log_cdf_derivatives(z)
        table.append({"z": z, "value": log_cdf(z), "d1": d1, "d2": d2, "d3": d3})
    return table


def main():
    rng = random.Random(20240609)
    cases = [random_case(rng, *plan) for plan in CASES]
    assert_textbook(cases[0])
    points, bounds = one_dimension()
    write_or_check("laplace.json", {"cases": cases, "log_normal_cdf": log_cdf_table(),
                                    "laplace_1d": points, "laplace_1d_bound": bounds})


if __name__ == "__main__":
    main()
