//! Images that cannot be learned from or predicted. Each is refused by its file's name, and nothing is written.

use crate::folder::Folder;
use crate::image_files::{cifar, grey_png, gzip, idx_images, idx_labels, pixels, png_with};

/// Trains on these idx files and expects a refusal with these words.
#[track_caller]
fn refused_idx(images: impl AsRef<[u8]>, labels: impl AsRef<[u8]>, words: &[&str]) {
    let folder = Folder::new();
    folder.put("d/train-images-idx3-ubyte", images);
    folder.put("d/train-labels-idx1-ubyte", labels);
    folder.refuses_to_train("d -o m.ign", words);
}

#[test]
fn a_cut_idx_file_is_refused_with_its_lengths() {
    let (images, labels) = (idx_images(30, 3, 8, 0), idx_labels(30, 3));
    let cut = &images[..images.len() - 7];
    refused_idx(
        cut,
        &labels,
        &["d/train-images-idx3-ubyte: the file is cut off: expected 1936 bytes, got 1929"],
    );
    refused_idx(&images, &labels[..30], &["d/train-labels-idx1-ubyte: the file is cut off"]);
    refused_idx(&images[..11], &labels, &["d/train-images-idx3-ubyte: the file is cut off"]);
    refused_idx("", &labels, &["d/train-images-idx3-ubyte: the file is empty"]);
    refused_idx([&images[..], &[0]].concat(), &labels, &["d/train-images-idx3-ubyte: the file goes on"]);
    refused_idx(
        &labels,
        &labels,
        &["d/train-images-idx3-ubyte: not an idx file of images", "file of labels"],
    );
    let folder = Folder::new();
    let packed = gzip(&images);
    folder.put("d/train-images-idx3-ubyte.gz", &packed[..packed.len() - 9]);
    folder.put("d/train-labels-idx1-ubyte.gz", gzip(&labels));
    folder.refuses_to_train("d -o m.ign", &["d/train-images-idx3-ubyte.gz: the gzip data is cut off"]);
}

#[test]
fn labels_and_images_of_different_counts_are_refused() {
    let words =
        ["d/train-labels-idx1-ubyte: there are 29 labels for 30 images", "the same part of the same set"];
    refused_idx(idx_images(30, 3, 8, 0), idx_labels(29, 3), &words);
    let folder = Folder::new();
    folder.put("d/train-images-idx3-ubyte", idx_images(30, 3, 8, 0));
    folder.refuses_to_train(
        "d -o m.ign",
        &["there are images but no file of labels", "train-labels-idx1-ubyte"],
    );
}

#[test]
fn a_cut_cifar_file_or_a_label_beyond_ten_is_refused() {
    let folder = Folder::new();
    let whole = cifar(6, 2);
    folder.put("c/data_batch_1.bin", &whole);
    folder.put("c/data_batch_2.bin", &whole[..whole.len() - 1]);
    folder.refuses_to_train(
        "c -o m.ign",
        &["c/data_batch_2.bin: the file is cut off: expected 18438 bytes, got 18437"],
    );
    folder.put("c/data_batch_2.bin", "");
    folder.refuses_to_train("c -o m.ign", &["c/data_batch_2.bin: the file is empty"]);
    let mut beyond = whole.clone();
    beyond[2 * 3073] = 10;
    folder.put("c/data_batch_2.bin", beyond);
    folder.refuses_to_train("c -o m.ign", &["c/data_batch_2.bin", "the label 10 is beyond the 10 classes"]);
    folder.refuses_to_train("c/data_batch_2.bin -o m.ign", &["c/data_batch_2.bin", "the label 10"]);
}

#[test]
fn one_class_only_is_refused() {
    let folder = Folder::new();
    folder.put_images("pets", &["cat"]);
    folder.refuses_to_train(
        "pets -o m.ign",
        &["pets: the target has one class only: \"cat\"", "sub-folder for each"],
    );
    refused_idx(idx_images(20, 1, 8, 0), idx_labels(20, 1), &["d: the target has one class only: \"0\""]);
    // An empty folder beside it is no class.
    std::fs::create_dir(folder.path("pets/dog")).expect("a temporary folder is writable");
    folder.refuses_to_train("pets -o m.ign", &["pets: the target has one class only"]);
}

#[test]
fn a_class_with_one_example_is_told_and_learned() {
    let folder = Folder::new();
    folder.put_images("pets", &["cat", "dog"]);
    folder.put("pets/emu/1.png", grey_png(&pixels(2, 0, 8), 8));
    let run = folder.train("pets -o m.ign").succeeds();
    assert!(run.stderr.contains("`emu` has a single example"), "{}", run.stderr);
    folder.ign("evaluate m.ign pets").succeeds();
    let each = Folder::new();
    each.put("pets/cat/1.png", grey_png(&pixels(0, 0, 8), 8));
    each.put("pets/dog/1.png", grey_png(&pixels(1, 0, 8), 8));
    each.refuses_to_train("pets -o m.ign", &["pets: the target has 2 classes in 2 rows"]);
}

