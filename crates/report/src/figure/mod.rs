//! Figures: one SVG each, the same in the page, in a file and as pixels.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod curve;
pub(crate) mod frame;
pub(crate) mod gallery;
pub(crate) mod legend;
pub(crate) mod matrix;
pub(crate) mod panels;
pub(crate) mod scatter;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use std::sync::{Arc, OnceLock};

/// Longest side of a picture, in pixels.
const LONGEST: f32 = 8_192.0;
/// Pixels of a unit of the drawing at the most.
const MOST_SCALE: f32 = 10.0;

/// A figure of the page on its own.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Safe as a file's name; no two figures of a report share one.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The whole drawing, with white paper beneath it.
    pub svg: String,
}

/// Why no pixels came out of a figure.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The scale makes no picture.
    #[error("a scale of {0} makes no picture of figure `{1}`; use a number from 0.1 to 10")]
    Scale(f32, String),
    /// The drawing is no SVG.
    #[error("figure `{1}` is no valid SVG: {0}")]
    Svg(usvg::Error, String),
    /// The pixels could not be written.
    #[error("figure `{1}` cannot be written as PNG: {0}")]
    Png(String, String),
}

impl Figure {
    /// The figure as PNG, `scale` pixels for each unit of the drawing, fewer where a side would have more than 8,192;
    /// letters are of the DejaVu fonts, which are part of the program.
    ///
    /// # Errors
    /// When `scale` is no number from 0 to 10, or gives less than a pixel.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, FigureError> {
        let options =
            usvg::Options { font_family: "DejaVu Sans".into(), fontdb: fonts(), ..Default::default() };
        let tree =
            usvg::Tree::from_str(&self.svg, &options).map_err(|e| FigureError::Svg(e, self.name.clone()))?;
        if !(0.0..=MOST_SCALE).contains(&scale) {
            return Err(FigureError::Scale(scale, self.name.clone()));
        }
        let scale = scale.min(LONGEST / tree.size().width().max(tree.size().height()));
        let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
        let fits = |side: f32| (1.0..=LONGEST).contains(&side);
        let pixmap =
            if fits(width) && fits(height) { Pixmap::new(width as u32, height as u32) } else { None };
        let mut pixmap = pixmap.ok_or_else(|| FigureError::Scale(scale, self.name.clone()))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
        pixmap.encode_png().map_err(|e| FigureError::Png(e.to_string(), self.name.clone()))
    }
}

fn fonts() -> Arc<usvg::fontdb::Database> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

/// A figure and what the page says and does with it.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    pub(crate) figure: Figure,
    /// Beneath it, as HTML.
    pub(crate) caption: String,
    /// What its marks are, in the order in which they are drawn, where the page should show them.
    pub(crate) marks: Option<Marks>,
    /// How much room it takes.
    pub(crate) room: Room,
}

/// How much room a figure takes in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Half a row.
    Half,
    /// A row, with its caption at its side.
    Side,
    /// A row.
    Full,
}

/// What the marks of a scatter stand for.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    pub(crate) model: usize,
    pub(crate) target: usize,
    /// A point's place, or `−1 − m` for the m-th inducing point.
    pub(crate) order: Vec<i64>,
}

impl Drawn {
    pub(crate) fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        svg: String,
        caption: String,
    ) -> Self {
        let figure = Figure { name: name.into(), title: title.into(), svg };
        Self { figure, caption, marks: None, room: Room::Half }
    }

    pub(crate) fn with_room(self, room: Room) -> Self {
        Self { room, ..self }
    }
}
