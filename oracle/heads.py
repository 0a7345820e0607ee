"""From latent functions to predicted numbers and classes (docs/model-file.md, section 7)."""

import math

import numpy as np

from density import Scaled
from encoders import softmax
from ensemble import join_classes, predict_stack
from process import ask_networks, latent


# ---- numbers ----------------------------------------------------------------------------------------------------

def percent(p):
    return f"{100 * p:.6f}".rstrip("0").rstrip(".")


def grid(tensors, target, c, count):
    """Values of a target at which its density is asked: over the kept labels and a little beyond, or four deviations."""
    labels = tensors["neighbours.y"][:, c].astype(float) if "neighbours.y" in tensors else np.zeros(1)
    low, high = labels.min(), labels.max()
    low, high = (low, high) if low < high else (-4.0, 4.0)
    margin = 0.05 * (high - low)
    step = (high - low + 2 * margin) / max(count - 1, 1)
    return [target["mean"] + target["std"] * (low - margin + step * i) for i in range(count)]


def predict_numbers(header, tensors, inputs, intervals, quantiles, points):
    """Names and columns of the predictions, and the rows with near ties."""
    networks = ask_networks(header, tensors, inputs)
    mean, var = latent(header, networks)
    targets, ensemble = header["schema"]["targets"], header.get("ensemble", {"stacks": []})
    sigma = np.exp(tensors["noise.log_sigma"].astype(float))                                       # [C], of the first network
    result, near_ties = [], set()
    for c, (target, calibration) in enumerate(zip(targets, header["calibration"])):
        familiarity = []
        if ensemble["stacks"]:
            stacked = predict_stack(c, header, tensors, inputs, networks, mean[:, c], var[:, c])
            y, of_function, density = stacked.mean, stacked.var_latent, stacked.density
            familiarity, near_ties = [("familiarity", stacked.familiarity)], near_ties | stacked.near_ties
        else:
            y, of_function = mean[:, c], calibration["latent"] * var[:, c]
            noise = np.exp(np.interp(y, calibration["knots"], np.log(calibration["noise"])))       # [N], constant outside
            density = Scaled(y, np.sqrt(of_function + noise * sigma[c] ** 2), calibration["quantiles"])
        std = target["std"] * density.deviation_about(y)
        density = density.restored(target["mean"], target["std"])
        own = [("mean", target["mean"] + target["std"] * y), ("std", std), ("std_latent", target["std"] * np.sqrt(of_function))]
        own += familiarity
        for level in intervals:
            own.append((f"lower_{percent(level)}", density.quantile(0.5 - level / 2)))
            own.append((f"upper_{percent(level)}", density.quantile(0.5 + level / 2)))
        own += [(f"q{percent(p)}", density.quantile(p)) for p in quantiles]
        own += [(f"density_{np.format_float_positional(at, trim='-')}", density.pdf(at)) for at in grid(tensors, target, c, points)]
        prefix = "" if len(targets) == 1 else f"{target['name']}_"
        result += [(prefix + name, values) for name, values in own]
    return result, near_ties


# ---- classes ----------------------------------------------------------------------------------------------------

def log_cdf(z):
    """log Φ(z); far to the left by its asymptotic series, whose next term is below 1e-9 there."""
    if z > -30:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2)))
    tail = 1 / (z * z)
    return -0.5 * z * z - math.log(-z * math.sqrt(2 * math.pi)) + math.log1p(-tail + 3 * tail ** 2 - 15 * tail ** 3)


def predict_classes(header, tensors, inputs, classes):
    """Names and columns of the predictions."""
    calibration = header.get("class_calibration") or {"slope": 1.0, "latent": 1.0}
    mean, var = latent(header, ask_networks(header, tensors, inputs))                              # [N, C]
    var = calibration["latent"] * var
    config = header["config"]
    logit = config.get("head", "gp") == "softmax" or config["gp"].get("link", "probit") == "logit"
    s = calibration["slope"] * mean / np.sqrt(1 + (math.pi / 8 if logit else 1.0) * var)
    if mean.shape[1] == 1:  # two classes, one latent function: positive for the second
        s = np.hstack([0 * s, s]) if logit else np.hstack([-s, s])
        mean, var = np.hstack([-mean, mean]), np.hstack([var, var])
    p = softmax(s if logit else np.vectorize(log_cdf, otypes=[float])(s))                          # [N, K]
    stack, familiarity = header.get("ensemble", {}).get("class_stack"), []
    if stack:
        p, familiar = join_classes(stack, tensors, inputs.x, p)
        familiarity = [("familiarity", familiar)]
    result = [("label", [classes[k] for k in p.argmax(axis=1)])]
    for name, values in (("p", p), ("latent_mean", mean), ("latent_std", np.sqrt(var))):
        result += [(f"{name}_{label}", values[:, k]) for k, label in enumerate(classes)]
    return result + familiarity
