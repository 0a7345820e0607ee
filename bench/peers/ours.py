"""Our side: the child process target/release/inducing-bench, one JSON object a line each way (the protocol is in README.md)."""

import json
import os
import subprocess
from pathlib import Path

import problem

BINARY = Path(__file__).resolve().parents[2] / "target" / "release" / "inducing-bench"


class Ours:
    """One child for each number of threads: it sees only its cores from the start, so no thread pool gets a wrong size."""

    def __init__(self, threads, cores, binary=BINARY):
        if not Path(binary).exists():
            raise SystemExit(f"{binary} is missing; build it with `cargo build --release -p inducing-bench`, or pass --peers-only")
        self.threads = threads
        self.child = subprocess.Popen(
            [str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "RAYON_NUM_THREADS": str(threads)},
            preexec_fn=lambda: os.sched_setaffinity(0, cores))

    def ask(self, job, precision, **more):
        request = {"job": job, "precision": precision, "threads": self.threads, "batch": problem.BATCH,
                   "inducing": problem.INDUCING, "features": problem.FEATURES, "inputs": problem.INPUTS,
                   "steps": problem.STEPS, **more}
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            raise SystemExit(f"inducing-bench ended without an answer to {request}")
        reply = json.loads(line)
        if not reply.get("seconds"):
            raise SystemExit(f"inducing-bench answered {line.strip()} to {request}")
        return reply

    def close(self):
        self.child.stdin.close()
        self.child.wait(timeout=10)
