//! Figures: one SVG each, the same in the page, in a file and as PNG.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod curve;
pub(crate) mod dependence;
pub(crate) mod frame;
pub(crate) mod gallery;
pub(crate) mod legend;
pub(crate) mod matrix;
pub(crate) mod panels;
#[cfg(feature = "png")]
mod png;
pub(crate) mod scatter;

#[cfg(feature = "png")]
pub use png::PngError;

/// A figure of the page on its own.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Unique within a page, and safe as a file name: letters, digits and hyphens.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The whole drawing on a white background.
    pub svg: String,
}

/// A figure with its caption and behaviour in the page.
#[derive(Debug, Clone)]
pub(crate) struct PageFigure {
    pub(crate) figure: Figure,
    /// As HTML.
    pub(crate) caption: String,
    /// What its marks stand for, if they show an example on hover.
    pub(crate) marks: Option<Marks>,
    /// Where it stands.
    pub(crate) placement: Placement,
}

/// Where a figure stands in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// A third of a row.
    Third,
    /// Half a row.
    Half,
    /// A row, with its caption beside it.
    Side,
    /// A row.
    Full,
}

/// What the marks of a scatter plot stand for.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    pub(crate) model: usize,
    pub(crate) target: usize,
    /// In drawing order: index of a point, or `−1 − m` for the m-th inducing point.
    pub(crate) order: Vec<i64>,
}

impl PageFigure {
    pub(crate) fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        svg: String,
        caption: String,
    ) -> Self {
        let figure = Figure { name: name.into(), title: title.into(), svg };
        Self { figure, caption, marks: None, placement: Placement::Half }
    }

    pub(crate) fn with_placement(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }
}
