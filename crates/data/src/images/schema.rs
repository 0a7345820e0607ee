//! [`ImageSchema`]: the shape, scale and classes of a model's images. Fitted on training images, stored in
//! the model file as JSON.

use serde::{Deserialize, Serialize};

use super::ImageSet;
use super::decode::Shape;
use super::options::{ImageOptions, ImageSize};
use super::resize::reshaped;
use crate::error::{DataError, Notice, Problem};
use crate::schema::classes::{MOST_CLASSES, relabel};
use crate::schema::fault::class_fault;
use crate::table::options::ColumnType;

/// What a model expects of images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSchema {
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// 1 for grey, 3 for colour.
    pub channels: usize,
    /// Mean of pixels / 255 over the training images, for each channel.
    pub mean: Vec<f32>,
    /// Standard deviation of pixels / 255, for each channel; 1 where nothing varies.
    pub std: Vec<f32>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Training images of each class.
    pub counts: Vec<usize>,
}

impl ImageSchema {
    /// Fits the schema on `rows` of `set`; the classes are those that occur there.
    ///
    /// # Errors
    /// If there are fewer than 2 images, no labels, one class only, or too many of them.
    ///
    /// # Panics
    /// If a row is beyond the set.
    pub fn fit(set: &ImageSet, rows: &[usize]) -> Result<(ImageSchema, Vec<Notice>), DataError> {
        let failed = |problem| Err(DataError::new(&set.origin, problem));
        let Some(labels) = &set.labels else {
            return failed(Problem::Image(super::ImageProblem::NoClasses));
        };
        if rows.len() < 2 {
            return failed(Problem::TooFewRows { rows: rows.len() });
        }
        let everywhere = set.counts();
        let mut counts = vec![0; set.classes.len()];
        rows.iter().for_each(|row| counts[labels[*row] as usize] += 1);
        let present: Vec<usize> = (0..counts.len()).filter(|class| counts[*class] > 0).collect();
        if let [only] = present[..] {
            let label = set.classes[only].clone();
            return failed(Problem::OneClass { label, rows: rows.len() });
        }
        let (classes, images) = (everywhere.iter().filter(|count| **count > 0).count(), set.len());
        if classes > MOST_CLASSES || classes == images {
            return failed(Problem::TooManyClasses { classes, rows: images, kind: ColumnType::Category });
        }
        let name = |class: &usize| set.classes[*class].clone();
        let single: Vec<String> = present.iter().filter(|class| everywhere[**class] == 1).map(name).collect();
        let mut notices = Vec::new();
        if !single.is_empty() {
            notices.push(Notice::SingleExamples { column: None, classes: single });
        }
        let (mean, std) = mean_and_std(set, rows);
        let schema = ImageSchema {
            height: set.height,
            width: set.width,
            channels: set.channels,
            mean,
            std,
            classes: present.iter().map(name).collect(),
            counts: present.iter().map(|class| counts[*class]).collect(),
        };
        Ok((schema, notices))
    }

    /// The set in the model's shape and with labels by the model's classes. Without labels only the shape
    /// counts.
    ///
    /// # Errors
    /// If a label is none of the model's classes.
    pub fn conform(&self, set: ImageSet) -> Result<ImageSet, DataError> {
        let shape = Shape { height: self.height, width: self.width, channels: self.channels };
        let mut set = reshaped(set, shape)?;
        if let Some(labels) = &mut set.labels {
            relabel(labels, &set.classes, &self.classes).map_err(|(row, problem)| {
                let mut error = DataError::new(set.names.get(row).unwrap_or(&set.origin), problem);
                error.row = set.names.is_empty().then_some(row as u64 + 1);
                error
            })?;
            set.classes.clone_from(&self.classes);
        }
        Ok(set)
    }

    /// How to read images for this model: in its size and colours, with or without classes.
    #[must_use]
    pub fn options(&self) -> ImageOptions {
        ImageOptions {
            size: Some(ImageSize { height: self.height, width: self.width }),
            channels: Some(self.channels),
            need_labels: false,
            ..ImageOptions::default()
        }
    }

    /// The standardised value (byte / 255 − mean) / std of every byte, for each channel: a batch is made by
    /// looking its bytes up.
    #[must_use]
    pub fn standardised(&self) -> Vec<[f32; 256]> {
        let channels = self.mean.iter().zip(&self.std);
        channels.map(|(mean, std)| std::array::from_fn(|byte| (byte as f32 / 255.0 - mean) / std)).collect()
    }

    /// What is wrong with a schema from a file, if anything is.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let ImageSchema { height, width, channels, mean, std, .. } = self;
        if !ImageSize::new(*height, *width).is_sensible() {
            return Some(format!("the images are {height} × {width} pixels"));
        }
        if !matches!(channels, 1 | 3) || mean.len() != *channels || std.len() != *channels {
            return Some(format!(
                "there are {channels} channels with {} means and {} deviations",
                mean.len(),
                std.len()
            ));
        }
        let sound = |(mean, std): (&f32, &f32)| (0.0..=1.0).contains(mean) && *std > 1e-8 && *std <= 1.0;
        if !mean.iter().zip(std).all(sound) {
            return Some(format!("the channels have the means {mean:?} and the deviations {std:?}"));
        }
        class_fault(&self.classes, &self.counts)
    }

    /// Values of one image, H · W · C.
    #[must_use]
    pub fn image_bytes(&self) -> usize {
        self.height * self.width * self.channels
    }
}

/// Mean and standard deviation of pixels / 255, for each channel; exact sums of integers.
fn mean_and_std(set: &ImageSet, rows: &[usize]) -> (Vec<f32>, Vec<f32>) {
    let channels = set.channels;
    let mut histogram = vec![[0u64; 256]; channels];
    for row in rows {
        for pixel in set.image(*row).chunks_exact(channels) {
            for (counts, value) in histogram.iter_mut().zip(pixel) {
                counts[usize::from(*value)] += 1;
            }
        }
    }
    let moments = histogram.iter().map(|counts| {
        let moment = |power: u32| -> f64 {
            let values = counts.iter().zip(0u64..).map(|(count, value)| count * value.pow(power));
            values.sum::<u64>() as f64
        };
        let count = moment(0);
        let mean = moment(1) / count / 255.0;
        let variance = moment(2) / count / (255.0 * 255.0) - mean * mean;
        // Rounding leaves some 1e-16 where nothing varies; one grey level in a million pixels gives 1e-11.
        let std = if variance > 1e-14 { variance.sqrt() } else { 1.0 };
        (mean as f32, std as f32)
    });
    moments.unzip()
}