#[test]
fn an_unreadable_image_is_named_or_skipped_and_counted() {
    let folder = Folder::with_image_model();
    let whole = folder.read("pets/cat/04.png");
    folder.put("pets/cat/04.png", &whole[..whole.len() - 30]);
    let words = ["pets/cat/04.png: not a readable image", "--skip-unreadable"];
    folder.refuses_to_train("pets -o n.ign", &words);
    folder.refuses("evaluate m.ign pets", &words);
    folder.refuses("predict m.ign pets -o p.csv", &words);
    folder.put("pets/dog/02.png", "no image at all");
    folder
        .refuses("predict m.ign pets/dog/01.png pets/dog/02.png", &["pets/dog/02.png: not a readable image"]);
    let told = "unreadable images are left out: 2 files, first pets/cat/04.png";
    let run = folder.train("pets -o n.ign --skip-unreadable").succeeds();
    assert!(run.stderr.contains(told), "{}", run.stderr);
    let run = folder.ign("evaluate m.ign pets --skip-unreadable").succeeds();
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert_eq!(folder.ign("evaluate m.ign pets --skip-unreadable --json").succeeds().json()["n"], 22);
    let run = folder.ign("predict m.ign pets --skip-unreadable").succeeds();
    assert!(run.stderr.contains(told) && run.stdout.lines().count() == 23, "{run:?}");
    folder.put("bad/cat/1.png", "x");
    folder.put("bad/dog/1.png", "y");
    folder.refuses_to_train("bad -o n.ign --skip-unreadable", &["bad: none of the 2 images can be read"]);
}

#[test]
fn images_of_one_pixel_are_refused() {
    let folder = Folder::new();
    for (class, value) in [("cat", 10), ("dog", 200)] {
        for i in 0..4 {
            folder.put(&format!("pets/{class}/{i}.png"), grey_png(&[value], 1));
        }
    }
    folder.refuses_to_train("pets -o m.ign", &["pets: all images are 1 × 1 pixel", "larger images"]);
    refused_idx(idx_images(30, 3, 1, 0), idx_labels(30, 3), &["all images are 1 × 1 pixel"]);
    let larger = Folder::with_image_model();
    larger.refuses_to_train("pets -o n.ign --image-size 1x1", &["all images are 1 × 1 pixel"]);
    // One among others is brought to their size.
    larger.put("pets/cat/dot.png", grey_png(&[10], 1));
    larger.train("pets -o n.ign --quiet").succeeds();
    larger.ign("predict m.ign pets/cat/dot.png").succeeds();
}

/// The header alone: what would not fit into memory must not be made room for.
#[test]
fn an_image_beyond_memory_is_refused_by_its_header() {
    let folder = Folder::with_image_model();
    folder.put("huge.png", png_with([30_000, 30_000], (3, 8), &[0; 90_000], [b"", b""]));
    folder.refuses(
        "predict m.ign huge.png -o p.csv",
        &["huge.png: the image has 30000 × 30000 pixels", "reduce it"],
    );
}

#[test]
fn classes_that_differ_between_training_and_evaluation_are_refused() {
    let folder = Folder::with_image_model();
    folder.put_images("zoo", &["cat", "dogs"]);
    let words = ["zoo/dogs/00.png", "the model does not know the class \"dogs\"", "did you mean `dog`?"];
    folder.refuses("evaluate m.ign zoo", &words);
    folder.ign("predict m.ign zoo").succeeds(); // a prediction does not look at them
    folder.put_digits("digits");
    folder.refuses("evaluate m.ign digits", &["the model does not know the class \"0\"", "`cat`, `dog`"]);
}

#[test]
fn folders_that_hold_no_classes_are_refused() {
    let folder = Folder::new();
    folder.put("flat/1.png", grey_png(&pixels(0, 0, 8), 8));
    folder.refuses_to_train(
        "flat -o m.ign",
        &["flat: the folder holds 1 image but no sub-folder", "cats/ and dogs/"],
    );
    folder.refuses_to_train("flat/1.png -o m.ign", &["flat/1.png: single image files have no classes"]);
    folder.put("notes/a/1.txt", "x");
    folder.refuses_to_train("notes -o m.ign", &["notes: no image files are in the folder"]);
    folder.put("half/t10k-images-idx3-ubyte", idx_images(9, 3, 8, 0));
    folder.put("half/t10k-labels-idx1-ubyte", idx_labels(9, 3));
    folder.refuses_to_train("half -o m.ign", &["half: there is no training part"]);
}

