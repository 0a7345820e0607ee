//! Inputs in memory, as encoders read them: a table's numbers and words, images that stay bytes until they are
//! needed, graphs, or what a custom encoder reads.

use crate::error::Error;
use crate::nn::Mode;
use crate::nn::graph::Graphs;
use data::{DataError, GraphSchema, GraphSet, ImageSchema, ImageSet, Texts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A set of inputs of one kind.
#[derive(Debug, Clone)]
pub enum Inputs {
    /// Rows of a table.
    Table(Matrix),
    /// Images of one size.
    Images(Images),
    /// Graphs of any size.
    Graphs(Graphs),
    /// Inputs of a custom encoder.
    Custom(Custom),
}

/// Inputs of any type.
#[derive(Debug, Clone)]
pub struct Custom {
    rows: usize,
    inputs: Arc<dyn Any + Send + Sync>,
}

/// Rows of a table as the network sees them: row-major `[N, width]`.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    /// Values.
    pub x: Vec<f32>,
    /// Columns.
    pub width: usize,
    /// Words of the text columns.
    pub texts: Vec<Texts>,
    /// Of a row, the columns whose cell is empty or of an unknown category, which no training row's was: what stands in `x`
    /// for it is made up. Sorted.
    pub absent: BTreeMap<usize, Vec<usize>>,
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.texts.first().map_or_else(|| self.x.len() / self.width.max(1), Texts::len)
    }
}

impl From<data::Encoded> for Inputs {
    fn from(encoded: data::Encoded) -> Self {
        let data::Encoded { x, width, texts, absent, .. } = encoded;
        Self::Table(Matrix { x, width, texts, absent })
    }
}

/// Images `[N, H, W, C]` in the shape that a schema asks for.
#[derive(Debug, Clone)]
pub struct Images {
    set: Arc<ImageSet>,
    standardised: Vec<[f32; 256]>, // [C], value of each byte
    augment: bool,
}

/// The images as a schema asks for them: the same where they are so already.
pub(crate) fn conform_images(schema: &ImageSchema, set: &Arc<ImageSet>) -> Result<Arc<ImageSet>, DataError> {
    let alike = [set.height, set.width, set.channels] == [schema.height, schema.width, schema.channels]
        && (set.labels.is_none() || set.classes == schema.classes);
    if alike { Ok(Arc::clone(set)) } else { Ok(Arc::new(schema.conform(set.as_ref().clone())?)) }
}

impl Images {
    /// Images that conform to `schema`; with `augment` each is shifted at random while training, and mirrored
    /// if it has colours.
    pub fn new(set: Arc<ImageSet>, schema: &ImageSchema, augment: bool) -> Self {
        Self { set, standardised: schema.standardised(), augment }
    }

    /// The images.
    pub fn set(&self) -> &ImageSet {
        &self.set
    }

    /// Appends one standardised image, its content moved up and left by `shift`, and mirrored if `flip`; what
    /// comes in at the border is the mean.
    fn append(&self, row: usize, shift: [isize; 2], flip: bool, out: &mut Vec<f32>) {
        let (height, width, channels) = (self.set.height, self.set.width, self.set.channels);
        let pixels = self.set.image(row);
        if shift == [0, 0] && !flip {
            return self.standardise(pixels, out);
        }
        let inside = (-shift[1]).max(0) as usize..(width as isize - shift[1]).min(width as isize) as usize;
        for y in 0..height as isize {
            let line = out.len();
            let from = y + shift[0];
            if (0..height as isize).contains(&from) {
                out.resize(line + inside.start * channels, 0.0);
                let first = (from as usize * width + (inside.start as isize + shift[1]) as usize) * channels;
                self.standardise(&pixels[first..first + inside.len() * channels], out);
            }
            out.resize(line + width * channels, 0.0);
            if flip {
                let line = &mut out[line..];
                for x in 0..width / 2 {
                    for channel in 0..channels {
                        line.swap(x * channels + channel, (width - 1 - x) * channels + channel);
                    }
                }
            }
        }
    }

