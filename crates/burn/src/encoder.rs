//! A burn module as an encoder of the library.

use crate::module::{Batch, BurnModule};
use crate::parameters::{self, Parameters, numbers};
use crate::random::with_seed;
use burn::tensor::{Device, Tensor, TensorData};
use inducing::Error;
use inducing::dataset::Inputs;
use inducing::nn::{Backward, CustomEncoder, Encoder, Forward, Layout, Mode};

/// More parameters than this are in no model file.
const MOST_PARAMETERS: usize = 1 << 30;

/// An encoder whose features are those of a burn module, and whose gradients are autodiff's.
///
/// It holds a module for its structure alone: every pass writes θ into a copy. Gradients by θ and by the rows' numbers
/// are those of the linear surrogate `⟨Φ, ∂Φ⟩`, which yields `∂Φ/∂θ ∂Φ` exactly.
///
/// What the trait asks for beyond that is as good as burn's backend: features of a row are a function of that row and θ
/// up to rounding, for a product of matrices may sum in another order when there are more rows.
#[derive(Debug)]
pub struct BurnEncoder<M: BurnModule> {
    module: M, // in training state: what requires no gradient is frozen
    shape: M::Shape,
    layout: Layout,
    draws: bool, // whether it has layers such as dropout
}

impl<M: BurnModule> BurnEncoder<M> {
    /// The module with the parameters θ, outside of autodiff: to look into it, or to keep it in burn's own formats. An
    /// error where θ is not as long as the layout.
    pub fn module(&self, theta: &[f32]) -> Result<M, Error> {
        self.check(theta)?;
        Ok(self.write(theta, &M::device(), Mode::Predict).valid())
    }

    /// θ of a module, such as one that was trained elsewhere; an error where its parameters have other names or sizes.
    pub fn parameters(&self, module: &M) -> Result<Vec<f32>, Error> {
        let Parameters { layout, theta, .. } = parameters::read(module, M::decays);
        let sizes = |layout: &Layout| -> Vec<(String, Vec<usize>)> {
            layout.slots().iter().map(|slot| (slot.name.clone(), slot.shape.clone())).collect()
        };
        if sizes(&prefixed::<M>(&layout)) == sizes(&self.layout) {
            Ok(theta)
        } else {
            let expected = format!("a `{}` of the shape {:?}", M::name(), self.shape);
            Err(Error::inputs(expected, "one of another shape"))
        }
    }

    fn check(&self, theta: &[f32]) -> Result<(), Error> {
        let len = self.layout.len();
        if theta.len() == len {
            return Ok(());
        }
        Err(Error::inputs(format!("{len} parameters of `{}`", M::name()), format!("{}", theta.len())))
    }

    fn write(&self, theta: &[f32], device: &Device, mode: Mode) -> M {
        parameters::write(self.module.clone(), theta, device, mode != Mode::Predict)
    }

    /// Features of some rows, and what they were made from.
    fn pass(
        &self,
        theta: &[f32],
        (inputs, rows, mode): (&Inputs, &[usize], Mode),
        device: &Device,
        tracks_x: bool,
    ) -> Result<Pass<M>, Error> {
        self.check(theta)?;
        let pass = || {
            let batch = Batch::new(inputs, rows, mode, device, tracks_x)?;
            let module = self.write(theta, device, mode);
            let phi = module.features(&batch)?;
            let (found, expected) = (phi.dims(), [rows.len(), self.module.dim()]);
            if found != expected {
                let expected = format!("features {expected:?} of the module `{}`", M::name());
                return Err(Error::inputs(expected, format!("features {found:?}")));
            }
            Ok(Pass { module, phi, x: batch.into_numbers() })
        };
        match mode {
            Mode::Train { seed } if self.draws => with_seed(device, seed, pass),
            _ => pass(),
        }
    }
}

/// A module with the features that it gave.
struct Pass<M> {
    module: M,
    phi: Tensor<2>,       // [N, D]
    x: Option<Tensor<2>>, // [N, width]
}

/// Names in files begin with the module's own: a model of one module is not taken for that of another.
fn prefixed<M: BurnModule>(layout: &Layout) -> Layout {
    let mut all = Layout::default();
    all.add_all(&M::name(), layout);
    all
}

