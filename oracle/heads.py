"""From latent functions to predicted numbers and classes (docs/model-file.md, section 7)."""

import math
from dataclasses import dataclass, replace

import numpy as np

import absent
from density import Mixture, OnScale, Scaled
from encoders import softmax
from ensemble import join_classes, predict_stack
from feature_stack import join_features, locate
from process import ask_networks, latent


# ---- numbers ----------------------------------------------------------------------------------------------------

@dataclass
class Number:
    """What is said of one target at N rows, on the scale on which it is modelled."""
    mean: np.ndarray            # [N]
    std: np.ndarray             # [N]
    std_latent: np.ndarray      # [N]
    density: Mixture | Scaled | OnScale
    familiarity: np.ndarray     # [N], or none where no rows are kept
    near_ties: set              # rows

    def in_units(self, target):
        """In the target's own unit and range."""
        if "scale" not in target:
            return self
        density = OnScale(self.density, target["scale"])
        mean, std = density.moments()
        return replace(self, mean=mean, std=std, std_latent=self.std_latent * std / self.std, density=density)

    def less_certain(self, target, t):
        """Towards the target's own mean and deviation, by a share t [N]."""
        least, mean = np.sqrt(t) * target["std"], (1 - t) * self.mean + t * target["mean"]
        std, std_latent = np.maximum(self.std, least), np.maximum(self.std_latent, least)
        return replace(self, mean=mean, std=std, std_latent=std_latent, density=Scaled(mean, std, self.density.table))


def say_numbers(header, tensors, inputs):
    """One `Number` for each target, whatever is absent."""
    networks = ask_networks(header, tensors, inputs)
    mean, var = latent(header, networks)
    stack, position = header.get("feature_stack"), None
    if stack:
        position = locate(stack, tensors, inputs, networks[0])
        var = var + position.var[:, None]
    targets, ensemble = header["schema"]["targets"], header.get("ensemble", {"stacks": []})
    sigma = np.exp(tensors["noise.log_sigma"].astype(float))                                       # [C], of the first network
    said = []
    for c, (target, calibration) in enumerate(zip(targets, header["calibration"])):
        if ensemble["stacks"]:
            stacked = predict_stack(c, header, tensors, inputs, networks, mean[:, c], var[:, c])
            y, density, familiarity, near_ties = stacked.mean, stacked.density, stacked.familiarity, stacked.near_ties
            std_latent = np.minimum(np.sqrt(stacked.var_latent), density.deviation_about(y))
        else:
            y, std_latent = mean[:, c], np.sqrt(calibration["latent"] * var[:, c])
            noise = np.exp(np.interp(y, calibration["knots"], np.log(calibration["noise"])))       # [N], constant outside
            density = Scaled(y, np.sqrt(std_latent ** 2 + noise * sigma[c] ** 2), calibration["quantiles"])
            familiarity, near_ties = None, set()
        number = Number(target["mean"] + target["std"] * y, target["std"] * density.deviation_about(y), target["std"] * std_latent,
                        density.restored(target["mean"], target["std"]), familiarity, near_ties)
        if position:
            number = replace(number.less_certain(target, position.far), familiarity=position.familiarity, near_ties=position.near_ties)
        said.append(number)
    return said


def percent(p):
    return f"{100 * p:.6f}".rstrip("0").rstrip(".")


def grid(tensors, target, c, count):
    """Values of a target at which its density is asked: over the kept labels and a little beyond, or four deviations."""
    labels = tensors["neighbours.y"][:, c].astype(float) if "neighbours.y" in tensors else np.zeros(1)
    low, high = labels.min(), labels.max()
    low, high = (low, high) if low < high else (-4.0, 4.0)
    margin = 0.05 * (high - low)
    low, high = (target["mean"] + target["std"] * end for end in (low - margin, high + margin))
    if "scale" in target:
        low, high = OnScale(None, target["scale"]).invert(np.array([low, high]))
    return [low + (high - low) / max(count - 1, 1) * i for i in range(count)]


def number_columns(number, intervals, quantiles, values):
    columns = [("mean", number.mean), ("std", number.std), ("std_latent", number.std_latent)]
    columns += [("familiarity", number.familiarity)] if number.familiarity is not None else []
    for level in intervals:
        columns.append((f"lower_{percent(level)}", number.density.quantile(0.5 - level / 2)))
        columns.append((f"upper_{percent(level)}", number.density.quantile(0.5 + level / 2)))
    columns += [(f"q{percent(p)}", number.density.quantile(p)) for p in quantiles]
    return columns + [(f"density_{np.format_float_positional(at, trim='-')}", number.density.pdf(at)) for at in values]


