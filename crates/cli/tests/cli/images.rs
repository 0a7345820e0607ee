//! Images: idx files, CIFAR-10 files and folders, from training to out-of-distribution detection.

use crate::folder::Folder;
use crate::image_files::{
    animated_png, cifar, colour_png, deep_png, grey_png, gzip, idx_images, idx_labels, pixels,
};
use crate::tables::{column, header, texts};

/// A small convolutional network.
const CNN: &str = "--encoder cnn --set encoder.stem=8 --set encoder.blocks=[8]";

#[test]
fn idx_files_are_trained_on_and_their_test_part_is_evaluated() {
    let folder = Folder::new();
    folder.put_digits("digits");
    let run = folder.train("digits -o m.ign --set train.pretrain_epochs=20").succeeds();
    assert!(
        run.stderr.contains("images of 64 values") && run.stderr.contains("3 classes: 0 "),
        "{}",
        run.stderr
    );
    let scores = folder.ign("evaluate m.ign digits --json").succeeds().json();
    assert_eq!((scores["n"].as_u64(), scores["classes"][2]["label"].as_str()), (Some(30), Some("2")));
    // A bright quarter: whoever cannot tell it is broken.
    assert!(scores["accuracy"].as_f64().expect("a number") > 0.9, "{scores}");
    assert_eq!(folder.ign("evaluate m.ign digits --part train --json").succeeds().json()["n"], 60);
    assert_eq!(folder.ign("evaluate m.ign digits --part all --json").succeeds().json()["n"], 90);
    let predicted = folder.ign("predict --columns all m.ign digits").succeeds().stdout;
    assert_eq!(header(&predicted)[..3], ["file", "label", "p_0"]);
    assert_eq!(texts(&predicted, "file").len(), 30);
    let info = folder.ign("info m.ign").succeeds().stdout;
    assert!(info.contains("grey images of 8 × 8 pixels") && info.contains("class: 0, 1, 2"), "{info}");
}

#[test]
fn compressed_files_and_single_files_give_the_same_model() {
    let folder = Folder::new();
    folder.put_digits("plain");
    for name in ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"] {
        folder.put(&format!("packed/{name}.gz"), gzip(&folder.read(&format!("plain/{name}"))));
    }
    for (name, input) in [
        ("a", "plain"),
        ("b", "packed"),
        ("c", "plain/train-images-idx3-ubyte"),
        ("d", "packed/train-images-idx3-ubyte.gz"),
    ] {
        folder.train(&format!("{input} -o {name}.ign --quiet")).succeeds();
        assert!(folder.read("a.ign") == folder.read(&format!("{name}.ign")), "{input}: other bytes");
    }
}

#[test]
fn a_folder_of_images_has_its_classes_by_name_and_single_images_are_predicted() {
    let folder = Folder::with_image_model();
    let scores = folder.ign("evaluate m.ign pets --json").succeeds().json();
    assert_eq!((scores["n"].as_u64(), scores["classes"][1]["label"].as_str()), (Some(24), Some("dog")));
    let both = folder.ign("predict --columns all m.ign pets/dog/03.png pets/cat/05.png").succeeds().stdout;
    assert_eq!(texts(&both, "file"), ["pets/dog/03.png", "pets/cat/05.png"]);
    let all = folder.ign("predict --columns all m.ign pets").succeeds().stdout;
    let place = texts(&all, "file").iter().position(|file| file == "pets/dog/03.png").expect("part of it");
    let (alone, among) = (column(&both, "p_dog")[0], column(&all, "p_dog")[place]);
    assert!((alone - among).abs() < 1e-4, "{alone} {among}"); // f32 features, summed in another order
    // Images without classes are predicted too.
    folder.put("new/x.png", grey_png(&pixels(0, 77, 8), 8));
    assert_eq!(
        texts(&folder.ign("predict --columns all m.ign new").succeeds().stdout, "file"),
        ["new/x.png"]
    );
}

