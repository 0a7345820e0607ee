"""Driver: which splits, who runs on them, and the tables that are printed.

    bench/tables/run random [SETS…]   random 60/40 splits
    bench/tables/run gaps [SETS…]     the middle third of each numeric column held out
    bench/tables/run classes [SETS…]  five folds of small classifications
    bench/tables/run trial [SETS…]    tables that a new user would bring, numbers and classes
"""

import argparse
import time
from pathlib import Path

import report
import scores
import sets
from journal import Journal
from ours import Ign

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(prog="bench/tables/run", description="Scores of ign beside its peers on tables.")
    parser.add_argument("job", choices=["random", "gaps", "classes", "trial"])
    parser.add_argument("sets", nargs="*", help="which sets; the small ones, or all of `trial`, if none is named")
    parser.add_argument("--seeds", default="0,1,2", help="seeds of the random splits [default: 0,1,2]")
    parser.add_argument("--distinct", type=int, default=20, help="a gap's column has this many values [default: 20]")
    parser.add_argument("--ign", default=ROOT / "target/release/ign", help="the program [default: target/release/ign]")
    parser.add_argument("--preset", default="default", help="ign's preset [default: default]")
    parser.add_argument("--only", help="who runs, separated by commas: ign, gp, lightgbm, logistic, linear, catboost")
    parser.add_argument("--catboost", action="store_true", help="CatBoost too, in random and gaps")
    parser.add_argument("--json", help="append results to this file, and leave out what it has already")
    return parser.parse_args()


def splits(options):
    """All splits of a job, set by set."""
    if options.job == "classes":
        import class_sets

        for name in options.sets or class_sets.NAMES:
            yield from class_sets.folds(name)
        return
    seeds = [int(seed) for seed in options.seeds.split(",")]
    if options.job == "trial":
        import trial_sets

        for name in options.sets or trial_sets.NAMES:
            yield from trial_sets.splits(name, seeds)
        return
    for name in options.sets or sets.SMALL:
        if options.job == "random":
            yield from sets.random_splits(name, seeds)
        else:
            yield from sets.gap_splits(name, options.distinct)


def runners(options):
    """Who runs: name → function of a split. Imported when needed: `--only ign` waits for no peer's library."""
    ign = Ign(options.ign, options.preset)
    if options.job == "trial":
        import trial_peers

        everyone = trial_peers.runners(ign)
    elif options.job == "classes":
        import class_peers

        everyone = {"ign": ign.classification, "logistic": class_peers.logistic, "lightgbm": class_peers.lightgbm}
    else:
        import exact_gp
        import trees

        everyone = {"ign": ign.regression, "gp": exact_gp.regression, "lightgbm": trees.lightgbm}
        if options.catboost:
            everyone["catboost"] = trees.catboost
    chosen = options.only.split(",") if options.only else list(everyone)
    if unknown := [name for name in chosen if name not in everyone]:
        raise SystemExit(f"--only: nobody is called {unknown[0]}; there are: {', '.join(everyone)}")
    if "ign" in chosen and not Path(options.ign).exists():
        raise SystemExit(f"{options.ign} does not exist; build it with `cargo build --release`, or name it by --ign")
    return {name: everyone[name] for name in chosen}


def measured(row, run, split):
    """The row with its scores, or with the error's text: one failure must not end the others."""
    begin = time.perf_counter()
    try:
        found = run(split)
    except Exception as error:  # whatever a peer raises
        found = {"error": f"{type(error).__name__}: {error}"}
    return row | {"seconds": time.perf_counter() - begin} | found


def main():
    options = arguments()
    journal, chosen, rows = Journal(options.json), runners(options), []
    for split in splits(options):
        for who, run in chosen.items():
            row = {"job": options.job, "set": split.set, "split": split.name, "who": who}
            row |= {"preset": options.preset} if who == "ign" else {}
            if not journal.finished(row):
                row |= {"train_rows": len(split.y_train), "test_rows": len(split.y_test)}
                row |= {"chance": scores.chance_deviation(split)} if options.job == "random" else {}
                journal.add(measured(row, run, split))
            rows.append(journal.get(row))
            report.progress(rows[-1])
    report.table(options.job, rows)


if __name__ == "__main__":
    main()