def predict_numbers(header, tensors, inputs, intervals, quantiles, points):
    """Names and columns of the predictions, and the rows with near ties."""
    said, targets, rows = say_numbers(header, tensors, inputs), header["schema"]["targets"], sorted(inputs.absent)
    process, mixed, near_ties, result = absent.process_of_inputs(header), [], set(), []
    if rows and process:
        complete, near_ties = absent.completed(process, tensors, inputs)
        mixed = [absent.mixed_numbers(number, rows) for number in say_numbers(header, tensors, complete)]
    elif rows:
        share = absent.shares(header, inputs)
        said = [number.less_certain(target, share) for number, target in zip(said, targets)]
        said = [replace(number, familiarity=absent.unfamiliar(number.familiarity, share)) for number in said]
    for c, (target, number) in enumerate(zip(targets, said)):
        values = grid(tensors, target, c, points)
        columns = number_columns(number.in_units(target), intervals, quantiles, values)
        near_ties |= number.near_ties - set(rows if mixed else [])
        if mixed:
            for (_, column), (_, other) in zip(columns, number_columns(mixed[c].in_units(target), intervals, quantiles, values)):
                column[rows] = other
            near_ties |= mixed[c].near_ties
        prefix = "" if len(targets) == 1 else f"{target['name']}_"
        result += [(prefix + name, column) for name, column in columns]
    return result, near_ties


# ---- classes ----------------------------------------------------------------------------------------------------

@dataclass
class Classes:
    """What is said of K classes at N rows."""
    p: np.ndarray               # [N, K]
    latent_mean: np.ndarray     # [N, K]
    latent_std: np.ndarray      # [N, K]
    familiarity: np.ndarray     # [N], or none where no rows are kept
    near_ties: set              # rows


def log_cdf(z):
    """log Φ(z); far to the left by its asymptotic series, whose next term is below 1e-9 there."""
    if z > -30:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2)))
    tail = 1 / (z * z)
    return -0.5 * z * z - math.log(-z * math.sqrt(2 * math.pi)) + math.log1p(-tail + 3 * tail ** 2 - 15 * tail ** 3)


def say_classes(header, tensors, inputs):
    """`Classes`, whatever is absent."""
    calibration = header.get("class_calibration") or {"slope": 1.0, "latent": 1.0}
    networks = ask_networks(header, tensors, inputs)
    mean, var = latent(header, networks)                                                           # [N, C]
    stack, of_features = header.get("ensemble", {}).get("class_stack"), header.get("feature_stack")
    if of_features:
        position = locate(of_features, tensors, inputs, networks[0])
        var = var + position.var[:, None]
    var = calibration["latent"] * var
    config = header["config"]
    logit = config.get("head", "gp") == "softmax" or config["gp"].get("link", "probit") == "logit"
    s = calibration["slope"] * mean / np.sqrt(1 + (math.pi / 8 if logit else 1.0) * var)
    if mean.shape[1] == 1:  # two classes, one latent function: positive for the second
        s = np.hstack([0 * s, s]) if logit else np.hstack([-s, s])
        mean, var = np.hstack([-mean, mean]), np.hstack([var, var])
    p = softmax(s if logit else np.vectorize(log_cdf, otypes=[float])(s))                          # [N, K]
    linear = header.get("ensemble", {}).get("linear_classes")
    if linear:
        p = mix_linear(linear, inputs.x, p)
    familiarity, near_ties = None, set()
    if stack:
        p, familiarity, near_ties = join_classes(stack, tensors, inputs.x, p)
    elif of_features:
        p = join_features(of_features, tensors, position, p)
        familiarity, near_ties = position.familiarity, position.near_ties
    return Classes(p, mean, np.sqrt(var), familiarity, near_ties)


def mix_linear(linear, x, p):
    """Probabilities p [N, K] with those of a logistic regression on the inputs x [N, d]."""
    theta = np.array(linear["theta"]).reshape(-1, linear["classes"])                               # [d + 1, K]: W, then b
    own = softmax(x.astype(float) @ theta[:-1] + theta[-1])
    sharp = ((1 - linear["share"]) * p + linear["share"] * own) ** linear["sharpness"]
    return sharp / sharp.sum(1, keepdims=True)


def predict_classes(header, tensors, inputs, classes, counts):
    """Names and columns of the predictions, and the rows with near ties."""
    said, rows, process = say_classes(header, tensors, inputs), sorted(inputs.absent), absent.process_of_inputs(header)
    near_ties = said.near_ties
    if rows and process:
        complete, ties = absent.completed(process, tensors, inputs)
        mixed = absent.mixed_classes(say_classes(header, tensors, complete), rows)
        for name in ("p", "latent_mean", "latent_std", "familiarity"):
            getattr(said, name)[rows] = getattr(mixed, name)
        near_ties = near_ties - set(rows) | mixed.near_ties | ties
    elif rows:
        said = absent.less_certain_classes(said, counts, absent.shares(header, inputs))
    result = [("label", [classes[k] for k in said.p.argmax(axis=1)])]
    for name, values in (("p", said.p), ("latent_mean", said.latent_mean), ("latent_std", said.latent_std)):
        result += [(f"{name}_{label}", values[:, k]) for k, label in enumerate(classes)]
    return result + ([("familiarity", said.familiarity)] if said.familiarity is not None else []), near_ties
