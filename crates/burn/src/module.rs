//! What a burn module must say of itself to be an encoder, and what it is given to read.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use inducing::Error;
use inducing::dataset::{Inputs, Matrix};
use inducing::nn::Mode;
use serde::{Serialize, de::DeserializeOwned};
use std::any::Any;
use std::cell::OnceCell;
use std::fmt::Debug;

/// A burn module that maps inputs to features `Φ [N, D]`; the crate's example has one.
///
/// All of its float parameters are one vector θ. Those that burn calls frozen (`no_grad`) are part of it and stay as
/// they are.
pub trait BurnModule: Module + Sync + 'static {
    /// All that fixes the sizes of the parameters; it goes into the model file.
    type Shape: Serialize + DeserializeOwned + Clone + Debug + Send + Sync + 'static;

    /// The module of a shape on `device`, its parameters decided by `seed`; a message where the shape makes no sense.
    ///
    /// `device` was seeded with `seed` before: burn's own initialisers need nothing more. A shape may come from a file that
    /// somebody else made; refuse sizes that you would not want to allocate.
    fn new(shape: &Self::Shape, seed: u64, device: &Device) -> Result<Self, String>;

    /// D
    fn dim(&self) -> usize;

    /// How many parallel networks the features come from, each with `D / members` of them.
    fn members(&self) -> usize {
        1
    }

    /// Features `[N, D]` of the rows of a batch, on its device. The features of a row must not depend on the rows beside
    /// it: no batch norm. Layers of burn that draw random numbers follow the seed of the step; who draws some in another
    /// way makes them from that of [`Batch::mode`].
    fn features(&self, batch: &Batch<'_>) -> Result<Tensor<2>, Error>;

    /// Whether weight decay applies to the parameter of this path (`layers.0.weight`).
    fn decays(path: &str) -> bool {
        path.ends_with("weight")
    }

    /// What the module is called in model files; the name of its type, unless that has changed since.
    fn name() -> String {
        let path = std::any::type_name::<Self>();
        let plain = path.split('<').next().unwrap_or(path);
        plain.rsplit("::").next().unwrap_or(plain).to_owned()
    }

    /// Where it computes; burn's default, which is the backend that was compiled in.
    fn device() -> Device {
        Device::default()
    }
}

/// Some rows of the inputs.
#[derive(Debug)]
pub struct Batch<'a> {
    inputs: &'a Inputs,
    rows: &'a [usize],
    mode: Mode,
    device: &'a Device,
    x: OnceCell<Tensor<2>>,
    tracks_x: bool,
}

impl<'a> Batch<'a> {
    /// Some rows, each of which must exist; with `tracks_x` what [`numbers`](Self::numbers) gives has a gradient.
    pub(crate) fn new(
        inputs: &'a Inputs,
        rows: &'a [usize],
        mode: Mode,
        device: &'a Device,
        tracks_x: bool,
    ) -> Result<Self, Error> {
        match rows.iter().find(|&&row| row >= inputs.rows()) {
            Some(row) => Err(Error::inputs(format!("row {row}"), format!("{} rows", inputs.rows()))),
            None => Ok(Self { inputs, rows, mode, device, x: OnceCell::new(), tracks_x }),
        }
    }

    /// The rows, each below [`Inputs::rows`].
    pub fn rows(&self) -> &'a [usize] {
        self.rows
    }

    /// Whether it is part of training; burn's dropout and its like know it already.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Where the parameters are, and where the features belong.
    pub fn device(&self) -> &'a Device {
        self.device
    }

    /// All inputs, of which these rows are some.
    pub fn inputs(&self) -> &'a Inputs {
        self.inputs
    }

    /// All inputs, where they are of a type of your own; an error where they are of another one.
    pub fn custom<T: Any>(&self) -> Result<&'a T, Error> {
        self.inputs.as_custom()
    }

    /// The rows as numbers `[N, width]`, of an image in the order `[H, W, C]`; an error where they are something else. Inputs
    /// of your own are rows of numbers if they are a [`Matrix`]. The features' gradient by these numbers is known, too.
    pub fn numbers(&self, width: usize) -> Result<Tensor<2>, Error> {
        if let Some(x) = self.x.get().filter(|x| x.dims()[1] == width) {
            return Ok(x.clone());
        }
        let x = match self.inputs.as_custom::<Matrix>() {
            Ok(own) => gather(own, width, self.rows)?,
            Err(_) => self.inputs.numbers(width, self.rows, self.mode)?,
        };
        let x = Tensor::from_data(TensorData::new(x, [self.rows.len(), width]), self.device);
        let x = if self.tracks_x { x.require_grad() } else { x };
        Ok(self.x.get_or_init(|| x).clone())
    }

    /// What [`numbers`](Self::numbers) gave, if it was called.
    pub(crate) fn into_numbers(self) -> Option<Tensor<2>> {
        self.x.into_inner()
    }
}

/// Some rows of a matrix; an error where it is not as wide, or not as long.
fn gather(own: &Matrix, width: usize, rows: &[usize]) -> Result<Vec<f32>, Error> {
    if own.width != width {
        return Err(Error::inputs(format!("rows of {width} numbers"), format!("rows of {}", own.width)));
    }
    let mut x = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        let values = own.x.chunks_exact(width.max(1)).nth(row);
        x.extend(values.ok_or_else(|| Error::inputs(format!("row {row}"), format!("{} rows", own.rows())))?);
    }
    Ok(x)
}
