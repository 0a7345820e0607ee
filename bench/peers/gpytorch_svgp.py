"""Peers: GPyTorch's deep-kernel SVGP (same encoder, 512 inducing points): one ELBO step with Adam, and prediction.

GPyTorch factors K_zz in f64 even for an f32 model. That default, which its users get, is the row with the target;
the rows "f32 Cholesky" switch it off (a private setting, with jitter 1e-3 as on our side) and are for information.
"""

from contextlib import ExitStack

import gpytorch
import torch

import problem
import torch_model


class Layer(gpytorch.models.ApproximateGP):
    def __init__(self, z):
        distribution = gpytorch.variational.CholeskyVariationalDistribution(z.shape[0])
        super().__init__(gpytorch.variational.VariationalStrategy(self, z, distribution, learn_inducing_locations=True))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, phi):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(phi), self.covar_module(phi))


class Model:
    def __init__(self, precision):
        p = problem.make(precision)
        self.dtype = torch_model.DTYPE[precision]
        self.encoder = torch_model.encoder(p.layers)
        self.layer = Layer(torch.from_numpy(p.z)).to(self.dtype)
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood().to(self.dtype)
        self.x, self.y = torch.from_numpy(p.x), torch.from_numpy(p.y)
        parameters = [*self.encoder.parameters(), *self.layer.parameters(), *self.likelihood.parameters()]
        self.adam = torch.optim.Adam(parameters, lr=problem.LEARNING_RATE, fused=True)
        self.elbo = gpytorch.mlls.VariationalELBO(self.likelihood, self.layer, num_data=problem.ROWS)

    def step(self, i):
        rows = problem.batch_slice(i)
        self.adam.zero_grad()
        value = -self.elbo(self.layer(self.encoder(self.x[rows]).to(self.dtype)), self.y[rows])
        value.backward()
        self.adam.step()
        return value


def f32_cholesky(on):
    stack = ExitStack()
    if on:
        stack.enter_context(gpytorch.settings._linalg_dtype_cholesky(torch.float32))
        stack.enter_context(gpytorch.settings.cholesky_jitter(float_value=problem.JITTER["f32"]))
    return stack


class Peer:
    name = "GPyTorch deep-kernel SVGP"
    low = False

    def __init__(self, precision):
        self.model = Model(precision)

    def step(self, i):
        with f32_cholesky(self.low):
            return self.model.step(i)


class PeerF32Cholesky(Peer):
    name = "GPyTorch SVGP, f32 Cholesky"
    low = True


class Predictor:
    name = "GPyTorch SVGP"
    low = False

    def __init__(self, precision):
        self.model = Model(precision)
        with f32_cholesky(self.low):
            for i in range(3):  # initialises the variational distribution and moves it away from the prior
                self.model.step(i)
        self.model.layer.eval()
        self.model.likelihood.eval()

    def predict(self, block, rows):
        """Mean and latent variance of the first `rows` rows."""
        m = self.model
        means, variances = [], []
        with (torch.no_grad(), gpytorch.settings.fast_pred_var(), gpytorch.settings.skip_posterior_variances(False),
              f32_cholesky(self.low)):
            for x in m.x[:rows].split(block):
                out = m.layer(m.encoder(x).to(m.dtype))
                means.append(out.mean)
                variances.append(out.variance)
        return torch.cat(means), torch.cat(variances)


class PredictorF32Cholesky(Predictor):
    name = "GPyTorch SVGP, f32 Cholesky"
    low = True
