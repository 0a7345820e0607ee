"""Reference for the scores of class probabilities and of out-of-distribution scores: exact fractions of the given doubles.

With p [N][K] (rows sum to one), labels y in 0..K-1, predicted class = the largest p, of equal ones the first:

    accuracy  = share of rows whose predicted class is y
    nll       = mean -log max(p_y, 1e-15)                        natural logarithm; nothing else is clipped or rescaled
    brier     = mean sum_k (p_k - [k = y])^2                     0 to 2; for two classes twice the one-column score
    ece       = sum_b n_b/N |accuracy_b - confidence_b|          confidence = largest p; 15 bins of equal width, bin b
                holds b/15 < confidence <= (b+1)/15; means within a bin; empty bins count nothing (Guo et al. 2017)
    auroc     = P(p_1 of a row of class 1 > p_1 of another) + half for ties, for two classes;
                for more the plain mean of class-against-rest over the classes that occur; null if only one class occurs
    confusion = [true][predicted] counts
    precision, recall, f1 of each class, 0 where the denominator is 0; support = rows of the class

For scores where larger means stranger (`inside`: known data, `outside`: strange data, the positives):

    auroc = P(outside > inside) + half for ties
    aupr  = average precision: sum over thresholds (score >= t) of precision times the recall gained; ties are one threshold
    fpr95 = smallest share of `inside` with score >= t among the thresholds that keep at least 95 % of `outside`

All of it is compared with scikit-learn's figures. Writes class_metrics.json: `cases` and `out_of_distribution`.
"""

import random
import warnings
from fractions import Fraction
from math import ceil, isclose

import numpy as np
from mpmath import log, mpf
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve
from sklearn.exceptions import UndefinedMetricWarning

from fixture import to_doubles, write_or_check

BINS = 15
FLOOR = 1e-15


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def ratio(a, b):
    return Fraction(a, b) if b else Fraction(0)


# ---- ranks ------------------------------------------------------------------------------------------------------

def pair_auroc(positive, negative):
    """By its definition, over all pairs."""
    wins = sum(Fraction(1) if a > b else Fraction(1, 2) if a == b else Fraction(0) for a in positive for b in negative)
    return wins / (len(positive) * len(negative))


def thresholds(positive, negative):
    """(true positives, false positives) at `score >= t` for every distinct t, from the largest."""
    for t in sorted({*positive, *negative}, reverse=True):
        yield sum(x >= t for x in positive), sum(x >= t for x in negative)


def average_precision(positive, negative):
    total, before = Fraction(0), 0
    for true, false in thresholds(positive, negative):
        total += Fraction(true, true + false) * Fraction(true - before, len(positive))
        before = true
    return total


def fpr_at_95(positive, negative):
    return min(Fraction(false, len(negative)) for true, false in thresholds(positive, negative)
               if 20 * true >= 19 * len(positive))


# ---- probabilities ----------------------------------------------------------------------------------------------

def reliability(confidence, correct):
    """[count, mean confidence, accuracy] of each bin; null means for an empty one."""
    bins = [[] for _ in range(BINS)]
    for c, hit in zip(confidence, correct):
        # Clear of the edges, so that rounding in doubles cannot move a row across one; 1 is the end of the last bin.
        assert c == 1 or abs(BINS * c - round(BINS * c)) > Fraction(1, 10 ** 6), float(c)
        bins[max(ceil(BINS * c) - 1, 0)].append((c, Fraction(hit)))
    return [{"count": len(rows), "confidence": mean([c for c, _ in rows]) if rows else None,
             "accuracy": mean([h for _, h in rows]) if rows else None} for rows in bins]


