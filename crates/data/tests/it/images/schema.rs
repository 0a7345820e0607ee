//! What a model keeps of its images.

use inducing_data::{ImageSchema, ImageSet, Notice, Problem};

fn set(pixels: Vec<u8>, channels: usize, labels: &[u32], classes: &[&str]) -> ImageSet {
    ImageSet {
        pixels,
        height: 1,
        width: 2,
        channels,
        labels: Some(labels.to_vec()),
        classes: classes.iter().map(|class| (*class).to_owned()).collect(),
        names: Vec::new(),
        origin: "memory".into(),
    }
}

#[test]
fn mean_and_deviation_are_those_of_the_training_images() {
    let pixels = vec![0, 255, 7, 255, 0, 7, 9, 9, 9, 9, 9, 9, 255, 255, 7, 0, 0, 7];
    let (schema, notices) =
        ImageSchema::fit(&set(pixels, 3, &[0, 1, 1], &["a", "b"]), &[0, 2]).expect("two classes");
    assert_eq!(schema.mean, [0.5, 0.5, 7.0 / 255.0]);
    assert_eq!(schema.std, [0.5, 0.5, 1.0], "a constant channel keeps its scale");
    assert_eq!((schema.counts.clone(), schema.image_bytes()), (vec![1, 1], 6));
    assert_eq!(notices, [Notice::SingleExamples { column: None, classes: vec!["a".into()] }]);
    let tables = schema.standardised();
    assert_eq!((tables.len(), tables[0][0], tables[0][255]), (3, -1.0, 1.0));
    let json = serde_json::to_string(&schema).expect("finite");
    assert_eq!(serde_json::from_str::<ImageSchema>(&json).expect("valid"), schema);
}

#[test]
fn images_conform_in_shape_and_classes() {
    let grey = set(vec![0, 10, 20, 30, 40, 50], 1, &[0, 1, 1], &["x", "y"]);
    let (schema, _) = ImageSchema::fit(&grey, &[0, 1, 2]).expect("two classes");
    let pixels = [[100; 6], [50; 6]].concat();
    let coloured = set(pixels, 3, &[0, 2], &["y", "z", "x"]);
    let fitted = schema.conform(coloured.clone()).expect("z has no image");
    assert_eq!((fitted.channels, fitted.image(0), fitted.image(1)), (1, &[100; 2][..], &[50; 2][..]));
    assert_eq!((fitted.labels, fitted.classes.join(" ")), (Some(vec![1, 0]), "x y".into()));
    let unchanged = schema.conform(grey.clone()).expect("its own images");
    assert_eq!(unchanged, grey);
    assert_eq!(schema.options().channels, Some(1));
}

#[test]
fn a_class_that_the_model_does_not_know_is_told() {
    let (schema, _) =
        ImageSchema::fit(&set(vec![0, 10, 20, 30, 40, 50], 1, &[0, 1, 1], &["x", "y"]), &[0, 1, 2])
            .expect("usable");
    let mut strange = set(vec![0, 1, 2, 3], 1, &[0, 1], &["x", "zebra"]);
    let error = schema.conform(strange.clone()).expect_err("no zebras");
    assert_eq!(error.row, Some(2));
    let expected = Problem::UnknownLabel { label: "zebra".into(), known: vec!["x".into(), "y".into()] };
    assert_eq!(*error.problem, expected);
    assert!(error.hint().is_some_and(|hint| hint.contains("`x`, `y`")));
    assert!(schema.conform(strange.clone().unlabelled()).is_ok(), "without labels only the shape counts");
    strange.names = vec!["a.png".into(), "b.png".into()];
    assert_eq!(schema.conform(strange).expect_err("no zebras").file, "b.png");
}

#[test]
fn too_few_images_and_too_many_classes_are_told() {
    let error =
        ImageSchema::fit(&set(vec![0; 6], 1, &[0, 1, 2], &["a", "b", "c"]), &[0, 1, 2]).expect_err("names");
    assert!(matches!(*error.problem, Problem::TooManyClasses { classes: 3, rows: 3, .. }));
    let error = ImageSchema::fit(&set(vec![0; 6], 1, &[0, 1, 1], &["a", "b"]), &[0]).expect_err("one image");
    assert_eq!(*error.problem, Problem::TooFewRows { rows: 1 });
    assert!(ImageSchema::fit(&set(vec![0; 6], 1, &[0, 1, 1], &["a", "b"]).unlabelled(), &[0, 1]).is_err());
}
