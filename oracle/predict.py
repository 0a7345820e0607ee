#!/usr/bin/env python3
"""Recomputes the predictions of a model file, from docs/model-file.md alone: numpy, no code shared with the program.

    python3 oracle/predict.py MODEL.ign INPUT.csv [--interval 0.9] [--quantiles 0.05,0.5] [--density 50] > predictions.csv
    python3 oracle/predict.py MODEL.ign INPUT.npy > predictions.csv                       an array in place of a table
    python3 oracle/predict.py MODEL.ign t10k-images-idx3-ubyte.gz > predictions.csv       a model of pictures
    python3 oracle/predict.py MODEL.ign GRAPHS.jsonl > predictions.csv                    a model of graphs

Numbers have mean, deviations, intervals, quantiles and densities; classes a label, probabilities and latent functions; both
have a familiarity where the model keeps training rows. Pictures are read from an idx file and must have the model's size; graphs
from JSON lines. Texts may hold ASCII, letters of Latin, Greek and Cyrillic, ideographs and faces.

Everything is computed in double precision, except what the format defines in single: the scaled inputs, the angles of
the periodic embedding, the position in a table, the numbers of a node and the coordinates that neighbours are found by. The
program's encoder is single precision throughout, so the two agree to about 1e-5 of the target's standard deviation (`std` of
the target in the header; 1 for classes), not to the last digit. In an ensemble that last digit may choose between two rows
that are equally near; the last line on standard error names the predicted rows where it may, counted from 0.
"""

import argparse
import csv
import sys

from heads import predict_classes, predict_numbers
from inputs import read_inputs
from model_file import read_model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [float(part) for part in text.split(",")]  # noqa: E731
    parser.add_argument("model")
    parser.add_argument("input", help="CSV file with a header line, .npy array, idx file of images, or JSON lines of graphs")
    parser.add_argument("--interval", type=numbers, default=[])
    parser.add_argument("--quantiles", type=numbers, default=[])
    parser.add_argument("--density", type=int, default=0, help="at so many values of each target")
    parser.add_argument("--delimiter", default=",")
    args = parser.parse_args()
    header, tensors = read_model(args.model)
    inputs, columns = read_inputs(args.input, args.delimiter, header)
    targets = header["schema"].get("targets", header["schema"])
    if isinstance(targets, list):
        own, near_ties = predict_numbers(header, tensors, inputs, args.interval, args.quantiles, args.density)
    else:
        classes = targets.get("levels") or targets["classes"]
        own, near_ties = predict_classes(header, tensors, inputs, classes, targets["counts"])
    columns += own
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    text = lambda value: value if isinstance(value, str) else repr(float(value))  # noqa: E731
    writer.writerows(zip(*([text(value) for value in values] for _, values in columns)))
    if near_ties:
        print("near ties:", *sorted(near_ties), file=sys.stderr)


if __name__ == "__main__":
    main()