#[test]
fn cifar_files_are_colour_images_with_named_classes() {
    let folder = Folder::new();
    folder.put("c/data_batch_1.bin", cifar(20, 2));
    folder.put("c/data_batch_2.bin", gzip(&cifar(10, 2)));
    folder.put("c/test_batch.bin", cifar(8, 2));
    folder.train("c -o m.ign --quiet").succeeds();
    let info = folder.ign("info m.ign").succeeds().stdout;
    assert!(info.contains("colour images of 32 × 32 pixels"), "{info}");
    assert!(
        header(&folder.ign("predict --columns all m.ign c").succeeds().stdout)
            .contains(&"p_automobile".to_owned())
    );
    assert_eq!(folder.ign("evaluate m.ign c --json").succeeds().json()["n"], 8);
}

#[test]
fn named_sets_are_found_below_the_data_directory() {
    let folder = Folder::new();
    let digits = |count: usize| -> Vec<u8> { idx_labels(count, 10) };
    for (part, count) in [("train", 60), ("t10k", 20)] {
        folder.put(&format!("sets/mnist/{part}-images-idx3-ubyte"), idx_images(count, 10, 8, 0));
        folder.put(&format!("sets/mnist/{part}-labels-idx1-ubyte"), digits(count));
    }
    folder.train("mnist --data-dir sets --quiet").succeeds();
    assert!(folder.names().contains(&"mnist.ign".to_owned()), "{:?}", folder.names());
    folder.train("toy-mnist --data-dir sets -o toy.ign --quiet").succeeds();
    let toy = folder.ign("evaluate toy.ign toy-mnist --data-dir sets --json").succeeds().json();
    assert_eq!((toy["n"].as_u64(), toy["classes"][0]["label"].as_str()), (Some(4), Some("5")));
    let run =
        folder.shell(&format!("IGN_DATA=sets $IGN train mnist -o env.ign --quiet {}", crate::folder::TINY));
    run.succeeds();
    assert!(folder.read("env.ign") == folder.read("mnist.ign"), "the environment names the same directory");
}

#[test]
fn out_of_distribution_images_are_detected() {
    let folder = Folder::new();
    folder.put_digits("digits");
    folder.put("odd/t10k-images-idx3-ubyte", {
        let mut file = idx_images(20, 3, 8, 0);
        file[16..].iter_mut().for_each(|x| *x = 255 - *x); // negatives
        file
    });
    folder.train("digits -o m.ign --quiet --set train.pretrain_epochs=20").succeeds();
    let json = folder.ign("evaluate m.ign digits --ood odd --json").succeeds().json();
    assert!(json["ood"]["latent_std"]["auroc"].as_f64().expect("a number") > 0.9, "{json}");
    assert!(json["ood"]["entropy"]["fpr95"].is_number() && json["accuracy"].is_number(), "{json}");
    let text = folder.ign("evaluate m.ign digits --ood odd").succeeds().stdout;
    assert!(text.contains("out-of-distribution inputs: odd") && text.contains("AUPR"), "{text}");
}

#[test]
fn other_heads_and_several_networks_work_with_images() {
    let folder = Folder::new();
    folder.put_digits("digits");
    let with_cnn =
        ["", "--head softmax", "--multiclass independent", "--preset paper"].map(|m| format!("{CNN} {m}"));
    let dense =
        ["--head softmax", "--multiclass independent", "--set encoder.augment=false", "--preset paper"];
    for more in dense.into_iter().chain(with_cnn.iter().map(String::as_str)) {
        folder.train(&format!("digits -o m.ign --quiet {more}")).succeeds();
        let predicted = folder.ign("predict --columns all m.ign digits").succeeds().stdout;
        let p = ["p_0", "p_1", "p_2"].map(|name| column(&predicted, name));
        for row in 0..30 {
            assert!((p.iter().map(|p| p[row]).sum::<f64>() - 1.0).abs() < 1e-9, "{more}");
        }
        folder.ign("evaluate m.ign digits").succeeds();
    }
}