    fn standardise(&self, bytes: &[u8], out: &mut Vec<f32>) {
        match &self.standardised[..] {
            [grey] => out.extend(bytes.iter().map(|&byte| grey[usize::from(byte)])),
            [red, green, blue] => {
                // Three at a time: by a loop over the channels a batch of CIFAR-10 took 0.26 instead of 0.14 ms.
                let start = out.len();
                out.resize(start + bytes.len(), 0.0);
                let pixels = out[start..].as_chunks_mut::<3>().0;
                for (out, &[r, g, b]) in pixels.iter_mut().zip(bytes.as_chunks::<3>().0) {
                    *out = [red[usize::from(r)], green[usize::from(g)], blue[usize::from(b)]];
                }
            }
            colours => {
                for pixel in bytes.chunks_exact(colours.len()) {
                    out.extend(pixel.iter().zip(colours).map(|(&byte, values)| values[usize::from(byte)]));
                }
            }
        }
    }
}

impl Inputs {
    /// Graphs that conform to `schema`.
    pub fn graphs(set: GraphSet, schema: &GraphSchema) -> Result<Self, DataError> {
        let x = schema.encode(&set)?.x;
        let GraphSet { nodes, neighbours, edges, .. } = set;
        Ok(Self::Graphs(Graphs { x, width: schema.width(), nodes, neighbours, edges }))
    }

    /// `rows` inputs of a type that a custom encoder reads.
    pub fn custom<T: Any + Send + Sync>(inputs: T, rows: usize) -> Self {
        Self::Custom(Custom { rows, inputs: Arc::new(inputs) })
    }

    /// The inputs of a custom encoder; an error where they are of another type.
    pub fn as_custom<T: Any>(&self) -> Result<&T, Error> {
        let custom = match self {
            Self::Custom(custom) => custom.inputs.downcast_ref(),
            _ => None,
        };
        custom.ok_or_else(|| Error::inputs(std::any::type_name::<T>(), self.describe()))
    }

    /// The graphs; an error where the inputs are none.
    pub fn as_graphs(&self) -> Result<&Graphs, Error> {
        match self {
            Self::Graphs(graphs) => Ok(graphs),
            _ => Err(Error::inputs("graphs", self.describe())),
        }
    }

    /// The rows of a table; an error where the inputs are none.
    pub fn as_table(&self) -> Result<&Matrix, Error> {
        match self {
            Self::Table(matrix) => Ok(matrix),
            _ => Err(Error::inputs("rows of a table", self.describe())),
        }
    }

