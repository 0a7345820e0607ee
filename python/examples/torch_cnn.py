"""A convolutional network with a Gaussian process head: handwritten digits, and digits that it never saw.

Trains on 0 to 7 and is asked about all ten. Run it with `python torch_cnn.py`; a few seconds.
"""

import torch
from inducing.torch import GPHead
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from torch import nn

KNOWN = 8  # classes


def main() -> None:
    """Train, refit, predict, compare."""
    torch.manual_seed(0)
    images, digits = load_digits(return_X_y=True)
    x = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16.0
    y = torch.tensor(digits)
    known = torch.nonzero(y < KNOWN)[:, 0]
    known = known[torch.randperm(len(known))]
    train, validation, test = known[:900], known[900:1100], known[1100:]
    unseen = torch.nonzero(y >= KNOWN)[:, 0]

    encoder = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 16, 32),
        # Features on a sphere, where inducing points can follow them.
        nn.LayerNorm(32, elementwise_affine=False),
    )
    head = GPHead(features=32, inducing=64, task="classification", classes=KNOWN)
    head.initialise(encoder(x[train]), y[train])
    groups = [{"params": encoder.parameters(), "lr": 1e-3}, {"params": head.parameters(), "lr": 1e-2}]
    optimiser = torch.optim.Adam(groups)
    for epoch in range(15):
        for rows in train[torch.randperm(len(train))].split(64):
            optimiser.zero_grad()
            loss = head.loss(encoder(x[rows]), y[rows])
            loss.backward()
            optimiser.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2}: loss {loss.item():.3f}, utilisation {head.utilisation:.2f}")

    encoder.eval()
    phi = encoder(x[test])
    print(f"\nbefore the refit: accuracy {accuracy(head, phi, y[test]):.3f}, NLL {head.nll(phi, y[test]):.3f}")
    head.fit_posterior([(x[train], y[train])], encoder=encoder, validation=[(x[validation], y[validation])])
    print(f"after:            accuracy {accuracy(head, phi, y[test]):.3f}, NLL {head.nll(phi, y[test]):.3f}")

    p = head.predict_proba(encoder(torch.cat([x[test], x[unseen]])))
    entropy = torch.special.entr(p).sum(1)
    is_unseen = torch.arange(len(p)) >= len(test)
    print(f"\ndigits 8 and 9, which it never saw, told from the others by entropy: AUROC {roc_auc_score(is_unseen, entropy):.3f}")


def accuracy(head: GPHead, phi: torch.Tensor, y: torch.Tensor) -> float:
    """Share of rows whose most probable class is the true one."""
    return (head.predict(phi) == y).double().mean().item()


if __name__ == "__main__":
    main()
