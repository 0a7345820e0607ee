//! Small files of images, written by hand: what reads them must not have written them.

use crate::folder::Folder;
use crate::tables::noise;

/// Pixels of one grey image, row-major: the quarter of its class is bright, the rest noise.
pub(crate) fn pixels(class: usize, index: usize, side: usize) -> Vec<u8> {
    let bright = |x: usize, y: usize| 2 * (2 * y / side) + 2 * x / side == class;
    let value = |i: usize| {
        let dark = 90.0 * noise((class * 1000 + index) as u64 * 10_000 + i as u64);
        dark as u8 + if bright(i % side, i / side) { 120 } else { 0 }
    };
    (0..side * side).map(value).collect()
}

/// An idx file of `count` images of the classes 0, 1, … in turn; `first` picks others.
pub(crate) fn idx_images(count: usize, classes: usize, side: usize, first: usize) -> Vec<u8> {
    let mut file = vec![0, 0, 8, 3];
    [count, side, side].iter().for_each(|size| file.extend((*size as u32).to_be_bytes()));
    file.extend((0..count).flat_map(|i| pixels(i % classes, first + i, side)));
    file
}

/// Its labels.
pub(crate) fn idx_labels(count: usize, classes: usize) -> Vec<u8> {
    let mut file = vec![0, 0, 8, 1];
    file.extend((count as u32).to_be_bytes());
    file.extend((0..count).map(|i| (i % classes) as u8));
    file
}

/// A CIFAR-10 file of the classes 0, 1, … in turn, in one colour each.
pub(crate) fn cifar(count: usize, classes: usize) -> Vec<u8> {
    let record = |i: usize| {
        let plane = |colour: usize| {
            let image = pixels(i % classes, i, 32).into_iter();
            image.map(move |x| if colour == i % classes { x } else { x / 2 }).collect::<Vec<u8>>()
        };
        [vec![(i % classes) as u8], plane(0), plane(1), plane(2)].concat()
    };
    (0..count).flat_map(record).collect()
}

/// Blocks that are stored and not compressed (RFC 1951).
fn stored(content: &[u8]) -> Vec<u8> {
    let blocks = content.chunks(0xffff).enumerate();
    let last = content.len().div_ceil(0xffff).max(1) - 1;
    let mut out = Vec::new();
    for (k, block) in blocks {
        let length = block.len() as u16;
        out.push(u8::from(k == last));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out
}

/// A gzip file (RFC 1952).
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let tail = [crc32(content).to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
    [&head[..], &stored(content), &tail].concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    (b << 16) | a
}

fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let body = [&kind[..], content].concat();
    [&(content.len() as u32).to_be_bytes()[..], &body, &crc32(&body).to_be_bytes()].concat()
}

/// A PNG file (RFC 2083) of `samples` values a pixel (1 grey, 3 colour) of `bits` bits each, with chunks before the
/// pixels and after them.
pub(crate) fn png_with(
    [height, width]: [u32; 2],
    (samples, bits): (u32, u8),
    pixels: &[u8],
    around: [&[u8]; 2],
) -> Vec<u8> {
    let row = (width * samples * u32::from(bits) / 8) as usize;
    let lines: Vec<u8> = pixels.chunks(row).flat_map(|line| [&[0], line].concat()).collect(); // filter 0
    let zlib = [&[0x78, 0x01], &stored(&lines)[..], &adler32(&lines).to_be_bytes()].concat();
    let kind = if samples == 1 { 0 } else { 2 };
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[bits, kind, 0, 0, 0]].concat();
    let [before, after] = around;
    let signature = b"\x89PNG\r\n\x1a\n";
    let parts = [&chunk(b"IHDR", &header), before, &chunk(b"IDAT", &zlib), after, &chunk(b"IEND", b"")];
    [&signature[..], &parts.concat()].concat()
}

/// A grey PNG.
pub(crate) fn grey_png(pixels: &[u8], side: u32) -> Vec<u8> {
    png_with([side, side], (1, 8), pixels, [b"", b""])
}

/// A PNG in colour: red is the image, green half of it, blue nothing.
pub(crate) fn colour_png(pixels: &[u8], side: u32) -> Vec<u8> {
    let pixels: Vec<u8> = pixels.iter().flat_map(|&x| [x, x / 2, 0]).collect();
    png_with([side, side], (3, 8), &pixels, [b"", b""])
}

/// A grey PNG of 16 bits a value.
pub(crate) fn deep_png(pixels: &[u8], side: u32) -> Vec<u8> {
    let pixels: Vec<u8> = pixels.iter().flat_map(|&x| [x, 0x5a]).collect();
    png_with([side, side], (1, 16), &pixels, [b"", b""])
}

/// A grey PNG of two frames, of which the second is black.
pub(crate) fn animated_png(pixels: &[u8], side: u32) -> Vec<u8> {
    let frame = |number: u32| {
        let sizes = [number, side, side, 0, 0].map(u32::to_be_bytes).concat();
        chunk(b"fcTL", &[&sizes[..], &[0, 1, 0, 10, 0, 0]].concat())
    };
    let count = chunk(b"acTL", &[2_u32, 0].map(u32::to_be_bytes).concat());
    let lines = vec![0; (side * (side + 1)) as usize];
    let zlib = [&[0x78, 0x01], &stored(&lines)[..], &adler32(&lines).to_be_bytes()].concat();
    let second = chunk(b"fdAT", &[&2_u32.to_be_bytes()[..], &zlib].concat());
    let before = [count, frame(0)].concat();
    png_with([side, side], (1, 8), pixels, [&before, &[frame(1), second].concat()])
}

impl Folder {
    /// `name/` with idx files of 60 images to train on and 30 to test with, of three classes and 8 × 8 pixels.
    pub(crate) fn put_digits(&self, name: &str) {
        self.put(&format!("{name}/train-images-idx3-ubyte"), idx_images(60, 3, 8, 0));
        self.put(&format!("{name}/train-labels-idx1-ubyte"), idx_labels(60, 3));
        self.put(&format!("{name}/t10k-images-idx3-ubyte"), idx_images(30, 3, 8, 500));
        self.put(&format!("{name}/t10k-labels-idx1-ubyte"), idx_labels(30, 3));
    }

    /// `name/` with a sub-folder of twelve grey PNGs of 8 × 8 pixels for each class.
    pub(crate) fn put_images(&self, name: &str, classes: &[&str]) {
        for (class, label) in classes.iter().enumerate() {
            for i in 0..12 {
                self.put(&format!("{name}/{label}/{i:02}.png"), grey_png(&pixels(class, i, 8), 8));
            }
        }
    }

    /// A folder with images in `pets/` and the model `m.ign` of them.
    pub(crate) fn with_image_model() -> Self {
        let folder = Self::new();
        folder.put_images("pets", &["cat", "dog"]);
        folder.train("pets -o m.ign --quiet").succeeds();
        folder
    }
}
