//! Where every parameter stands in θ.

use std::collections::HashMap;

/// Names, shapes and places of an encoder's parameters, in the order of θ.
///
/// ```
/// use inducing::nn::Layout;
/// let mut layout = Layout::default();
/// let weight = layout.add("weight", &[3, 2], true);
/// let bias = layout.add("bias", &[2], false);
/// let theta = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, -0.5];
/// assert_eq!(layout.len(), theta.len());
/// assert_eq!((weight.of(&theta)[5], bias.of(&theta)), (6.0, &[0.5, -0.5][..]));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    slots: Vec<Slot>,
    len: usize,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Its name in model files, after `encoder.`.
    pub name: String,
    /// Its shape; values are row-major.
    pub shape: Vec<usize>,
    /// Whether weight decay applies to it.
    pub decays: bool,
    /// Its place in θ.
    pub param: Param,
}

/// A stretch of θ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    start: usize,
    len: usize,
}

impl Layout {
    /// Appends a parameter. Sizes saturate: a layout of absurd sizes has an absurd length, and allocates nothing.
    pub fn add(&mut self, name: impl Into<String>, shape: &[usize], decays: bool) -> Param {
        let len = shape.iter().fold(1_usize, |product, &size| product.saturating_mul(size));
        let param = self.reserve(len);
        self.slots.push(Slot { name: name.into(), shape: shape.to_vec(), decays, param });
        param
    }

    /// Appends all parameters of another layout, with `prefix` and a dot before their names; one stretch holds them all.
    pub fn add_all(&mut self, prefix: &str, other: &Self) -> Param {
        let param = self.reserve(other.len);
        self.slots.extend(other.slots.iter().map(|slot| Slot {
            name: format!("{prefix}.{}", slot.name),
            param: Param { start: param.start.saturating_add(slot.param.start), len: slot.param.len },
            ..slot.clone()
        }));
        param
    }

    fn reserve(&mut self, len: usize) -> Param {
        let param = Param { start: self.len, len };
        self.len = self.len.saturating_add(len);
        param
    }

    /// The parameters, in the order of θ.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Length of θ.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A vector like θ, cut into its parameters, to be written side by side.
    pub(crate) fn pieces<'a>(&self, theta: &'a mut [f32]) -> Pieces<'a> {
        let mut rest = theta;
        let mut pieces = HashMap::with_capacity(self.slots.len());
        for slot in self.slots.iter().filter(|slot| !slot.param.is_empty()) {
            let (piece, others) = std::mem::take(&mut rest).split_at_mut(slot.param.len);
            rest = others;
            pieces.insert(slot.param.start, piece);
        }
        Pieces(pieces)
    }
}

/// What [`Layout::pieces`] gives.
pub(crate) struct Pieces<'a>(HashMap<usize, &'a mut [f32]>);

impl<'a> Pieces<'a> {
    /// The piece of a parameter, which can be taken once.
    pub(crate) fn take(&mut self, param: Param) -> &'a mut [f32] {
        if param.is_empty() {
            return &mut [];
        }
        self.0.remove(&param.start).expect("each parameter is taken once")
    }
}

impl Param {
    /// Its values.
    pub fn of<'a>(&self, theta: &'a [f32]) -> &'a [f32] {
        &theta[self.start..self.start + self.len]
    }

    /// Its values, to be written.
    pub fn of_mut<'a>(&self, theta: &'a mut [f32]) -> &'a mut [f32] {
        &mut theta[self.start..self.start + self.len]
    }

    /// How many numbers it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
