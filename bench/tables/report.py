"""What is printed: a line for each result as it comes, then the job's table."""

import sys

import numpy as np

import trial_report

SCORES = ("rmse", "nll", "crps", "coverage", "slice_deviation")


def progress(row):
    """To standard error: the table alone goes to standard output."""
    result = row["error"] if "error" in row else f"NLL {row['nll']:.3f}"
    print(f"{row['set']} {row['split']}  {row['who']}: {result}  ({row['seconds']:.1f} s)", file=sys.stderr, flush=True)
    if "warnings" in row:
        print(f"  {row['warnings']}", file=sys.stderr, flush=True)


def table(job, rows):
    good = [row for row in rows if "error" not in row]
    if good:
        {"random": random, "gaps": gaps, "classes": classes, "trial": trial_report.table}[job](good)
    else:
        print("no results; `gaps` takes columns of fewer values with --distinct N" if not rows else "every run failed")
    for row in rows:
        if "error" in row:
            print(f"failed: {row['set']} {row['split']} {row['who']}: {row['error']}")


def unique(values):
    return list(dict.fromkeys(values))


def means(rows, score):
    return np.mean([row[score] for row in rows])


def versions(rows, score):
    """Which of LightGBM's versions a mean is of: g, q, or both."""
    return "/".join(sorted({row[f"{score}_by"][0] for row in rows if f"{score}_by" in row}))


def random(rows):
    """Means over the seeds."""
    print("| set | who | RMSE | NLL | CRPS | coverage | worst slice (by chance) | seconds |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for name in unique(row["set"] for row in rows):
        for who in unique(row["who"] for row in rows):
            mine = [row for row in rows if (row["set"], row["who"]) == (name, who)]
            if mine:
                cells = [f"{means(mine, score):.3f} {versions(mine, score)}".strip() for score in SCORES]
                cells[-1] += f" ({means(mine, 'chance'):.3f})"
                print(f"| {name} | {who} | {' | '.join(cells)} | {means(mine, 'seconds'):.1f} |")


def gaps(rows):
    """A line for each split: of each score one column for each who."""
    everyone = unique(row["who"] for row in rows)
    by = {(row["set"], row["split"], row["who"]): row for row in rows}
    shown = [("NLL", "nll"), ("coverage", "coverage"), ("RMSE", "rmse")]
    heads = [f"{head} {who}" for head, _ in shown for who in everyone]
    print(f"| split | rows | {' | '.join(heads)} |\n|---|--:|{'--:|' * len(heads)}")
    for name, split in unique((row["set"], row["split"]) for row in rows):
        here = {who: by[name, split, who] for who in everyone if (name, split, who) in by}
        cells = [f"{here[who][score]:.3f}" if who in here else "" for _, score in shown for who in everyone]
        print(f"| {name} {split} | {next(iter(here.values()))['test_rows']} | {' | '.join(cells)} |")
    print()
    for who in everyone:
        gap_summary(who, [row for row in rows if row["who"] == who], by)


def gap_summary(who, mine, by):
    worst_coverage, worst_nll = min(mine, key=lambda row: row["coverage"]), max(mine, key=lambda row: row["nll"])
    print(
        f"{who}: {len(mine)} splits; NLL mean {means(mine, 'nll'):.3f}, worst {worst_nll['nll']:.3f} ({place(worst_nll)}); "
        f"coverage mean {means(mine, 'coverage'):.3f}, worst {worst_coverage['coverage']:.3f} ({place(worst_coverage)})"
    )
    if at_bound := [row for row in mine if row.get("noise_at_bound")]:
        print(f"  noise at its lower bound on {len(at_bound)} splits: their NLL depends on that bound (README)")
    pairs = [(row, by[row["set"], row["split"], "gp"]) for row in mine if (row["set"], row["split"], "gp") in by]
    if who != "gp" and pairs:
        wins = sum(row["nll"] < gp["nll"] for row, gp in pairs)
        print(f"  NLL better than the exact Gaussian process's on {wins} of {len(pairs)} splits ({wins / len(pairs):.0%})")


def place(row):
    return f"{row['set']} {row['split']}"


def classes(rows):
    """Means over the folds with their standard errors."""
    print("| set | who | NLL | accuracy | seconds |\n|---|---|--:|--:|--:|")
    for name in unique(row["set"] for row in rows):
        for who in unique(row["who"] for row in rows):
            mine = [row for row in rows if (row["set"], row["who"]) == (name, who)]
            if mine:
                cells = [f"{means(mine, score):.3f} ± {standard_error(mine, score):.3f}" for score in ("nll", "accuracy")]
                print(f"| {name} | {who} | {' | '.join(cells)} | {means(mine, 'seconds'):.1f} |")


def standard_error(rows, score):
    if len(rows) < 2:
        return float("nan")
    return np.std([row[score] for row in rows], ddof=1) / np.sqrt(len(rows))
