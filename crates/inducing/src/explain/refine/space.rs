//! Where inputs may go, and how a gradient becomes a direction there.
//!
//! ```text
//! u = (x − low)/(high − low) ∈ [0, 1]     direction = A ∂/∂u     images: A = M B M, else A = I
//! ```
//! B is a blur, M the contrast around each pixel of the start. Without them a network is met by faint noise all over
//! the image; with them edges move and flat parts hardly do. A is positive definite, hence this is a descent.

/// The least that a pixel moves, as a share of one beside an edge from black to white.
const LEAST: f32 = 0.1;

/// A box for each of some inputs, row-major `[N, width]`; a number whose `low` is its `high` stays.
pub(super) struct Space {
    pub(super) width: usize,
    pub(super) low: Vec<f32>,
    pub(super) high: Vec<f32>,
    pub(super) image: Option<ImageSpace>,
}

/// Inputs are images.
pub(super) struct ImageSpace {
    /// H, W, C
    pub(super) size: [usize; 3],
    /// The number that becomes of a byte, for each channel.
    pub(super) values: Vec<[f32; 256]>,
}

impl Space {
    /// How many numbers of a row may move.
    pub(super) fn free(&self, row: usize) -> usize {
        let range = row * self.width..(row + 1) * self.width;
        range.filter(|&i| self.high[i] > self.low[i]).count()
    }

    /// u of x.
    pub(super) fn unit(&self, x: &[f32]) -> Vec<f32> {
        let unit = |(x, (low, high)): (&f32, (&f32, &f32))| {
            if high > low { (x - low) / (high - low) } else { 0.0 }
        };
        x.iter().zip(self.low.iter().zip(&self.high)).map(unit).collect()
    }

    /// x of u.
    pub(super) fn at(&self, u: &[f32]) -> Vec<f32> {
        // At u = 1 rounding may lead beyond.
        let at = |(u, (low, high)): (&f32, (&f32, &f32))| (low + u * (high - low)).min(*high);
        u.iter().zip(self.low.iter().zip(&self.high)).map(at).collect()
    }

    /// From the gradient by x to the one by u.
    pub(super) fn pull_back(&self, d_x: &mut [f32]) {
        let range = self.low.iter().zip(&self.high);
        d_x.iter_mut().zip(range).for_each(|(d, (low, high))| *d *= high - low);
    }

    /// x of the valid input next to u: a image's numbers are those of bytes.
    pub(super) fn valid(&self, u: &[f32]) -> Vec<f32> {
        match &self.image {
            None => self.at(u),
            Some(ImageSpace { values, .. }) => {
                let value = |(i, u): (usize, &f32)| values[i % values.len()][usize::from(byte(*u))];
                u.iter().enumerate().map(value).collect()
            }
        }
    }

    /// Bytes of images.
    pub(super) fn bytes(&self, x: &[f32]) -> Vec<u8> {
        self.unit(x).into_iter().map(byte).collect()
    }

    /// M of all rows, by the u that they start from.
    pub(super) fn contrast(&self, u: &[f32]) -> Vec<f32> {
        let Some(ImageSpace { size: [height, width, channels], .. }) = self.image else {
            return vec![1.0; u.len()];
        };
        let mut contrast = Vec::with_capacity(u.len());
        for pixels in u.chunks_exact(self.width) {
            for i in 0..self.width {
                let (y, x, channel) = (i / channels / width, i / channels % width, i % channels);
                let (mut darkest, mut brightest) = (1.0_f32, 0.0_f32);
                for y in y.saturating_sub(1)..(y + 2).min(height) {
                    for x in x.saturating_sub(1)..(x + 2).min(width) {
                        let u = pixels[(y * width + x) * channels + channel];
                        (darkest, brightest) = (darkest.min(u), brightest.max(u));
                    }
                }
                contrast.push(LEAST + (1.0 - LEAST) * (brightest - darkest));
            }
        }
        contrast
    }

    /// Turns the gradient of one row into the direction of its ascent, zero where the descent would leave the box.
    pub(super) fn direct(&self, u: &[f32], contrast: &[f32], slope: &mut [f32]) {
        let leaves = |u: f32, slope: f32| (u <= 0.0 && slope > 0.0) || (u >= 1.0 && slope < 0.0);
        let stays: Vec<bool> = u.iter().zip(slope.iter()).map(|(u, slope)| leaves(*u, *slope)).collect();
        // Rows and columns of a positive definite matrix that are left out leave one.
        let weigh = |slope: &mut [f32]| {
            for ((slope, contrast), stays) in slope.iter_mut().zip(contrast).zip(&stays) {
                *slope = if *stays { 0.0 } else { *slope * contrast };
            }
        };
        weigh(slope);
        if let Some(ImageSpace { size: [height, width, channels], .. }) = self.image {
            for row in 0..height {
                (0..channels).for_each(|c| blur(&mut slope[row * width * channels + c..], channels, width));
            }
            (0..width * channels).for_each(|line| blur(&mut slope[line..], width * channels, height));
            weigh(slope);
        }
    }
}

