//! What a run learns: numbers, or classes as latent functions see them.

/// Targets of all rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Targets<'a> {
    /// Standardised numbers, row-major `[N, C]`.
    Numbers {
        /// The numbers.
        y: &'a [f32],
        /// C
        outputs: usize,
        /// Weight of each row; empty for 1.
        row_weights: &'a [f64],
    },
    /// The class of each row.
    Classes {
        /// From 0 `[N]`.
        labels: &'a [u32],
        /// How many there are, at least 2.
        classes: usize,
        /// Weight of each class; empty for 1.
        weights: &'a [f64],
        /// Weight of each row; empty for 1.
        row_weights: &'a [f64],
    },
}

impl Targets<'_> {
    /// Latent functions: one for two classes, else one for each.
    pub(crate) fn outputs(&self) -> usize {
        match *self {
            Self::Numbers { outputs, .. } => outputs,
            Self::Classes { classes, .. } => outputs_of(classes),
        }
    }

    /// Whether these are classes.
    pub(crate) fn are_classes(&self) -> bool {
        matches!(self, Self::Classes { .. })
    }

    /// Targets of some rows `[N, C]`: numbers, or +1 for a row's own class and −1 for the others.
    pub(crate) fn batch(&self, rows: &[usize]) -> Vec<f32> {
        match *self {
            Self::Numbers { y, outputs, .. } => {
                rows.iter().flat_map(|&row| &y[row * outputs..(row + 1) * outputs]).copied().collect()
            }
            Self::Classes { labels, classes, .. } => {
                let sign = |own: bool| if own { 1.0 } else { -1.0 };
                let of_row = |&row: &usize| {
                    let label = labels[row] as usize;
                    (0..outputs_of(classes)).map(move |output| match classes {
                        2 => sign(label == 1),
                        _ => sign(label == output),
                    })
                };
                rows.iter().flat_map(of_row).collect()
            }
        }
    }

    /// Weights of some rows, whatever their classes; empty where all are 1.
    pub(crate) fn row_weights(&self, rows: &[usize]) -> Vec<f64> {
        match *self {
            Self::Numbers { row_weights, .. } | Self::Classes { row_weights, .. }
                if !row_weights.is_empty() =>
            {
                rows.iter().map(|&row| row_weights[row]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Weights of some rows; empty where all are 1.
    pub(crate) fn weights(&self, rows: &[usize]) -> Vec<f64> {
        let (by_row, by_class, labels) = match *self {
            Self::Numbers { row_weights, .. } => (row_weights, &[][..], &[][..]),
            Self::Classes { labels, weights, row_weights, .. } => (row_weights, weights, labels),
        };
        if by_row.is_empty() && by_class.is_empty() {
            return Vec::new();
        }
        let of_class = |row: usize| if by_class.is_empty() { 1.0 } else { by_class[labels[row] as usize] };
        rows.iter().map(|&row| by_row.get(row).copied().unwrap_or(1.0) * of_class(row)).collect()
    }
}

/// Latent functions for a number of classes.
pub(crate) fn outputs_of(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}
