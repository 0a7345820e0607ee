"""What `fit_posterior` and `recalibrate` are worth on small regressions of scikit-learn: test RMSE and NLL before and after.

    PYTHON=.venv/bin/python; OMP_NUM_THREADS=1 $PYTHON bench/torch_head/refit.py
"""

import torch
from inducing.torch import GPHead
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2
from torch import nn

SETS = {
    "diabetes": lambda seed: load_diabetes(return_X_y=True),
    "friedman1, 300 rows": lambda seed: make_friedman1(300, noise=1.0, random_state=seed),
    "friedman1, 3000 rows": lambda seed: make_friedman1(3000, noise=1.0, random_state=seed),
    "friedman2, 3000 rows": lambda seed: make_friedman2(3000, noise=50.0, random_state=seed),
}


def scores(head, phi, y):
    return f"RMSE {(head.predict(phi) - y).square().mean().sqrt():8.3f}  NLL {head.nll(phi, y):7.3f}"


def run(name, seed):
    torch.manual_seed(seed)
    x, y = (torch.tensor(part, dtype=torch.float32) for part in SETS[name](seed))
    x = (x - x.mean(0)) / x.std(0)
    sizes = [int(0.6 * len(x)), int(0.2 * len(x))]
    train, validation, test = torch.randperm(len(x)).split([*sizes, len(x) - sum(sizes)])
    encoder = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))
    head = GPHead(features=16, inducing=64, task="regression").initialise(encoder(x[train]), y[train])
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=2e-3)
    for _ in range(60 if len(x) > 1000 else 150):
        for rows in train[torch.randperm(len(train))].split(128):
            optimiser.zero_grad()
            head.loss(encoder(x[rows]), y[rows]).backward()
            optimiser.step()
    phi = encoder(x).detach()
    before = scores(head, phi[test], y[test])
    after = scores(head.fit_posterior(phi[train], y[train]), phi[test], y[test])
    calibrated = scores(head.recalibrate(phi[validation], y[validation]), phi[test], y[test])
    print(f"{name:21} {seed}  trained: {before}   posterior: {after}   and recalibrated: {calibrated}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in SETS:
        for seed in range(3):
            run(name, seed)
