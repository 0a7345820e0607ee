"""Speed of ign beside PyTorch, JAX and GPyTorch: alternating rounds on one pinned core, best of each, ratio peer / ours."""

import argparse
import json
import os
import sys
import time
import warnings

# Read by the libraries when they are imported, so they must be set here.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
ALL_CORES = os.sched_getaffinity(0)

PREDICT_BLOCKS = (256, 512, 1024, 2048, 4096)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line in place of the table")
    parser.add_argument("--rounds", type=int, default=7, help="alternating rounds of each row (default 7)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the rows whose name contains TEXT")
    parser.add_argument("--peers-only", action="store_true", help="time the peers alone; inducing-bench is not needed")
    parser.add_argument("--core", type=int, default=max(ALL_CORES), help="core for the one-thread rows")
    parser.add_argument("--binary", help="another inducing-bench")
    return parser.parse_args()


def step_timer(peer):
    """Best step of one round. Warms up first: jit, caches, Adam's state."""
    import problem

    count = 0

    def one():
        nonlocal count
        start = time.perf_counter()
        peer.step(count)
        count += 1
        return time.perf_counter() - start

    for _ in range(5):
        one()
    return lambda: min(one() for _ in range(problem.STEPS))


def predict_timer(predictor):
    """Time for all rows with the block size that is best for this predictor."""
    import problem

    def seconds(block, rows=problem.ROWS):
        start = time.perf_counter()
        predictor.predict(block, rows)
        return time.perf_counter() - start

    # Short trials, so that one of them meets a quiet moment.
    best = min(PREDICT_BLOCKS, key=lambda block: min(seconds(block, 8192) for _ in range(6)))
    return lambda: seconds(best)


class Bench:
    def __init__(self, args):
        self.args = args
        self.children = {}
        if not args.peers_only:
            from ours import BINARY, Ours

            binary = args.binary or BINARY
            self.children[1] = Ours(1, {args.core}, binary)
            if len(ALL_CORES) > 1:
                self.children[2] = Ours(2, {args.core, min(ALL_CORES - {args.core})}, binary)

    def our_seconds(self, job, precision, threads=1, **more):
        return min(self.children[threads].ask(job, precision, **more)["seconds"])

    def our_rate(self, job, precision):
        reply = self.children[1].ask(job, precision)
        return reply["flops"] / min(reply["seconds"])

    def close(self):
        for child in self.children.values():
            child.close()

    def alternate(self, ours, peer, best):
        """Ours, peer, ours, peer, ...; the best of each."""
        found_ours, found_peer = [], []
        for _ in range(self.args.rounds):
            if self.children:
                found_ours.append(ours())
            found_peer.append(peer())
        return best(found_ours) if found_ours else None, best(found_peer)

    def times(self, name, precision, target, ours, peer):
        a, b = self.alternate(ours, peer, min)
        return record(name, precision, "ms", a and 1e3 * a, 1e3 * b, a and b / a, target)

    def step(self, precision, target, peer):
        timer = step_timer(peer(precision))
        return self.times(f"step vs {peer.name}", precision, target, lambda: self.our_seconds("step", precision), timer)

    def class_step(self, name, precision, target, peer, inducing):
        import class_problem as c

        timer = step_timer(peer(precision, inducing))
        ours = lambda: self.our_seconds("class-step", precision, inducing=inducing, inputs=c.INPUTS, classes=c.CLASSES)
        return self.times(name, precision, target, ours, timer)

    def text_step(self, name, target, peer, lengths):
        import text_problem as t

        timer = step_timer(peer(lengths))
        ours = lambda: self.our_seconds("text-step", "f32", batch=t.BATCH, features=t.FEATURES, lengths=lengths)
        return self.times(name, "f32", target, ours, timer)

    def predict(self, precision, target, predictor):
        import problem

        timer = predict_timer(predictor(precision))
        ours = lambda: self.our_seconds("predict", precision, rows=problem.ROWS)
        return self.times(f"predict vs {predictor.name}", precision, target, ours, timer)

    def two_threads(self, precision, target):
        two, one = (lambda t=t: self.our_seconds("step", precision, threads=t) for t in (2, 1))
        return self.times("step: two threads vs one (ours)", precision, target, two, one)

    def head_rate(self, precision, target):
        head, gemm = (lambda j=j: self.our_rate(j, precision) for j in ("head", "gemm"))
        a, b = self.alternate(head, gemm, max)
        return record("head rate vs GEMM rate (ours)", precision, "Gflop/s", a / 1e9, b / 1e9, a / b, target)


