"""A Gaussian process head on sentence vectors that were computed elsewhere: what is a message about, and is it about that at all?

The vectors here are sums of random word vectors, of length one, so that nothing is downloaded; those of any embedding model
go in the same way.
Run it with `python torch_sentences.py`; a few seconds.
"""

import itertools
import random
import zlib

import torch
from inducing.torch import GPHead
from sklearn.metrics import roc_auc_score

WIDTH = 64
TOPICS = {
    "delivery": (
        ["my parcel", "the package", "my order", "the delivery", "the courier"],
        ["has not arrived", "is late again", "went to the wrong address", "is stuck at the depot", "was left in the rain"],
        ["where is it now", "the tracking page says nothing", "i need it by friday", "nobody rang the bell", ""],
    ),
    "payment": (
        ["my card", "the invoice", "my refund", "the last payment", "your bank transfer"],
        ["was charged twice", "shows the wrong amount", "has been declined", "is missing on my statement", "was never booked"],
        ["please check the account", "i want my money back", "the bank knows nothing", "the receipt is attached", ""],
    ),
    "login": (
        ["my password", "the login page", "my account", "the app", "the confirmation code"],
        ["does not work", "is locked after three tries", "sends me back to the start", "shows an error", "has expired"],
        ["please reset it", "i tried another browser", "no mail came to my inbox", "it worked yesterday", ""],
    ),
}
ELSEWHERE = (
    ["the museum", "our garden", "the orchestra", "a glacier", "this soup"],
    ["opens in spring", "needs more salt", "plays brahms tonight", "shrinks every summer", "smells of thyme"],
    ["bring a friend", "tickets are sold out", "the children loved it", "it rained all week", ""],
)


def sentences(parts: tuple[list[str], list[str], list[str]]) -> list[str]:
    """All combinations."""
    return [" ".join(words).strip() for words in itertools.product(*parts)]


def embed(texts: list[str]) -> torch.Tensor:
    """Sums of word vectors that follow from the word alone, long words more than short ones, scaled to length one."""
    rows = []
    for text in texts:
        row = torch.zeros(WIDTH)
        for word in text.split():
            generator = torch.Generator().manual_seed(zlib.crc32(word.encode()))
            row += min(len(word), 6) * torch.randn(WIDTH, generator=generator)
        rows.append(row)
    return torch.nn.functional.normalize(torch.stack(rows))


def main() -> None:
    """Train, refit, predict."""
    torch.manual_seed(0)
    rows = [(text, label) for label, parts in enumerate(TOPICS.values()) for text in sentences(parts)]
    random.Random(0).shuffle(rows)
    texts, labels = [text for text, _ in rows], torch.tensor([label for _, label in rows])
    # A tenth of the labels is wrong, as in life: probabilities should say so.
    wrong = torch.rand(len(rows)) < 0.1
    labels = torch.where(wrong, (labels + 1) % 3, labels)
    train, validation, test = slice(0, 200), slice(200, 280), slice(280, None)

    phi = embed(texts)
    head = GPHead(features=WIDTH, inducing=48, task="classification", classes=len(TOPICS))
    head.initialise(phi[train], labels[train])
    optimiser = torch.optim.Adam(head.parameters(), lr=0.01)
    for _ in range(150):
        optimiser.zero_grad()
        head.loss(phi[train], labels[train]).backward()
        optimiser.step()
    head.fit_posterior(phi[train], labels[train], validation=(phi[validation], labels[validation]))

    right = (head.predict(phi[test]) == labels[test]).double().mean().item()
    print(f"test: accuracy {right:.3f} where a tenth of the labels is wrong, NLL {head.nll(phi[test], labels[test]):.3f}\n")
    names = list(TOPICS)
    for text in ("my parcel has not arrived", "the invoice shows an error", "the orchestra plays brahms tonight"):
        p = head.predict_proba(embed([text]))[0]
        _, std = head.predict(embed([text]), return_std=True)
        said = ", ".join(f"{name} {value:.2f}" for name, value in zip(names, p.tolist()))
        print(f"{text:36} {said}   latent deviation {std.item():.3f}")

    elsewhere = embed(sentences(ELSEWHERE))
    _, std = head.predict(torch.cat([phi[test], elsewhere]), return_std=True)
    is_elsewhere = torch.arange(len(std)) >= len(phi[test])
    print(f"\nsentences about something else, by latent deviation: AUROC {roc_auc_score(is_elsewhere, std):.3f}")


if __name__ == "__main__":
    main()