    /// What they are, for error messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Table(matrix) => format!("table rows of {} numbers", matrix.width),
            Self::Images(images) => {
                let ImageSet { height, width, channels, .. } = *images.set;
                format!("images of {height}×{width}×{channels} numbers")
            }
            Self::Graphs(graphs) => format!("graphs whose nodes have {} numbers", graphs.width),
            Self::Custom(_) => "of a type that another encoder reads".into(),
        }
    }

    /// N
    pub fn rows(&self) -> usize {
        match self {
            Self::Table(matrix) => matrix.rows(),
            Self::Images(images) => images.set.len(),
            Self::Graphs(graphs) => graphs.len(),
            Self::Custom(custom) => custom.rows,
        }
    }

    /// Numbers of one input; of one node of graphs.
    pub fn width(&self) -> usize {
        match self {
            Self::Table(matrix) => matrix.width,
            Self::Images(images) => images.set.image_bytes(),
            Self::Graphs(graphs) => graphs.width,
            Self::Custom(_) => 0,
        }
    }

    /// Numbers of some rows, row-major `[N, width]`, of an image in the order `[H, W, C]`; an error where an input is not a
    /// row of that many numbers, or a row does not exist.
    pub fn numbers(&self, width: usize, rows: &[usize], mode: Mode) -> Result<Vec<f32>, Error> {
        if self.width() != width || matches!(self, Self::Graphs(_) | Self::Custom(_)) {
            return Err(Error::inputs(format!("rows of {width} numbers"), self.describe()));
        }
        self.check_rows(rows)?;
        Ok(self.gather(rows, mode))
    }

    /// An error where one of the rows does not exist.
    pub(crate) fn check_rows(&self, rows: &[usize]) -> Result<(), Error> {
        match rows.iter().find(|&&row| row >= self.rows()) {
            Some(row) => Err(Error::inputs(format!("row {row}"), format!("{} rows", self.rows()))),
            None => Ok(()),
        }
    }

    /// Numbers of some rows, row-major `[N, width]`; none of graphs and custom inputs.
    fn gather(&self, rows: &[usize], mode: Mode) -> Vec<f32> {
        let mut out = Vec::with_capacity(rows.len() * self.width());
        match self {
            Self::Table(matrix) => {
                let width = matrix.width;
                rows.iter().for_each(|row| out.extend_from_slice(&matrix.x[row * width..(row + 1) * width]));
            }
            Self::Images(images) => match mode {
                Mode::Train { seed } if images.augment => {
                    let mut rng = ChaCha8Rng::seed_from_u64(seed);
                    let reach = (images.set.height.min(images.set.width) / 8) as i64;
                    // Only what is photographed looks the same in a mirror; a digit does not.
                    let mirrors = images.set.channels == 3;
                    for &row in rows {
                        let shift = [(); 2].map(|()| rng.random_range(-reach..=reach) as isize);
                        images.append(row, shift, mirrors && rng.random::<bool>(), &mut out);
                    }
                }
                _ => rows.iter().for_each(|&row| images.append(row, [0, 0], false, &mut out)),
            },
            Self::Graphs(_) | Self::Custom(_) => {}
        }
        out
    }

    /// CRC-32 of everything, to tell one set from another.
    pub(crate) fn checksum(&self, hasher: &mut crc32fast::Hasher) {
        match self {
            Self::Table(matrix) => {
                hasher.update(bytemuck::cast_slice(&matrix.x));
                for texts in &matrix.texts {
                    hasher.update(bytemuck::cast_slice(&texts.tokens));
                    hasher.update(bytemuck::cast_slice(&texts.offsets));
                }
            }
            Self::Graphs(graphs) => {
                hasher.update(bytemuck::cast_slice(&graphs.x));
                hasher.update(bytemuck::cast_slice(&graphs.nodes));
                hasher.update(bytemuck::cast_slice(&graphs.neighbours));
                hasher.update(bytemuck::cast_slice(&graphs.edges));
            }
            Self::Images(images) => hasher.update(&images.set.pixels),
            Self::Custom(_) => {} // only its own program could read them
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One image of 2 × 3 pixels in `channels` colours whose bytes count up, standardised to the bytes themselves.
    fn counting(channels: usize, augment: bool) -> Images {
        let set = ImageSet {
            pixels: (1..=6 * channels as u8).collect(),
            height: 2,
            width: 3,
            channels,
            labels: None,
            classes: Vec::new(),
            names: Vec::new(),
            origin: String::new(),
        };
        let bytes = std::array::from_fn(|byte| byte as f32);
        Images { set: Arc::new(set), standardised: vec![bytes; channels], augment }
    }

    fn moved(channels: usize, shift: [isize; 2], flip: bool) -> Vec<f32> {
        let mut out = Vec::new();
        counting(channels, false).append(0, shift, flip, &mut out);
        out
    }

    #[test]
    fn an_image_is_shifted_with_the_mean_coming_in_and_mirrored_pixel_by_pixel() {
        assert_eq!(moved(1, [0, 0], false), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(moved(1, [1, 0], false), [4.0, 5.0, 6.0, 0.0, 0.0, 0.0]);
        assert_eq!(moved(1, [0, -1], false), [0.0, 1.0, 2.0, 0.0, 4.0, 5.0]);
        assert_eq!(moved(1, [-1, 2], false), [0.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
        assert_eq!(moved(1, [0, 0], true), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
        assert_eq!(moved(2, [0, 1], true)[..6], [0.0, 0.0, 5.0, 6.0, 3.0, 4.0]);
    }

    #[test]
    fn only_training_augments_and_its_seed_decides_how() {
        let inputs = Inputs::Images(counting(3, true));
        let plain = Inputs::Images(counting(3, false));
        let at = |seed| inputs.gather(&[0; 8], Mode::Train { seed });
        assert_eq!(inputs.gather(&[0; 8], Mode::Predict), plain.gather(&[0; 8], Mode::Train { seed: 1 }));
        assert!(at(1) == at(1) && at(1) != at(2));
    }
}