fn byte(u: f32) -> u8 {
    (255.0 * u).round() as u8
}

/// Binomial weights `[1 2 1]/4` along a line of `len` values; what is beyond its ends is zero.
fn blur(values: &mut [f32], stride: usize, len: usize) {
    let mut before = 0.0;
    for i in 0..len {
        let (here, after) = (values[i * stride], if i + 1 < len { values[(i + 1) * stride] } else { 0.0 });
        values[i * stride] = 0.25 * before + 0.5 * here + 0.25 * after;
        before = here;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(count: usize) -> Space {
        let values = [0.5, 2.0].map(|slope| std::array::from_fn(|byte| slope * byte as f32 - 3.0));
        let size = [3, 4, 2];
        let of_all = |byte: usize| (0..24 * count).map(|i| values[i % 2][byte]).collect();
        let (low, high) = (of_all(0), of_all(255));
        Space { width: 24, low, high, image: Some(ImageSpace { size, values: values.into() }) }
    }

    #[test]
    fn every_byte_comes_back_through_its_number() {
        let space = images(11);
        let bytes: Vec<u8> = (0..=255).chain(0..8).collect();
        let values = &space.image.as_ref().expect("images").values;
        let x: Vec<f32> = bytes.iter().enumerate().map(|(i, b)| values[i % 2][usize::from(*b)]).collect();
        assert_eq!(space.bytes(&x), bytes);
        assert_eq!(space.valid(&space.unit(&x)), x);
        // Half a byte to either side is rounded to the same one.
        let beside: Vec<f32> = space.unit(&x).iter().map(|u| (u + 0.4 / 255.0).min(1.0)).collect();
        assert_eq!(space.valid(&beside), x);
    }

    #[test]
    fn numbers_stay_in_their_box_and_those_without_one_where_they_are() {
        let space = Space { width: 3, low: vec![-0.1, 7.3, 2.0], high: vec![0.7, 7.3, 3.0], image: None };
        assert_eq!(space.free(0), 2);
        let x = space.at(&[1.0, 0.4, 0.0]);
        assert_eq!(x, [0.7, 7.3, 2.0]);
        assert_eq!(space.unit(&x), [1.0, 0.0, 0.0]);
        let mut slope = [-1.0, 0.0, -1.0];
        space.direct(&[1.0, 0.0, 0.0], &[1.0; 3], &mut slope);
        assert_eq!(slope, [0.0, 0.0, -1.0], "the first would leave its box, the third enters it");
    }

    /// `gᵀAg > 0` for whatever gradient, and A is symmetric.
    #[test]
    fn the_direction_of_an_image_is_one_of_ascent() {
        let space = images(1);
        let random = |seed: u32| -> Vec<f32> {
            (0..24).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f32 / 504.5 - 1.0).collect()
        };
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        for seed in 0..50 {
            let u: Vec<f32> = random(seed).iter().map(|x| x.clamp(0.0, 1.0)).collect(); // half of them at the end
            let contrast = space.contrast(&u);
            let directed = |slope: &[f32]| {
                let mut slope = slope.to_vec();
                space.direct(&u, &contrast, &mut slope);
                slope
            };
            let slope = random(seed + 1000);
            assert!(dot(&slope, &directed(&slope)) > 0.0);
            // Inside of the box, where nothing is held.
            let inside = vec![0.5; 24];
            let (mut a, mut b) = (slope.clone(), random(seed + 2000));
            let (g, h) = (a.clone(), b.clone());
            space.direct(&inside, &contrast, &mut a);
            space.direct(&inside, &contrast, &mut b);
            assert!((dot(&h, &a) - dot(&g, &b)).abs() < 1e-4, "sums of 24 products below one");
        }
    }

    #[test]
    fn flat_parts_of_an_image_move_least() {
        let space = images(1);
        let mut u = vec![0.2; 24];
        u[6] = 0.7; // first row, last pixel, first channel
        let contrast = space.contrast(&u);
        let edge = LEAST + (1.0 - LEAST) * 0.5;
        for (i, contrast) in contrast.iter().enumerate() {
            let (y, x, channel) = (i / 8, i / 2 % 4, i % 2);
            let expected = if channel == 0 && y < 2 && x > 1 { edge } else { LEAST };
            assert!((contrast - expected).abs() < 1e-6, "{i}: {contrast}");
        }
    }
}