def class_scores(name, p, y):
    n, k = len(p), len(p[0])
    exact = [[Fraction(x) for x in row] for row in p]
    predicted = [max(range(k), key=row.__getitem__) for row in exact]  # `max` keeps the first of equal ones
    correct = [a == b for a, b in zip(predicted, y)]
    confusion = [[sum(a == i and b == j for a, b in zip(y, predicted)) for j in range(k)] for i in range(k)]
    support = [sum(row) for row in confusion]
    taken = [sum(row[j] for row in confusion) for j in range(k)]
    precision = [ratio(confusion[i][i], taken[i]) for i in range(k)]
    recall = [ratio(confusion[i][i], support[i]) for i in range(k)]
    f1 = [ratio(2 * confusion[i][i], taken[i] + support[i]) for i in range(k)]
    bins = reliability([max(row) for row in exact], correct)
    ece = sum((Fraction(b["count"], n) * abs(b["accuracy"] - b["confidence"]) for b in bins if b["count"]), Fraction(0))

    def against_rest(c):
        return pair_auroc([row[c] for row, label in zip(exact, y) if label == c],
                          [row[c] for row, label in zip(exact, y) if label != c])

    present = [c for c in range(k) if 0 < support[c] < n]
    auroc = None if not present else against_rest(1) if k == 2 else mean([against_rest(c) for c in present])
    case = {
        "name": name, "p": p, "y": y,
        "n": n,
        "accuracy": mean([Fraction(hit) for hit in correct]),
        "nll": sum(-log(max(mpf(row[label]), mpf(FLOOR))) for row, label in zip(p, y)) / n,
        "brier": mean([sum((x - (c == label)) ** 2 for c, x in enumerate(row)) for row, label in zip(exact, y)]),
        "ece": ece,
        "auroc": auroc,
        "confusion": confusion,
        "precision": precision, "recall": recall, "f1": f1, "support": support,
        "reliability": bins,
    }
    case = to_doubles(case)
    compare_classes(case, predicted)
    return case


def out_of_distribution(name, inside, outside):
    case = to_doubles({
        "name": name, "inside": inside, "outside": outside,
        "auroc": pair_auroc(outside, inside),
        "aupr": average_precision(outside, inside),
        "fpr95": fpr_at_95(outside, inside),
    })
    truth, scores = [0] * len(inside) + [1] * len(outside), inside + outside
    false, true, _ = sk.roc_curve(truth, scores, drop_intermediate=False)
    agree(case, auroc=sk.roc_auc_score(truth, scores), aupr=sk.average_precision_score(truth, scores),
          fpr95=false[true >= 0.95].min())
    return case


# ---- scikit-learn's figures -------------------------------------------------------------------------------------

def agree(case, **figures):
    for key, theirs in figures.items():
        ours, theirs = np.asarray(case[key], float), np.asarray(theirs, float)
        assert ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-12, atol=1e-14), \
            (case["name"], key, ours, theirs)


