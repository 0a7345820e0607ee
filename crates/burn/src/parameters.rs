//! Parameters of a burn module as one flat vector, in the order in which the module visits them.

use burn::module::{Flag, Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use inducing::nn::Layout;

/// Names, shapes and decay of all parameters; their values; a layer that cannot be used.
pub(crate) struct Parameters {
    pub(crate) layout: Layout,
    pub(crate) theta: Vec<f32>,
    /// A layer whose output for a row depends on the rows beside it.
    pub(crate) batch_norm: Option<String>,
    /// Whether a layer acts otherwise in training, which is to draw random numbers.
    pub(crate) draws: bool,
}

/// How many numbers all parameters have, without making them; absurd sizes give an absurd count.
pub(crate) fn count<M: Module>(module: &M) -> usize {
    let mut counter = Counter(0);
    module.visit(&mut counter);
    counter.0
}

struct Counter(usize);

impl ModuleVisitor for Counter {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let len =
            param.lazy_shape().as_slice().iter().fold(1_usize, |product, &size| product.saturating_mul(size));
        self.0 = self.0.saturating_add(len);
    }
}

/// Reads names, shapes and values of a module that is in training state: what requires no gradient there is frozen.
pub(crate) fn read<M: Module>(module: &M, decays: fn(&str) -> bool) -> Parameters {
    let parameters =
        Parameters { layout: Layout::default(), theta: Vec::new(), batch_norm: None, draws: false };
    let mut reader = Reader { path: Vec::new(), decays, parameters };
    module.visit(&mut reader);
    reader.parameters
}

struct Reader {
    path: Vec<String>,
    decays: fn(&str) -> bool,
    parameters: Parameters,
}

impl ModuleVisitor for Reader {
    fn enter_module(&mut self, name: &str, container: &str) {
        if container == "Struct:BatchNorm" && self.parameters.batch_norm.is_none() {
            self.parameters.batch_norm = Some(self.path.join("."));
        }
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let (tensor, path) = (param.base(), self.path.join("."));
        // Frozen parameters do not move, not even towards zero.
        let decays = tensor.is_require_grad() && (self.decays)(&path);
        self.parameters.layout.add(path, &tensor.dims(), decays);
        self.parameters.theta.extend(numbers(tensor));
    }

    fn visit_flag(&mut self, flag: &Param<Flag>) {
        self.parameters.draws |= flag.is_enabled();
    }
}

/// The module with the values of θ, on `device`. Layers such as dropout act as in training only if `training`.
pub(crate) fn write<M: Module>(module: M, theta: &[f32], device: &Device, training: bool) -> M {
    module.map(&mut Writer { device, training, rest: theta })
}

struct Writer<'a> {
    device: &'a Device,
    training: bool,
    rest: &'a [f32],
}

impl ModuleMapper for Writer<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let shape = tensor.dims();
            let (own, rest) = self.rest.split_at(shape.iter().product());
            self.rest = rest;
            let fresh = Tensor::from_data(TensorData::new(own.to_vec(), shape), self.device);
            if self.device.is_autodiff() && tensor.is_require_grad() { fresh.require_grad() } else { fresh }
        })
    }

    fn map_flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
        flag.map(|flag| flag.with(self.training && flag.is_enabled()))
    }
}

/// Sets `d_theta` to the gradients of all parameters; one that took no part has zeros.
pub(crate) fn take_gradients<M: Module>(module: &M, gradients: &mut Gradients, d_theta: &mut [f32]) {
    module.visit(&mut GradientReader { gradients, rest: d_theta });
}

struct GradientReader<'a> {
    gradients: &'a mut Gradients,
    rest: &'a mut [f32],
}

impl ModuleVisitor for GradientReader<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.base();
        let (own, rest) = std::mem::take(&mut self.rest).split_at_mut(tensor.dims().iter().product());
        self.rest = rest;
        match tensor.grad_remove(self.gradients) {
            Some(gradient) => own.copy_from_slice(&numbers(gradient)),
            None => own.fill(0.0),
        }
    }
}

/// All numbers of a tensor, row-major.
pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec_as().expect("floats are numbers")
}
