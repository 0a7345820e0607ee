//! Parameters of a burn module as one flat vector, in the module's own order.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};

/// One parameter's place in the flat vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) path: String,
    pub(crate) shape: Vec<usize>,
}

impl Slot {
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

/// Reads names, shapes and values.
#[derive(Default)]
struct Reader {
    path: Vec<String>,
    slots: Vec<Slot>,
    values: Vec<f32>,
}

impl ModuleVisitor for Reader {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        self.slots.push(Slot { path: self.path.join("."), shape: tensor.dims().to_vec() });
        append(tensor, &mut self.values);
    }
}

/// Takes gradients out; a parameter that took no part has zeros.
struct GradientReader<'a> {
    gradients: &'a mut Gradients,
    rest: &'a mut [f32],
}

impl ModuleVisitor for GradientReader<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let (mine, rest) = std::mem::take(&mut self.rest).split_at_mut(tensor.dims().iter().product());
        self.rest = rest;
        match tensor.grad_remove(self.gradients).map(Tensor::into_data) {
            Some(gradient) => mine.copy_from_slice(gradient.as_slice::<f32>().expect("gradients are f32")),
            None => mine.fill(0.0),
        }
    }
}

/// Writes values.
struct Writer<'a> {
    device: &'a Device,
    rest: &'a [f32],
}

impl ModuleMapper for Writer<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let shape = tensor.dims();
            let (mine, rest) = self.rest.split_at(shape.iter().product());
            self.rest = rest;
            let fresh = Tensor::from_data(TensorData::new(mine.to_vec(), shape), self.device);
            if self.device.is_autodiff() { fresh.require_grad() } else { fresh }
        })
    }
}

fn append<const D: usize>(tensor: Tensor<D>, values: &mut Vec<f32>) {
    let data = tensor.into_data();
    values.extend_from_slice(data.as_slice::<f32>().expect("parameters are f32"));
}

/// Slots and values of all parameters.
pub(crate) fn read<M: Module>(module: &M) -> (Vec<Slot>, Vec<f32>) {
    let mut reader = Reader::default();
    module.visit(&mut reader);
    (reader.slots, reader.values)
}

/// Sets `values` to the gradients of all parameters. They are taken out: a tensor that nobody else holds gives its
/// numbers without a copy.
pub(crate) fn take_gradients<M: Module>(module: &M, gradients: &mut Gradients, values: &mut [f32]) {
    module.visit(&mut GradientReader { gradients, rest: values });
}

/// The module with other values, on `device`.
pub(crate) fn write<M: Module>(module: M, values: &[f32], device: &Device) -> M {
    module.map(&mut Writer { device, rest: values })
}
