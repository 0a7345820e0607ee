//! Files that are no model, or no longer one.

use crate::folder::Folder;
use crate::tables::noise;

/// Expects that all three readers refuse the file `x.ign`.
#[track_caller]
fn refused(folder: &Folder, content: impl AsRef<[u8]>, words: &[&str]) {
    folder.write("x.ign", content);
    let words = [&["x.ign"], words].concat();
    folder.refuses("info x.ign", &words);
    folder.refuses("predict x.ign t.csv -o p.csv", &words);
    folder.refuses("evaluate x.ign t.csv", &words);
}

/// A file in the safetensors format.
fn safetensors(header: &str, tensors: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), tensors].concat()
}

#[test]
fn files_of_another_kind_are_refused() {
    let folder = Folder::with_model();
    let foreign = "is not an ign model file";
    refused(&folder, "", &[foreign]);
    refused(&folder, "hello", &[foreign]);
    refused(&folder, folder.read("t.csv"), &[foreign]);
    refused(&folder, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0", &[foreign]);
    refused(&folder, [0_u8; 4096], &[foreign]);
    refused(&folder, [0xff_u8; 4096], &[foreign]);
    let other = r#"{"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    refused(&folder, safetensors(other, &[0; 4]), &[foreign]);
    let other =
        r#"{"__metadata__":{"format":"pt"},"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    refused(&folder, safetensors(other, &[0; 4]), &[foreign]);
    refused(&folder, safetensors(r#"{"__metadata__":{"ign":"00000000 {}"}}"#, &[]), &["damaged"]);
    refused(&folder, safetensors(r#"{"__metadata__":{"ign":"nonsense"}}"#, &[]), &["damaged"]);
}

#[test]
fn a_model_that_is_not_there_or_a_folder_is_refused() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("sub")).expect("a temporary folder is writable");
    for command in ["info", "predict", "evaluate"] {
        let table = if command == "info" { "" } else { "t.csv" };
        folder.refuses(&format!("{command} none.ign {table}"), &["none.ign"]);
        folder.refuses(&format!("{command} sub {table}"), &["sub"]);
    }
}

#[test]
fn a_model_cut_off_anywhere_is_refused() {
    let folder = Folder::with_model();
    let bytes = folder.read("m.ign");
    let len = bytes.len();
    for end in [1, 7, 8, 9, 100, 400, 2000, len / 2, len - 4, len - 1] {
        refused(&folder, &bytes[..end], &[]);
    }
    refused(&folder, [&bytes[..], &[0]].concat(), &["damaged"]);
}

#[test]
fn a_model_with_any_one_bit_flipped_is_refused() {
    let folder = Folder::with_model();
    let bytes = folder.read("m.ign");
    let checksum = bytes.windows(7).position(|w| w == b"\"ign\":\"").expect("the document") + 7;
    // All bits of the length, of the beginning and of the checksum; then some everywhere else.
    let mut bits: Vec<usize> = (0..8 * 10).chain(8 * checksum..8 * (checksum + 9)).collect();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    for draw in 0..60 {
        bits.push((noise(draw) * (8 * header) as f64) as usize);
        bits.push(8 * header + (noise(1000 + draw) * (8 * (bytes.len() - header)) as f64) as usize);
    }
    bits.extend([8 * header - 1, 8 * header, 8 * bytes.len() - 1]); // the seams
    for bit in bits {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        folder.write("x.ign", flipped);
        let run = folder.ign("info x.ign");
        assert_eq!(run.code, Some(2), "bit {} of byte {} is not noticed", bit % 8, bit / 8);
        run.is_refused(&["x.ign"]);
    }
}

#[test]
fn a_model_of_a_later_version_is_refused_with_the_version_to_use() {
    let folder = Folder::with_model();
    let text = |bytes: &[u8]| bytes.iter().map(|&b| char::from(b)).collect::<String>(); // Latin-1 keeps every byte
    let bytes = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<_>>();
    let model = text(&folder.read("m.ign"));
    assert_eq!(model.matches(r#"\"format_version\":7"#).count(), 1);
    let newer = bytes(&model.replace(r#"\"format_version\":7"#, r#"\"format_version\":9"#));
    refused(&folder, newer, &["format version 9", "this program reads up to 7", "ign 0."]);
}