/// A module on its device, in training state.
fn build<M: BurnModule>(shape: &M::Shape, seed: u64) -> Result<M, String> {
    let device = M::device();
    with_seed(&device, seed, || {
        let module = M::new(shape, seed, &device)?;
        let parameters = parameters::count(&module);
        if parameters > MOST_PARAMETERS {
            return Err(format!("{parameters} parameters; at most {MOST_PARAMETERS} are possible"));
        }
        Ok(module.train()) // makes what burn has left for later
    })
}

impl<M: BurnModule> CustomEncoder for BurnEncoder<M> {
    type Shape = M::Shape;

    fn new(shape: &M::Shape) -> Result<Self, String> {
        let module = build::<M>(shape, 0)?;
        let (dim, members) = (module.dim(), module.members());
        if dim == 0 || members == 0 || !dim.is_multiple_of(members) {
            return Err(format!("{dim} features cannot be shared by {members} members"));
        }
        let Parameters { layout, batch_norm, draws, .. } = parameters::read(&module, M::decays);
        if let Some(path) = batch_norm {
            return Err(format!(
                "`{path}` is a batch norm, whose rows depend on each other; use a group or layer norm"
            ));
        }
        Ok(Self { module, shape: shape.clone(), layout: prefixed::<M>(&layout), draws })
    }
}

impl<M: BurnModule> Encoder for BurnEncoder<M> {
    fn dim(&self) -> usize {
        self.module.dim()
    }

    fn members(&self) -> usize {
        self.module.members()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        let module = build::<M>(&self.shape, seed).expect("the shape was built before");
        parameters::read(&module, M::decays).theta
    }

    fn forward<'a>(
        &'a self,
        theta: &'a [f32],
        inputs: &'a Inputs,
        rows: &[usize],
        mode: Mode,
    ) -> Result<Forward<'a>, Error> {
        if rows.is_empty() {
            return Ok((Vec::new(), Box::new(NoRows))); // not every layer of burn takes a tensor without rows
        }
        // Nobody asks for the gradient by x in training, where it would cost another product of the first layer.
        let device = M::device().autodiff();
        let pass = self.pass(theta, (inputs, rows, mode), &device, mode == Mode::Predict)?;
        let phi = numbers(pass.phi.clone());
        Ok((phi, Box::new(BurnBackward { encoder: self, theta, inputs, rows: rows.to_vec(), mode, pass })))
    }

    fn features(&self, theta: &[f32], inputs: &Inputs, rows: &[usize]) -> Result<Vec<f32>, Error> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let pass = self.pass(theta, (inputs, rows, Mode::Predict), &M::device(), false)?;
        Ok(numbers(pass.phi))
    }
}

struct BurnBackward<'a, M: BurnModule> {
    encoder: &'a BurnEncoder<M>,
    theta: &'a [f32],
    inputs: &'a Inputs,
    rows: Vec<usize>,
    mode: Mode,
    pass: Pass<M>,
}

impl<M: BurnModule> Backward for BurnBackward<'_, M> {
    fn pull_back(self: Box<Self>, d_phi: &[f32], d_theta: &mut [f32], d_x: Option<&mut [f32]>) {
        let Self { encoder, theta, inputs, rows, mode, mut pass } = *self;
        let device = M::device().autodiff();
        if d_x.is_some() && pass.x.as_ref().is_some_and(|x| !x.is_require_grad()) {
            let again = encoder.pass(theta, (inputs, &rows, mode), &device, true);
            pass = again.expect("the same pass succeeded before");
        }
        let Pass { module, phi, x } = pass;
        if !phi.is_tracked() {
            // Features that depend on nothing.
            d_theta.fill(0.0);
            d_x.into_iter().for_each(|d_x| d_x.fill(0.0));
            return;
        }
        let d_phi = Tensor::<2>::from_data(TensorData::new(d_phi.to_vec(), phi.dims()), &device);
        let mut gradients = (phi * d_phi).sum().backward(); // of ⟨Φ, ∂Φ⟩
        if !d_theta.is_empty() {
            parameters::take_gradients(&module, &mut gradients, d_theta);
        }
        if let (Some(d_x), Some(x)) = (d_x, x) {
            match x.grad_remove(&mut gradients) {
                Some(gradient) => d_x.copy_from_slice(&numbers(gradient)),
                None => d_x.fill(0.0),
            }
        }
    }
}

/// The gradient of no features.
struct NoRows;

impl Backward for NoRows {
    fn pull_back(self: Box<Self>, _d_phi: &[f32], d_theta: &mut [f32], _d_x: Option<&mut [f32]>) {
        d_theta.fill(0.0);
    }
}
