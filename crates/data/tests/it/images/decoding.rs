//! ImageFiles with more to them than grey or coloured bytes.

use flate2::Crc;
use image::codecs::gif::GifEncoder;
use image::{
    Delay, DynamicImage, Frame, GrayAlphaImage, GrayImage, ImageBuffer, Luma, LumaA, Rgba, RgbaImage,
};
use inducing_data::{ImageOptions, ImageProblem, ImageSize, Notice};

use super::make::{assert_file, colour, encoded, grey, problem, read_with, unlabelled};
use crate::folder::Folder;

#[test]
fn transparency_is_blended_over_white() {
    let folder = Folder::new();
    let clear = RgbaImage::from_pixel(3, 3, Rgba([10, 20, 30, 0]));
    let half = RgbaImage::from_pixel(3, 3, Rgba([0, 100, 255, 128]));
    folder.image("a/clear.png", &clear.into());
    folder.image("a/half.png", &half.into());
    let (set, _) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((&set.image(0)[..3], &set.image(1)[..3]), (&[255; 3][..], &[127, 177, 255][..]));
    let folder = Folder::new();
    folder.image("a.png", &GrayAlphaImage::from_pixel(2, 2, LumaA([0, 128])).into());
    let (set, _) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.channels, set.image(0)), (1, &[127; 4][..]));
}

#[test]
fn sixteen_bits_are_reduced_to_eight() {
    let folder = Folder::new();
    let deep: ImageBuffer<Luma<u16>, Vec<u16>> = ImageBuffer::from_pixel(2, 2, Luma([0x8080]));
    folder.image("deep.png", &DynamicImage::ImageLuma16(deep));
    let (set, notices) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.channels, set.image(0)), (1, &[0x80; 4][..]));
    assert!(notices.is_empty());
}

/// A chunk of a PNG file.
fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(content);
    [&(content.len() as u32).to_be_bytes()[..], kind, content, &crc.sum().to_be_bytes()].concat()
}

fn animated_png() -> Vec<u8> {
    let still = encoded(&grey(4, 4, 77), "x.png");
    let header = 8 + 25; // signature and IHDR
    let control = chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]);
    [&still[..header], &control, &still[header..]].concat()
}

fn animated_webp() -> Vec<u8> {
    let still = encoded(&colour(4, 4, [77; 3]), "x.webp");
    let piece = |kind: &[u8; 4], content: &[u8]| {
        let mut piece = [&kind[..], &(content.len() as u32).to_le_bytes(), content].concat();
        piece.resize(piece.len().next_multiple_of(2), 0);
        piece
    };
    let frame = [&[0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0, 0, 100, 0, 0, 0], &still[12..]].concat();
    let pieces = [
        b"WEBP".to_vec(),
        piece(b"VP8X", &[2, 0, 0, 0, 3, 0, 0, 3, 0, 0]),
        piece(b"ANIM", &[255, 255, 255, 255, 0, 0]),
        piece(b"ANMF", &frame),
        piece(b"ANMF", &frame),
    ];
    piece(b"RIFF", &pieces.concat())
}

fn animated_gif() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new(&mut bytes);
    for value in [77, 200] {
        let image = RgbaImage::from_pixel(4, 4, Rgba([value, value, value, 255]));
        let delay = Delay::from_numer_denom_ms(100, 1);
        encoder.encode_frame(Frame::from_parts(image, 0, 0, delay)).expect("encodable");
    }
    drop(encoder);
    bytes
}

#[test]
fn of_animations_the_first_frame_is_used_with_a_notice() {
    let folder = Folder::new();
    folder.put("a.png", animated_png());
    folder.put("b.gif", animated_gif());
    folder.put("c.webp", animated_webp());
    folder.image("d.gif", &grey(4, 4, 77));
    let (set, notices) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.height, set.width), (4, 4));
    // Frames of WebP are blended, which rounds.
    assert!(set.pixels.iter().all(|value| value.abs_diff(77) <= 1), "{:?}", set.pixels);
    let frames = notices.iter().find(|notice| matches!(notice, Notice::FirstFrames { count: 3, .. }));
    assert!(frames.is_some_and(|notice| notice.to_string().contains("a.png")), "{notices:?}");
}

/// A JPEG with an EXIF block that says how the camera was held.
fn turned_jpeg(orientation: u8) -> Vec<u8> {
    // The left half is black, the right half white.
    let mut image = GrayImage::new(16, 8);
    image.enumerate_pixels_mut().for_each(|(x, _, pixel)| pixel.0 = [if x < 8 { 0 } else { 255 }]);
    let plain = encoded(&image.into(), "x.jpg");
    let tiff =
        [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[orientation, 0, 0, 0, 0, 0, 0, 0]]
            .concat();
    let exif = [b"Exif\0\0".as_slice(), &tiff].concat();
    let length = (exif.len() as u16 + 2).to_be_bytes();
    [&plain[..2], &[0xff, 0xe1], &length, &exif, &plain[2..]].concat()
}

#[test]
fn images_are_turned_the_right_way_up() {
    let folder = Folder::new();
    folder.put("1.jpg", turned_jpeg(1));
    folder.put("6.jpg", turned_jpeg(6));
    let (set, _) = read_with(&folder.images("1.jpg"), &unlabelled());
    assert_eq!((set.height, set.width), (8, 16));
    assert!(set.image(0)[0] < 10 && set.image(0)[15] > 245);
    let (set, _) = read_with(&folder.images("6.jpg"), &unlabelled());
    assert_eq!((set.height, set.width), (16, 8), "a quarter turn");
    assert!(set.image(0)[0] < 10 && set.image(0)[15 * 8] > 245, "black on top");
}

#[test]
fn an_image_of_a_hundred_megapixels_is_reduced() {
    let folder = Folder::new();
    folder.image("large.png", &grey(10_000, 10_000, 50));
    let (set, notices) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.height, set.width), (64, 64));
    assert!(set.pixels.iter().all(|value| *value == 50));
    assert!(notices[0].to_string().contains("`--image-size HxW`"), "{notices:?}");
}

#[test]
fn an_image_beyond_the_memory_limit_is_refused_by_name() {
    let folder = Folder::new();
    let mut huge = encoded(&colour(1, 1, [1, 2, 3]), "x.png");
    let header = chunk(b"IHDR", &[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 8, 2, 0, 0, 0]); // 30,000 × 30,000 in colour
    huge.splice(8..33, header);
    folder.put("huge.png", &huge);
    folder.image("small.png", &grey(4, 4, 1));
    let (what, error) = problem(&folder.images(""), &unlabelled());
    assert_eq!(what, ImageProblem::TooLarge { width: 30_000, height: 30_000, limit_mib: 512 });
    assert_file(&error, "huge.png");
    let options = ImageOptions { skip_unreadable: true, ..unlabelled() };
    let (set, _) = read_with(&folder.images(""), &options);
    assert_eq!(set.len(), 1);
}

#[test]
fn a_single_pixel_is_fine_among_others_and_nothing_by_itself() {
    let folder = Folder::new();
    folder.image("a.png", &grey(1, 1, 9));
    let (what, _) = problem(&folder.images(""), &unlabelled());
    assert_eq!(what, ImageProblem::OnePixel);
    let options = ImageOptions { size: Some(ImageSize { height: 3, width: 2 }), ..unlabelled() };
    assert_eq!(read_with(&folder.images(""), &options).0.pixels, [9; 6]);
    folder.image("b.png", &grey(4, 4, 7));
    folder.image("c.png", &grey(4, 4, 7));
    let (set, _) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.height, set.width, set.image(0)), (4, 4, &[9; 16][..]));
}
