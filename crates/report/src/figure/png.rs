//! Figures as PNG, with fonts that are part of the program: the same pixels on every machine.

use super::Figure;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use std::sync::{Arc, OnceLock};

/// Longest side, in pixels.
const MAX_SIDE: f32 = 8_192.0;
/// Pixels per SVG unit, at most.
const MAX_SCALE: f32 = 10.0;

/// Why a figure could not be rendered as PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The scale is out of range.
    #[error("figure `{figure}` cannot be rendered at scale {scale}; use a number from 0.1 to 10")]
    Scale {
        /// Requested pixels per SVG unit.
        scale: f32,
        /// Name of the figure.
        figure: String,
    },
    /// The SVG cannot be parsed.
    #[error("figure `{figure}` is not valid SVG: {reason}")]
    Svg {
        /// From the parser.
        reason: String,
        /// Name of the figure.
        figure: String,
    },
    /// The pixels cannot be encoded.
    #[error("figure `{figure}` cannot be encoded as PNG: {reason}")]
    Encode {
        /// From the encoder.
        reason: String,
        /// Name of the figure.
        figure: String,
    },
}

impl Figure {
    /// The figure as PNG with `scale` pixels per SVG unit; less where a side would exceed 8,192 pixels.
    ///
    /// Text is set in DejaVu Sans. Needs the feature `png`.
    ///
    /// ```
    /// use inducing_report::Figure;
    /// let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'/>".into();
    /// let figure = Figure { name: "empty".into(), title: "Empty".into(), svg };
    /// assert!(figure.png(2.0)?.starts_with(b"\x89PNG"));
    /// # Ok::<(), inducing_report::PngError>(())
    /// ```
    ///
    /// # Errors
    /// When `scale` is not in (0, 10], or leaves less than a pixel.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, PngError> {
        let figure = || self.name.clone();
        let options =
            usvg::Options { font_family: "DejaVu Sans".into(), fontdb: fonts(), ..Default::default() };
        let tree = usvg::Tree::from_str(&self.svg, &options)
            .map_err(|error| PngError::Svg { reason: error.to_string(), figure: figure() })?;
        if !(0.0..=MAX_SCALE).contains(&scale) {
            return Err(PngError::Scale { scale, figure: figure() });
        }
        let fitted = scale.min(MAX_SIDE / tree.size().width().max(tree.size().height()));
        let (width, height) = (tree.size().width() * fitted, tree.size().height() * fitted);
        let fits = |side: f32| (1.0..=MAX_SIDE).contains(&side);
        let pixmap =
            if fits(width) && fits(height) { Pixmap::new(width as u32, height as u32) } else { None };
        let mut pixmap = pixmap.ok_or_else(|| PngError::Scale { scale, figure: figure() })?;
        resvg::render(&tree, Transform::from_scale(fitted, fitted), &mut pixmap.as_mut());
        pixmap.encode_png().map_err(|error| PngError::Encode { reason: error.to_string(), figure: figure() })
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