#[test]
fn sets_without_a_data_directory_or_of_an_unknown_name_are_refused() {
    let folder = Folder::new();
    folder.refuses_to_train("mnist -o m.ign", &["mnist", "--data-dir", "IGN_DATA"]);
    folder.refuses_to_train(
        "mnist -o m.ign --data-dir .",
        &["mnist: the files of this set are not there", "--data-dir"],
    );
    folder.refuses_to_train("mnits -o m.ign --data-dir .", &["mnits: no data set has this name", "`mnist`"]);
    folder.refuses_to_train("mnist -o m.ign --data-dir none", &["none"]);
}

#[test]
fn tables_are_refused_by_a_model_of_images() {
    let folder = Folder::with_image_model();
    folder.write("t.csv", "a,b\n1,2\n");
    folder.refuses("predict m.ign t.csv", &["m.ign", "t.csv", "images"]);
    folder.refuses("predict m.ign -", &["m.ign", "images"]);
    folder.refuses("evaluate m.ign t.csv", &["m.ign", "t.csv", "images"]);
    folder.refuses("evaluate m.ign pets --ood t.csv", &["m.ign", "t.csv", "images"]);
    folder.refuses("predict m.ign none.png", &["none.png: no such file"]);
    folder.refuses("predict m.ign pets --keep a", &["--keep"]);
    folder.refuses("predict m.ign pets --interval 0.9", &["--interval"]);
}

#[test]
fn options_that_make_no_sense_for_images_are_refused() {
    let folder = Folder::with_image_model();
    folder.refuses_to_train("pets -o n.ign --image-size 0x4", &["--image-size", "28x28"]);
    folder.refuses_to_train("pets -o n.ign --image-size wide", &["--image-size", "28x28"]);
    folder.refuses("evaluate m.ign pets --part some", &["--part", "some", "train"]);
    folder.write("t.csv", "a,b\n1,2\n");
    for flag in ["--image-size 8x8", "--skip-unreadable"] {
        let words = [flag.split(' ').next().expect("a flag"), "is for images, and t.csv holds none"];
        folder.refuses_to_train(&format!("t.csv --target b -o n.ign {flag}"), &words);
        folder.refuses(&format!("train none.csv --target b -o n.ign {flag}"), &["none.csv: no such file"]);
    }
}

#[test]
fn a_convolutional_network_that_does_not_fit_the_images_is_refused() {
    let folder = Folder::new();
    folder.put_images("pets", &["cat", "dog"]); // 8 × 8
    let refused = |more: &str, words: &[&str]| {
        folder.refuses_to_train(&format!("pets -o m.ign --encoder cnn {more}"), words);
    };
    refused("--set encoder.blocks=[8,8,8,8]", &["8×8 pixels cannot be halved 4 times", "encoder.blocks"]);
    refused("--image-size 2x8", &["2×8 pixels cannot be halved 3 times", "--image-size"]);
    refused("--set encoder.blocks=[]", &["at least one block", "encoder.blocks"]);
    refused("--set encoder.blocks=[0]", &["encoder.blocks"]);
    refused("--set encoder.blocks=[9]", &["9 channels", "encoder.blocks"]);
    refused("--set encoder.convolutions=0", &["convolutions"]);
}

/// A user who asks for numbers or names a column has another input in mind.
#[test]
fn a_target_or_a_regression_is_refused_for_images() {
    let folder = Folder::new();
    folder.put_images("pets", &["cat", "dog"]);
    folder.refuses_to_train("pets -o n.ign --task regression", &["regression", "images"]);
    folder.refuses_to_train("pets -o n.ign --target y", &["target", "images"]);
}

/// As of a table: what was learned from is worth more than the model.
#[test]
fn a_model_never_overwrites_its_images() {
    let folder = Folder::new();
    folder.put_digits("digits");
    let input = "digits/train-images-idx3-ubyte";
    folder.refuses_to_train(&format!("{input} -o {input}"), &[input, "--out"]);
    folder.refuses_to_train("digits -o digits", &["digits", "--out"]);
}

#[test]
fn predictions_overwrite_neither_images_nor_model() {
    let folder = Folder::new();
    folder.put_digits("digits");
    let input = "digits/train-images-idx3-ubyte";
    folder.train("digits -o m.ign --quiet").succeeds();
    folder.refuses("predict m.ign digits -o m.ign --output-format csv", &["m.ign", "--out"]);
    folder.refuses(&format!("predict m.ign {input} -o {input} --output-format csv"), &[input, "--out"]);
}
