"""What the two PyTorch steps and the PyTorch prediction share: encoder, parameters, kernel."""

import torch

import problem

torch.set_num_threads(1)
torch.set_flush_denormal(True)  # denormals would slow the peer a hundredfold; our side flushes them too

DTYPE = {"f32": torch.float32, "f64": torch.float64}


def encoder(layers):
    modules = []
    for weight, bias in layers:
        linear = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weight.T))
            linear.bias.copy_(torch.from_numpy(bias))
        modules += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


def rbf(a, b):
    """exp(-|a-b|^2) through one GEMM: [A, D], [B, D] -> [A, B]."""
    squared = torch.addmm((b * b).sum(1).unsqueeze(0), a, b.T, alpha=-2.0) + (a * a).sum(1).unsqueeze(1)
    return torch.exp(-squared.clamp_min(0.0))


class Model:
    """Parameters as leaves, data as tensors, Adam over everything."""

    def __init__(self, precision):
        p = problem.make(precision)
        dtype = DTYPE[precision]
        self.dtype, self.jitter = dtype, problem.JITTER[precision]
        self.encoder = encoder(p.layers)
        self.z = torch.from_numpy(p.z).clone().requires_grad_()                        # [M, D]
        self.w = torch.from_numpy(p.w).clone().requires_grad_()                        # [D]
        self.b = torch.tensor(p.b, dtype=dtype, requires_grad=True)
        self.log_sigma = torch.tensor(p.log_sigma, dtype=dtype, requires_grad=True)
        self.x, self.y = torch.from_numpy(p.x), torch.from_numpy(p.y)
        self.phi = torch.from_numpy(p.phi)
        # The fused form is the fastest that PyTorch has on a CPU.
        self.adam = torch.optim.Adam(
            [*self.encoder.parameters(), *self.head()], lr=problem.LEARNING_RATE, fused=True)

    def head(self):
        return self.z, self.w, self.b, self.log_sigma
