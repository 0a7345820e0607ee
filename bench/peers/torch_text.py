"""Peers: one training step of the text encoder in PyTorch, as `crates/ign/src/encoder/transformer.rs` describes it.

Token and position embeddings, one pre-norm block (attention, then a dense part with ReLU), norm, mean over the tokens, a linear
feature layer and a logistic readout; Adam over everything. Texts shorter than the longest of their
batch are padded and masked, as PyTorch needs it; a batch without padding has no mask.
"""

import math

import torch
import torch.nn.functional as F

import text_problem as p
import torch_model  # one thread, flushed denormals


class Plain(torch.nn.Module):
    """softmax(QK'/sqrt(d)) V written out."""

    def attend(self, q, k, v, mask):
        scores = q @ k.transpose(2, 3) * (1.0 / math.sqrt(q.shape[3]))                 # [N, H, L, L]
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        return scores.softmax(3) @ v

    def __init__(self):
        super().__init__()
        self.token = torch.nn.Embedding(p.VOCABULARY, p.WIDTH)
        self.position = torch.nn.Parameter(0.05 * torch.randn(p.LENGTH, p.WIDTH))
        self.norm_1, self.norm_2, self.last = (torch.nn.LayerNorm(p.WIDTH) for _ in range(3))
        self.qkv, self.mix = torch.nn.Linear(p.WIDTH, 3 * p.WIDTH), torch.nn.Linear(p.WIDTH, p.WIDTH)
        self.up, self.down = torch.nn.Linear(p.WIDTH, p.FEED_FORWARD), torch.nn.Linear(p.FEED_FORWARD, p.WIDTH)
        self.features, self.readout = torch.nn.Linear(p.WIDTH, p.FEATURES), torch.nn.Linear(p.FEATURES, 1)

    def attention(self, x, padding):
        n, length, _ = x.shape
        q, k, v = (t.reshape(n, length, p.HEADS, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, 2))
        mixed = self.attend(q, k, v, None if padding is None else padding[:, None, None, :])
        return self.mix(mixed.transpose(1, 2).reshape(n, length, p.WIDTH))

    def forward(self, tokens, padding):
        h = self.token(tokens) + self.position[:tokens.shape[1]]                       # [N, L, W]
        h = h + self.attention(self.norm_1(h), padding)
        h = h + self.down(F.relu(self.up(self.norm_2(h))))
        h = self.last(h)
        if padding is None:
            pooled = h.mean(1)
        else:
            keep = (~padding).unsqueeze(2).to(h.dtype)
            pooled = (h * keep).sum(1) / keep.sum(1)
        return self.readout(self.features(pooled))


class Fused(Plain):
    """The same with PyTorch's fused attention."""

    def attend(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else ~mask)


class Module(Plain):
    """The same with torch.nn.MultiheadAttention."""

    def __init__(self):
        super().__init__()
        del self.qkv, self.mix
        self.heads = torch.nn.MultiheadAttention(p.WIDTH, p.HEADS, batch_first=True)

    def attention(self, x, padding):
        return self.heads(x, x, x, key_padding_mask=padding, need_weights=False)[0]


class Peer:
    network, name = Plain, "torch softmax(QK')V"

    def __init__(self, lengths):
        torch.manual_seed(0)
        self.model = self.network()
        self.adam = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)
        self.batches = []
        for texts, labels in p.batches(lengths):
            longest = max(map(len, texts))
            tokens = torch.zeros(len(texts), longest, dtype=torch.long)
            for row, text in zip(tokens, texts):
                row[:len(text)] = torch.from_numpy(text)
            padding = tokens == 0
            self.batches.append((tokens, padding if padding.any() else None, torch.from_numpy(labels).float()))

    def step(self, i):
        tokens, padding, labels = self.batches[i % len(self.batches)]
        self.adam.zero_grad()
        loss = F.binary_cross_entropy_with_logits(self.model(tokens, padding).squeeze(1), labels)
        loss.backward()
        self.adam.step()
        return loss


class FusedPeer(Peer):
    network, name = Fused, "torch fused attention"


class ModulePeer(Peer):
    network, name = Module, "torch MultiheadAttention"


PEERS = (Peer, FusedPeer, ModulePeer)
