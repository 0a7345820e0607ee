"""Reference for inducing Gaussian process regression: mpmath with 50 digits, double loops, no cleverness.

Nothing here is how the Rust side does it, on purpose: Gauss-Jordan inverses instead of Cholesky factors,
one covariance S_c per output, and gradients by central differences instead of formulas.

    K_zz = k(Z,Z) + eps I        K_xx = k(Phi,Phi)        r = Z w + b
    S_c  = K_xx - K_xz K_zz^-1 K_zx + sigma_c^2 I         e_c = y_c - K_xz K_zz^-1 r_c
    loss = (1/N) sum_c [ 1/2 e_c' S_c^-1 e_c + 1/2 log|S_c| + N/2 log 2 pi ]

Symbols: N batch, M inducing points, D features, C outputs. Writes regression.json and exact_gp.json.
"""

import random

from mpmath import exp, log, mp, mpf, pi, sqrt

from fixture import write_or_check

mp.dps = 50
# Central differences err by h^2 f'''/6 + 1e-50 f/h: about 1e-30 of the value, far below a double's 1e-16.
STEP = mpf("1e-15")


# ---- kernels ----------------------------------------------------------------------------------------------------

def kernel_value(kernel, a, b):
    s = kernel["scale"]
    if kernel["family"] == "linear":
        return s * sum(x * y for x, y in zip(a, b)) + kernel["offset"]
    squared = sum((x - y) ** 2 for x, y in zip(a, b))
    if kernel["family"] == "rbf":
        return s * exp(-kernel["gamma"] * squared)
    d = sqrt(2 * kernel["gamma"] * squared)
    if kernel["family"] == "matern32":
        return s * (1 + sqrt(mpf(3)) * d) * exp(-sqrt(mpf(3)) * d)
    if kernel["family"] == "matern52":
        return s * (1 + sqrt(mpf(5)) * d + 5 * d * d / 3) * exp(-sqrt(mpf(5)) * d)
    raise ValueError(f"unknown kernel family {kernel['family']}")


def gram(kernel, left, right):
    return [[kernel_value(kernel, a, b) for b in right] for a in left]


# ---- dense algebra on lists of rows -----------------------------------------------------------------------------

def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def inverse_and_log_det(a):
    """Gauss-Jordan with row pivoting; log|det| is the sum over the pivots."""
    n = len(a)
    rows = [list(a[i]) + [mpf(i == j) for j in range(n)] for i in range(n)]
    log_det = mpf(0)
    for c in range(n):
        p = max(range(c, n), key=lambda i: abs(rows[i][c]))
        rows[c], rows[p] = rows[p], rows[c]
        pivot = rows[c][c]
        log_det += log(abs(pivot))
        rows[c] = [x / pivot for x in rows[c]]
        for i in range(n):
            if i != c and rows[i][c] != 0:
                factor = rows[i][c]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[c])]
    return [row[n:] for row in rows], log_det


def add_to_diagonal(a, value):
    return [[x + value if i == j else x for j, x in enumerate(row)] for i, row in enumerate(a)]


def column(a, c):
    return [[row[c]] for row in a]


# ---- the model --------------------------------------------------------------------------------------------------

def pseudo_labels(case):
    if "r" in case:
        return case["r"]                                                               # [M, C]
    return [[sum(x * case["w"][d][c] for d, x in enumerate(z)) + case["b"][c]
             for c in range(len(case["b"]))] for z in case["z"]]                       # [M, C]


def conditional(case, phi):
    """Mean [N, C] and covariance [N, N] of the latent function at phi given the inducing points."""
    kernel = case["kernel"]
    k_zz = add_to_diagonal(gram(kernel, case["z"], case["z"]), case["jitter"])         # [M, M]
    k_zz_inv, _ = inverse_and_log_det(k_zz)
    k_xz = gram(kernel, phi, case["z"])                                                # [N, M]
    k_zx = gram(kernel, case["z"], phi)                                                # [M, N]
    projection = multiply(k_xz, k_zz_inv)                                              # [N, M]
    mean = multiply(projection, pseudo_labels(case))                                   # [N, C]
    explained = multiply(projection, k_zx)                                             # [N, N]
    k_xx = gram(kernel, phi, phi)                                                      # [N, N]
    cov = [[k_xx[i][j] - explained[i][j] for j in range(len(phi))] for i in range(len(phi))]
    return mean, cov


def loss(case):
    mean, cov = conditional(case, case["phi"])
    n = len(case["phi"])
    total = mpf(0)
    for c, sigma in enumerate(case["sigma"]):
        s_inv, log_det = inverse_and_log_det(add_to_diagonal(cov, sigma ** 2))
        e = [[case["y"][i][c] - mean[i][c]] for i in range(n)]                         # [N, 1]
        quadratic = sum(e[i][0] * x[0] for i, x in enumerate(multiply(s_inv, e)))
        total += quadratic / 2 + log_det / 2 + mpf(n) / 2 * log(2 * pi)
    return total / n


def predict(case, phi_star):
    mean, var_latent = [], []
    for point in phi_star:
        m, v = conditional(case, [point])
        mean.append(m[0])
        var_latent.append(v[0][0])
    return mean, var_latent                                                            # [N*, C], [N*]


# ---- gradients by central differences ---------------------------------------------------------------------------

def central(case, loss, holder, key, move):
    """d loss / d t where `move(value, t)` replaces holder[key]; the case is left as it was."""
    value = holder[key]
    holder[key] = move(value, STEP)
    above = loss(case)
    holder[key] = move(value, -STEP)
    below = loss(case)
    holder[key] = value
    return (above - below) / (2 * STEP)


def shift(value, t):
    return value + t


