"""What is printed of `trial`: scores, and `ign` beside the best peer and beside the linear baseline."""

import numpy as np

BASELINE = "linear"


def table(rows):
    regressions = [row for row in rows if "crps" in row]
    classifications = [row for row in rows if "brier" in row]
    if regressions:
        scores_table(regressions, ("crps", "nll", "rmse", "coverage", "outside"))
    if classifications:
        scores_table(classifications, ("nll", "brier", "accuracy"))
    numbers = {score: verdict("numbers", regressions, score) for score in ("nll", "crps")}
    classes = {score: verdict("classes", classifications, score) for score in ("nll", "brier")}
    if any(numbers.values()) and any(classes.values()):
        conclusion("all sets, NLL", numbers["nll"] + classes["nll"])
        conclusion("all sets, CRPS or Brier score", numbers["crps"] + classes["brier"])


def scores_table(rows, scores):
    """Means over the seeds."""
    print(f"| set | who | {' | '.join(scores)} | seconds |\n|---|---|{'--:|' * (len(scores) + 1)}")
    for name, who in pairs(rows):
        mine = select(rows, name, who)
        cells = [f"{np.mean([row[score] for row in mine]):.3f}" if score in mine[0] else "" for score in scores]
        print(f"| {name} | {who} | {' | '.join(cells)} | {np.mean([row['seconds'] for row in mine]):.1f} |")
    print()


def pairs(rows):
    return dict.fromkeys((row["set"], row["who"]) for row in rows)


def select(rows, name, who):
    return [row for row in rows if (row["set"], row["who"]) == (name, who)]


def difference(mine, theirs, score):
    """Mean and standard error of the differences of all blocks of test rows; splits that only one has do not count."""
    other = {row["split"]: row for row in theirs}
    both = [(row, other[row["split"]]) for row in mine if row["split"] in other]
    blocks = np.concatenate([np.subtract(a[f"{score}_blocks"], b[f"{score}_blocks"]) for a, b in both])
    return blocks.mean(), blocks.std(ddof=1) / np.sqrt(len(blocks))


def verdict(kind, rows, score):
    """Prints and returns `ign` beside the best peer and beside the baseline, set by set; lower scores are better."""
    names = dict.fromkeys(row["set"] for row in rows)
    compared = {name: found for name in names if (found := beside(rows, name, score))}
    if not compared:
        return []
    print(f"{kind}, {score}: ign minus the best peer ± standard error (minus the linear baseline)")
    for name, (peer, (best, error), line) in compared.items():
        behind = "" if line is None or line[0] <= line[1] else "  WORSE THAN LINEAR"
        beside_line = "" if line is None else f" ({line[0]:+.4f} ± {line[1]:.4f}){behind}"
        print(f"  {name}: {best:+.4f} ± {error:.4f} to {peer}{beside_line}")
    conclusion(f"{kind}, {score}", list(compared.values()))
    print()
    return list(compared.values())


def conclusion(of, found):
    strictly, within = sum(best <= 0 for _, (best, _), _ in found), sum(best <= error for _, (best, error), _ in found)
    worse = sum(line is not None and line[0] > line[1] for *_, line in found)
    print(
        f"{of}: at least as good as the best peer on {within} of {len(found)} within a standard error, "
        f"on {strictly} strictly; worse than linear by more than one on {worse}"
    )


def beside(rows, name, score):
    """The best peer's name, the difference to it, and that to the baseline; `None` without splits that `ign` has too."""
    mine = select(rows, name, "ign")
    own = {row["split"] for row in mine}
    others = [row for row in rows if row["set"] == name and row["who"] != "ign" and row["split"] in own]
    peers = list(dict.fromkeys(row["who"] for row in others))
    if not peers:
        return None
    best = min(peers, key=lambda who: np.mean([row[score] for row in select(rows, name, who)]))
    line = difference(mine, select(rows, name, BASELINE), score) if BASELINE in peers else None
    return best, difference(mine, select(rows, name, best), score), line
