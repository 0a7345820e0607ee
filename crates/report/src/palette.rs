//! Colours. The attributes of an SVG hold those of the light page; the page's style sheet overrides them by class and
//! adds a dark theme.
//!
//! Classes: Paul Tol's muted scheme, which is safe for colour blindness. Values: ColorBrewer's BuPu, which is ordered
//! by lightness.

/// Fill or stroke: the class for the page, the colour without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Suffix of the classes `f-…` (fill) and `s-…` (stroke).
    pub(crate) class: &'static str,
    /// On white.
    pub(crate) hex: &'static str,
}

impl Paint {
    /// Attributes of a filled shape.
    pub(crate) fn fill(self) -> String {
        format!("class=\"f-{}\" fill=\"{}\"", self.class, self.hex)
    }

    /// Attributes of a line.
    pub(crate) fn stroke(self) -> String {
        format!("class=\"s-{}\" fill=\"none\" stroke=\"{}\"", self.class, self.hex)
    }
}

const fn paint(class: &'static str, hex: &'static str) -> Paint {
    Paint { class, hex }
}

/// Text.
pub(crate) const INK: Paint = paint("ink", "#1f2430");
/// Secondary text and lines.
pub(crate) const MUTED: Paint = paint("muted", "#5b6372");
/// Grid lines.
pub(crate) const GRID: Paint = paint("grid", "#e3e5ea");
/// Background.
pub(crate) const PAPER: Paint = paint("paper", "#ffffff");
/// The only series of a figure.
pub(crate) const ACCENT: Paint = paint("accent", "#3d5a9e");
/// Everything else.
pub(crate) const OTHERS: Paint = paint("others", "#9aa1ad");

/// One for each class or series.
pub(crate) const SERIES: [Paint; 9] = [
    paint("c0", "#332288"),
    paint("c1", "#cc6677"),
    paint("c2", "#117733"),
    paint("c3", "#ccb040"),
    paint("c4", "#6ab7e0"),
    paint("c5", "#882255"),
    paint("c6", "#44aa99"),
    paint("c7", "#8a8a2a"),
    paint("c8", "#aa4499"),
];

/// From small to large.
pub(crate) const SEQUENCE: [Paint; 7] = [
    paint("q0", "#b3cde3"),
    paint("q1", "#9ebcda"),
    paint("q2", "#8c96c6"),
    paint("q3", "#8c6bb1"),
    paint("q4", "#88419d"),
    paint("q5", "#810f7c"),
    paint("q6", "#4d004b"),
];

/// Dash patterns that tell series apart without colour.
pub(crate) const DASHES: [&str; 5] = ["", "7 4", "2 3", "9 3 2 3", "4 2"];

/// Colour of the k-th series.
pub(crate) fn series(k: usize) -> Paint {
    SERIES[k % SERIES.len()]
}

/// Index in the sequence of a value at this share of its range.
pub(crate) fn step(share: f64) -> usize {
    let last = SEQUENCE.len() - 1;
    if share.is_nan() { 0 } else { ((share * SEQUENCE.len() as f64).floor().max(0.0) as usize).min(last) }
}