def compare_classes(case, predicted):
    p, y = np.array(case["p"]), np.array(case["y"])
    n, k = p.shape
    each = list(range(k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # 0 where the denominator is 0
        parts = sk.precision_recall_fscore_support(y, predicted, labels=each)
    agree(case, accuracy=sk.accuracy_score(y, predicted), confusion=sk.confusion_matrix(y, predicted, labels=each),
          precision=parts[0], recall=parts[1], f1=parts[2], support=parts[3],
          brier=sk.brier_score_loss(y, p, labels=each, scale_by_half=False))
    if p[np.arange(n), y].min() > 1e-12:  # scikit-learn clips elsewhere (2e-16)
        agree(case, nll=sk.log_loss(y, p, labels=each))
    if case["auroc"] is not None:
        columns = [1] if k == 2 else [c for c in each if 0 < (y == c).sum() < n]
        agree(case, auroc=np.mean([sk.roc_auc_score(y == c, p[:, c]) for c in columns]))
        if k > 2 and len(columns) == k and np.allclose(p.sum(1), 1.0, atol=1e-12):
            agree(case, auroc=sk.roc_auc_score(y, p, multi_class="ovr", average="macro"))
    # scikit-learn has no ECE, but the bins of one: right-closed too, empty ones left out.
    share, confidence = calibration_curve(np.equal(predicted, y), p.max(1), n_bins=BINS, pos_label=True)
    full = [b for b in case["reliability"] if b["count"]]
    assert np.allclose([b["accuracy"] for b in full], share, rtol=1e-12), case["name"]
    assert np.allclose([b["confidence"] for b in full], confidence, rtol=1e-12), case["name"]
    weight = np.array([b["count"] for b in full]) / n
    agree(case, ece=weight @ np.abs(share - confidence))
    assert isclose(weight.sum(), 1.0)


# ---- cases ------------------------------------------------------------------------------------------------------

def random_scores(rng, name, n, k, spread, trust, digits=4):
    """Labels follow softmax(spread * g); the stated probabilities follow softmax(trust * spread * g)."""
    p, y = [], []
    while len(p) < n:
        g = [spread * rng.gauss(0.0, 1.0) for _ in range(k)]
        weights = np.exp(np.array(g))
        stated = np.exp(trust * np.array(g))
        row = [round(float(x), digits) for x in stated / stated.sum()]
        row[-1] = round(1.0 - sum(row[:-1]), digits)
        edge = abs(BINS * max(row) - round(BINS * max(row)))
        if min(row) > 0 and edge > 1e-3:
            p.append(row)
            y.append(rng.choices(range(k), weights.tolist())[0])
    return class_scores(name, p, y)


def random_out(rng, name, n, m, shift, digits):
    inside = [round(rng.gauss(0.0, 1.0), digits) for _ in range(n)]
    outside = [round(rng.gauss(shift, 1.5), digits) for _ in range(m)]
    return out_of_distribution(name, inside, outside)


def main():
    rng = random.Random(20240610)
    cases = [
        random_scores(rng, "two classes, calibrated", 60, 2, 1.2, 1.0),
        random_scores(rng, "two classes, over-confident", 40, 2, 1.0, 3.0),
        random_scores(rng, "two classes, many ties", 30, 2, 1.0, 1.0, digits=1),
        random_scores(rng, "four classes, calibrated", 80, 4, 1.5, 1.0),
        random_scores(rng, "three classes, cautious", 25, 3, 2.0, 0.4),
        random_scores(rng, "ten classes", 90, 10, 2.0, 1.3),
        class_scores("certain and right: probabilities 0 and 1", [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 0]),
        class_scores("certain and wrong: the floor 1e-15", [[1.0, 0.0], [0.0, 1.0], [0.75, 0.25]], [1, 1, 0]),
        class_scores("undecided: the first of equal ones", [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], [0, 1, 1, 1]),
        class_scores("one class only: auroc is undefined", [[0.7, 0.3], [0.45, 0.55], [0.9, 0.1]], [0, 0, 0]),
        class_scores("one row", [[0.15, 0.62, 0.23]], [2]),
        class_scores("a class never occurs, another is never predicted",
                     [[0.7, 0.1, 0.1, 0.1], [0.1, 0.62, 0.08, 0.2], [0.35, 0.38, 0.17, 0.1], [0.55, 0.15, 0.25, 0.05],
                      [0.12, 0.75, 0.03, 0.1]], [0, 1, 2, 2, 1]),
    ]
    strange = [
        random_out(rng, "far apart", 40, 40, 4.0, 4),
        random_out(rng, "close together", 60, 25, 0.5, 4),
        random_out(rng, "many ties", 30, 40, 1.0, 0),
        random_out(rng, "19 of 20 is 95 %", 50, 20, 1.5, 3),
        out_of_distribution("separated", [0.1, 0.2, 0.3], [0.4, 0.5]),
        out_of_distribution("the wrong way round", [0.4, 0.5], [0.1, 0.2, 0.3]),
        out_of_distribution("all equal", [1.0, 1.0, 1.0], [1.0, 1.0]),
        out_of_distribution("one each", [0.3], [0.2]),
    ]
    write_or_check("class_metrics.json", {"cases": cases, "out_of_distribution": strange})


if __name__ == "__main__":
    main()