#[test]
fn a_convolutional_network_learns_and_is_named() {
    let folder = Folder::new();
    folder.put_digits("digits");
    folder.train(&format!("digits -o m.ign --quiet {CNN} --set train.pretrain_epochs=20")).succeeds();
    let scores = folder.ign("evaluate m.ign digits --json").succeeds().json();
    assert!(scores["accuracy"].as_f64().expect("a number") > 0.9, "{scores}");
    assert!(folder.ign("info m.ign").succeeds().stdout.contains("convolutions"));
    folder.write("run.toml", folder.ign("info m.ign --config").succeeds().stdout);
    folder.ign("train digits --config run.toml -o again.ign --quiet").succeeds();
    assert!(folder.read("m.ign") == folder.read("again.ign"), "its own configuration trains another model");
}

#[test]
fn images_of_several_sizes_and_modes_become_one_kind_and_the_user_is_told() {
    let folder = Folder::new();
    folder.put_images("pets", &["cat", "dog"]);
    folder.put("pets/cat/colour.png", colour_png(&pixels(0, 50, 8), 8));
    folder.put("pets/dog/large.png", grey_png(&pixels(1, 51, 12), 12));
    folder.put("pets/dog/deep.png", deep_png(&pixels(1, 52, 8), 8));
    folder.put("pets/dog/moving.png", animated_png(&pixels(1, 53, 8), 8));
    folder.put("pets/readme.txt", "not a image");
    let run = folder.train("pets -o m.ign").succeeds();
    for words in [
        "the images have 2 sizes, most often 8x8 pixels (height x width), and are resized to 8x8",
        "1 image in colour and 27 in grey: all are taken in colour",
        "animations are used by their first frame: 1 file, first pets/dog/moving.png",
        "files that are no images are passed over: 1 file, first pets/readme.txt",
    ] {
        assert!(run.stderr.contains(words), "no `{words}` in: {}", run.stderr);
    }
    let info = folder.ign("info m.ign").succeeds().stdout;
    assert!(info.contains("colour images of 8 × 8 pixels"), "{info}");
    // New images of any size and mode are brought to the model's.
    folder.ign("predict --columns all m.ign pets/dog/large.png pets/dog/deep.png pets/cat/00.png").succeeds();
    folder.train("pets -o small.ign --quiet --image-size 4x6").succeeds();
    assert!(folder.ign("info small.ign").succeeds().stdout.contains("images of 4 × 6 pixels"));
}

/// What a image is predicted as depends on its pixels alone, not on how deep or animated the file is.
#[test]
fn sixteen_bits_and_a_second_frame_change_no_prediction() {
    let folder = Folder::with_image_model();
    let image = pixels(1, 90, 8);
    folder.put("plain.png", grey_png(&image, 8));
    folder.put("deep.png", deep_png(&image, 8));
    folder.put("moving.png", animated_png(&image, 8));
    let text = folder.ign("predict --columns all m.ign plain.png deep.png moving.png").succeeds().stdout;
    let p = column(&text, "p_dog");
    // 0x..5a / 0xffff is within half a step of 8 bits.
    assert!((p[0] - p[1]).abs() < 1e-4 && (p[0] - p[2]).abs() < 1e-4, "{text}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::new();
    folder.put_digits("digits");
    for more in ["", "--multiclass independent", "--head softmax", CNN] {
        for threads in [1, 2, 3] {
            folder.train(&format!("digits -o {threads}.ign --quiet --threads {threads} {more}")).succeeds();
            assert!(
                folder.read("1.ign") == folder.read(&format!("{threads}.ign")),
                "{more}: {threads} threads"
            );
        }
        folder.train(&format!("digits -o other.ign --quiet --seed 1 {more}")).succeeds();
        assert!(folder.read("1.ign") != folder.read("other.ign"), "{more}: the seed is not used");
    }
}