def record(name, precision, unit, ours, peer, ratio, target):
    return {"row": name, "precision": precision, "unit": unit, "ours": ours, "peer": peer, "ratio": ratio,
            "target": target, "met": None if ratio is None or target is None else ratio >= target}


def rows(bench):
    """(name, function that measures it), in the order of the table."""
    import class_problem
    import gpytorch_svgp
    import jax_jit
    import text_problem
    import torch_autograd
    import torch_hand
    import torch_laplace
    import torch_predict
    import torch_text

    plan = []
    for peer, target, precisions in (
        (torch_autograd.Peer, 6.0, ("f32", "f64")),
        (torch_hand.Peer, 2.0, ("f32", "f64")),
        (gpytorch_svgp.Peer, 8.0, ("f32", "f64")),
        (gpytorch_svgp.PeerF32Cholesky, None, ("f32",)),
        (jax_jit.Peer, None, ("f32", "f64")),
    ):
        plan += [(f"step vs {peer.name}", lambda a=(p, target, peer): bench.step(*a)) for p in precisions]
    for peer, target in ((torch_laplace.Peer, 5.0), (torch_laplace.HandPeer, None)):
        for m in class_problem.INDUCING:
            name = f"class-step M={m} vs {peer.name}"
            plan += [(name, lambda a=(name, p, target, peer, m): bench.class_step(*a)) for p in ("f32", "f64")]
    for lengths in text_problem.LENGTHS:
        for peer in torch_text.PEERS:
            name = f"text-step {lengths} vs {peer.name}"
            plan.append((name, lambda a=(name, 1.0, peer, lengths): bench.text_step(*a)))
    for predictor, target, precisions in (
        (torch_predict.Predictor, 2.0, ("f32", "f64")),
        (gpytorch_svgp.Predictor, 5.0, ("f32", "f64")),
        (gpytorch_svgp.PredictorF32Cholesky, None, ("f32",)),
    ):
        plan += [(f"predict vs {predictor.name}", lambda a=(p, target, predictor): bench.predict(*a))
                 for p in precisions]
    if 1 in bench.children:
        plan += [("head rate vs GEMM rate (ours)", lambda p=p: bench.head_rate(p, 0.5)) for p in ("f32", "f64")]
    if 2 in bench.children:
        plan += [("step: two threads vs one (ours)", lambda p=p: bench.two_threads(p, 1.5)) for p in ("f32", "f64")]
    return plan


def show(r):
    number = lambda value, digits: "-" if value is None else f"{value:.{digits}f}"
    digits = 1 if r["unit"] != "ms" or r["peer"] > 100 else 2
    target = "info" if r["target"] is None else f">= {r['target']:g}"
    verdict = {True: "met", False: "MISSED", None: ""}[r["met"]]
    print(f"{r['row']:<40} {r['precision']:<4} {number(r['ours'], digits):>9} {number(r['peer'], digits):>9} "
          f"{r['unit']:<8} {number(r['ratio'], 2):>6} {target:>7}  {verdict}".rstrip(), flush=True)


def main():
    args = arguments()
    os.sched_setaffinity(0, {args.core})  # before the imports: thread pools are sized by the cores that they see
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"load average {load:.1f}: other processes are running, the ratios will be noisy", file=sys.stderr)
    bench = Bench(args)
    import check

    import class_problem

    hand, jax = check.head_agreement()
    classes = [check.class_agreement(m) for m in class_problem.INDUCING]
    if not args.json:
        print(f"gradients agree with torch autograd (f64): hand-derived {hand:.0e}, jax {jax:.0e}")
        differences, newton, hand = (max(column) for column in zip(*classes))
        print(f"class-step: differences {differences:.0e}, differentiable Newton step {newton:.0e}, hand-derived {hand:.0e}")
        print(f"{'row':<40} {'':<4} {'ours':>9} {'peer':>9} {'':<8} {'ratio':>6} {'target':>7}", flush=True)
    for name, measure in rows(bench):
        if args.only in name:
            r = measure()
            print(json.dumps(r), flush=True) if args.json else show(r)
    bench.close()


if __name__ == "__main__":
    main()