def scale_by_exp(value, t):
    return value * exp(t)


def gradients(case, loss):
    """By every input of the head that `loss(case)` reads; a probit head has no sigma."""
    kernel = case["kernel"]
    shape = "offset" if kernel["family"] == "linear" else "gamma"
    result = {f"d_{name}": [[central(case, loss, row, j, shift) for j in range(len(row))] for row in case[name]]
              for name in ("phi", "z", "w")}
    result["d_b"] = [central(case, loss, case["b"], c, shift) for c in range(len(case["b"]))]
    if "sigma" in case:
        result["d_log_sigma"] = [central(case, loss, case["sigma"], c, scale_by_exp)
                                 for c in range(len(case["sigma"]))]
    result["d_log_scale"] = central(case, loss, kernel, "scale", scale_by_exp)
    result[f"d_log_{shape}"] = central(case, loss, kernel, shape, scale_by_exp)
    return result


# ---- cases ------------------------------------------------------------------------------------------------------

FAMILIES = ("rbf", "linear", "matern32", "matern52")
# (N, M, D, C): the usual shape, several outputs, all ones, more inducing points than rows, and one with z[0] = phi[0].
SHAPES = ((5, 4, 3, 1), (6, 3, 2, 2), (1, 1, 1, 1), (4, 7, 2, 3), (9, 6, 4, 2))


def exactly(value):
    """Doubles to 50-digit numbers, without rounding."""
    if isinstance(value, float):
        return mpf(value)
    if isinstance(value, dict):
        return {key: exactly(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return value


def normal_matrix(rng, rows, columns, spread):
    return [[round(rng.gauss(0.0, spread), 4) for _ in range(columns)] for _ in range(rows)]


def random_kernel(rng, family):
    kernel = {"family": family, "scale": round(rng.uniform(0.5, 2.0), 4)}
    if family == "linear":
        kernel["offset"] = round(rng.uniform(0.1, 1.0), 4)
    else:
        kernel["gamma"] = round(rng.uniform(0.3, 1.5), 4)
    return kernel


def regression_case(rng, family, shape, coincident):
    n, m, d, c = shape
    case = {
        "name": f"{family} N={n} M={m} D={d} C={c}" + (" z[0]=phi[0]" if coincident else ""),
        "kernel": random_kernel(rng, family),
        "jitter": 1e-4,
        "phi": normal_matrix(rng, n, d, 0.8),                                          # [N, D]
        "z": normal_matrix(rng, m, d, 0.8),                                            # [M, D]
        "w": normal_matrix(rng, d, c, 0.7),                                            # [D, C]
        "b": normal_matrix(rng, 1, c, 0.5)[0],                                         # [C]
        "sigma": [round(rng.uniform(0.05, 0.5), 4) for _ in range(c)],                 # [C]
        "y": normal_matrix(rng, n, c, 1.0),                                            # [N, C]
        "phi_star": normal_matrix(rng, 3, d, 0.8),                                     # [N*, D]
    }
    if coincident:
        case["z"][0] = list(case["phi"][0])
    # The last two new points: exactly on an inducing point, and far from everything.
    case["phi_star"] += [list(case["z"][-1]), [6.0] * d]
    case = exactly(case)
    case["loss"] = loss(case)
    case.update(gradients(case, loss))
    case["mean"], case["var_latent"] = predict(case, case["phi_star"])
    case["var_y"] = [[v + s ** 2 for s in case["sigma"]] for v in case["var_latent"]]  # [N*, C]
    return case


def exact_gp_case(rng, family, jitter):
    """Z = Phi and r = y: the textbook exact GP with noise variance eps, written down without inducing points."""
    phi = [[0.9 * i + round(rng.uniform(-0.2, 0.2), 4), 0.9 * j + round(rng.uniform(-0.2, 0.2), 4)]
           for i in range(3) for j in range(3)]                                        # [N, D]
    y = normal_matrix(rng, len(phi), 2, 1.0)                                           # [N, C]
    case = exactly({
        "name": f"{family} interpolates, jitter {jitter}",
        "kernel": random_kernel(rng, family), "jitter": jitter, "phi": phi, "z": phi, "r": y,
        "phi_star": normal_matrix(rng, 4, 2, 1.0) + [list(phi[0]), list(phi[4])],      # [N*, D]
    })
    kernel = case["kernel"]
    k_inv, _ = inverse_and_log_det(add_to_diagonal(gram(kernel, case["phi"], case["phi"]), case["jitter"]))
    k_star = gram(kernel, case["phi_star"], case["phi"])                               # [N*, N]
    weights = multiply(k_star, k_inv)                                                  # [N*, N]
    case["mean"] = multiply(weights, case["r"])                                        # [N*, C]
    case["var_latent"] = [kernel_value(kernel, p, p) - sum(a * b for a, b in zip(weights[i], k_star[i]))
                          for i, p in enumerate(case["phi_star"])]                     # [N*]
    mean, var = predict(case, case["phi_star"])
    assert all(abs(m - n) < 1e-35 for a, b in zip(mean, case["mean"]) for m, n in zip(a, b))
    assert all(abs(v - u) < 1e-35 for v, u in zip(var, case["var_latent"]))
    return case


def main():
    rng = random.Random(20240607)
    cases = [regression_case(rng, family, shape, coincident=shape is SHAPES[-1])
             for family in FAMILIES for shape in SHAPES]
    write_or_check("regression.json", {"cases": cases})
    exact = [exact_gp_case(rng, family, jitter)
             for family in ("rbf", "matern32", "matern52") for jitter in (1e-4, 1e-8)]
    write_or_check("exact_gp.json", {"cases": exact})


if __name__ == "__main__":
    main()
