//! Sets that come in a training and a test part.

use super::ImageSet;
use super::options::{DatasetPart, ImageSize};
use super::problem::ImageProblem;
use crate::error::{DataError, Problem};

/// The two parts of a set, as far as they are there, and what each would be called.
pub(crate) struct Parts<T> {
    pub(crate) train: Option<T>,
    pub(crate) test: Option<T>,
    pub(crate) called: [&'static str; 2],
}

impl<T> Parts<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.train.is_none() && self.test.is_none()
    }

    /// What makes up the part that is asked for; `place` is where it was looked for.
    pub(crate) fn choose(self, part: DatasetPart, place: &str) -> Result<Vec<T>, DataError> {
        let [train_name, test_name] = self.called;
        let missing = |part, name: &str| {
            let problem = ImageProblem::NoSuchPart { part, looked: name.to_owned() };
            DataError::new(place, Problem::Image(problem))
        };
        let train = || self.train.ok_or_else(|| missing(DatasetPart::Train, train_name));
        let test = || self.test.ok_or_else(|| missing(DatasetPart::Test, test_name));
        Ok(match part {
            DatasetPart::Train => vec![train()?],
            DatasetPart::Test => vec![test()?],
            DatasetPart::All => vec![train()?, test()?],
        })
    }
}

/// One set of several with the same kind of images; labels go by the names of their classes.
pub(crate) fn joined(sets: Vec<ImageSet>) -> Result<ImageSet, DataError> {
    let mut sets = sets.into_iter();
    let mut all = sets.next().expect("a part is never empty");
    for set in sets {
        if (set.height, set.width, set.channels) != (all.height, all.width, all.channels) {
            let size = |set: &ImageSet| ImageSize { height: set.height, width: set.width }.to_string();
            let problem = ImageProblem::SizesDiffer { expected: size(&all), got: size(&set) };
            return Err(DataError::new(&set.origin, Problem::Image(problem)));
        }
        all.labels = match (all.labels.take(), set.labels) {
            (Some(mut labels), Some(more)) => {
                let mut place = Vec::with_capacity(set.classes.len());
                for class in set.classes {
                    let found = all.classes.iter().position(|known| *known == class);
                    place.push(found.unwrap_or(all.classes.len()) as u32);
                    if found.is_none() {
                        all.classes.push(class);
                    }
                }
                labels.extend(more.into_iter().map(|label| place[label as usize]));
                Some(labels)
            }
            _ => None,
        };
        all.pixels.extend_from_slice(&set.pixels);
        all.names.extend(set.names);
    }
    Ok(all)
}
