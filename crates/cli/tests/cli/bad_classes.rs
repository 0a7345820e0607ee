//! Classes that cannot be learned, labels that are not known, options that classes do not have.

use crate::folder::Folder;
use crate::tables::{labelled, linear};

#[track_caller]
fn refused(content: &str, more: &str, words: &[&str]) {
    let folder = Folder::new();
    folder.write("t.csv", content);
    folder.refuses_to_train(&format!("t.csv --target y -o m.ign {more}"), words);
}

fn with_classes() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", labelled(120, &["low", "mid", "top"]));
    folder.train("t.csv --target y -o m.ign --quiet").succeeds();
    folder
}

#[test]
fn one_class_only_is_refused() {
    let one = labelled(50, &["low"]);
    refused(&one, "", &["t.csv: column `y`: the target has one class only: \"low\" in all", "another class"]);
    refused(&one, "--head softmax", &["t.csv: column `y`: the target has one class only"]);
    refused(&one, "--multiclass independent", &["t.csv: column `y`: the target has one class only"]);
    refused(&labelled(50, &["7"]), "--task classification", &["the target has one class only: \"7\""]);
    // Nothing but one class where there is a label at all.
    refused(&labelled(50, &["low", "NA"]), "", &["t.csv: column `y`: the target has one class only"]);
}

#[test]
fn a_class_of_its_own_for_each_row_is_refused() {
    let ids: String = (0..40).map(|row| format!("{row},id-{row}\n")).collect();
    refused(&format!("a,y\n{ids}"), "", &["t.csv: column `y`: the target has 40 classes in 40 rows"]);
    let numbers = linear(40);
    refused(&numbers, "--task classification", &["t.csv: column `y`", "--task regression"]);
}

#[test]
fn a_class_with_one_example_is_told_and_learned() {
    let folder = Folder::new();
    folder.write("t.csv", labelled(80, &["low", "top"]) + "0.5,0.5,lonely\n");
    let run = folder.train("t.csv --target y -o m.ign").succeeds();
    assert!(run.stderr.contains("`lonely` has a single example"), "{}", run.stderr);
    let predicted = folder.ign("predict --columns all m.ign t.csv").succeeds().stdout;
    assert!(predicted.starts_with("label,p_lonely,p_low,p_top,"), "{predicted}");
    folder.ign("evaluate m.ign t.csv").succeeds();
    let run = folder.train("t.csv --target y -o n.ign --multiclass independent --test-share 0.3").succeeds();
    assert!(run.stderr.contains("`lonely` has a single example"), "{}", run.stderr);
}

#[test]
fn a_label_that_was_never_seen_is_refused_with_line_column_and_the_nearest_one() {
    let folder = with_classes();
    folder.write("new.csv", "a,b,y\n0.1,0.2,low\n0.1,0.2,midd\n");
    let unknown = "new.csv:3: column `y`: the model does not know the class \"midd\"";
    folder.refuses("evaluate m.ign new.csv", &[unknown, "did you mean `mid`?", "`low`, `mid`, `top`"]);
    folder.refuses("evaluate m.ign new.csv --json", &[unknown]);
    folder.write("new.csv", "a,b,y\n0.1,0.2,\n0.1,0.2,NA\n");
    folder.refuses(
        "evaluate m.ign new.csv",
        &["new.csv: column `y`: the target has no value in any of 2 rows"],
    );
    folder.write("new.csv", "a,b\n0.1,0.2\n");
    folder.refuses("evaluate m.ign new.csv", &["new.csv: column `y`", "not among the 2 columns"]);
}

#[test]
fn labels_of_another_type_than_in_training_are_refused() {
    let folder = Folder::new();
    folder.write("t.csv", labelled(120, &["0", "1", "2"]));
    folder.train("t.csv --target y -o m.ign --quiet").succeeds();
    folder.write("new.csv", "a,b,y\n0.1,0.2,1\n0.1,0.2,two\n");
    folder.refuses("evaluate m.ign new.csv", &["new.csv:3: column `y`", "\"two\""]);
    folder.write("new.csv", "a,b,y\n0.1,0.2,1\n0.1,0.2,3\n");
    folder.refuses(
        "evaluate m.ign new.csv",
        &["new.csv:3: column `y`: the model does not know the class \"3\""],
    );
}

#[test]
fn options_of_numbers_are_refused_for_classes() {
    let folder = with_classes();
    for option in ["--interval 0.9", "--quantiles 0.5", "--interval 0.9 --quantiles 0.1"] {
        let flag = option.split(' ').next().expect("a flag");
        folder.refuses(&format!("predict m.ign t.csv -o p.csv {option}"), &[flag, "classes have no"]);
    }
    refused(&labelled(60, &["low", "top"]), "--task regression", &["t.csv: column `y`", "not numeric"]);
}

#[test]
fn options_of_classes_are_refused_for_numbers() {
    refused(&linear(60), "--head softmax", &["softmax", "classes", "--task classification"]);
}

#[test]
fn options_of_images_are_refused_for_tables() {
    refused(&linear(60), "--encoder cnn", &["cnn"]);
    refused(&labelled(60, &["low", "top"]), "--encoder cnn", &["cnn"]);
    let folder = with_classes();
    folder.refuses("predict m.ign t.csv u.csv", &["m.ign", "one table"]);
    folder.put_images("pets", &["cat", "dog"]);
    folder.refuses("predict m.ign pets", &["pets"]);
    folder.refuses("evaluate m.ign pets", &["pets"]);
    folder.refuses("evaluate m.ign t.csv --ood pets", &["pets"]);
}

#[test]
fn several_targets_of_which_one_is_a_class_are_refused() {
    let folder = Folder::new();
    folder.write("t.csv", labelled(60, &["low", "top"]));
    let words =
        ["t.csv: column `y`: 2 targets are named, but classes can be learned for one only", "name one"];
    folder.refuses_to_train("t.csv --target a,y -o m.ign", &words);
    folder.refuses_to_train(
        "t.csv --target a,b -o m.ign --task classification",
        &["t.csv", "2 targets are named"],
    );
}

#[test]
fn words_that_no_option_knows_are_refused_with_the_choices() {
    let text = labelled(60, &["low", "top"]);
    refused(&text, "--task clustering", &["--task", "clustering", "regression"]);
    refused(&text, "--head svm", &["--head", "svm", "softmax"]);
    refused(&text, "--multiclass some", &["--multiclass", "some", "independent"]);
    refused(&text, "--encoder vit", &["--encoder", "vit", "cnn"]);
    refused(&text, "--set gp.link=cauchit", &["gp.link", "cauchit", "probit"]);
    refused(&text, "--set train.class_weights=odd", &["train.class_weights", "odd", "balanced"]);
}

#[test]
fn missing_out_of_distribution_inputs_are_refused() {
    let folder = with_classes();
    folder.refuses("evaluate m.ign t.csv --ood none.csv", &["none.csv: no such file"]);
    folder.write("empty.csv", "a,b\n");
    folder.refuses("evaluate m.ign t.csv --ood empty.csv", &["empty.csv"]);
    folder.write("other.csv", "x,b\n1,2\n");
    folder.refuses("evaluate m.ign t.csv --ood other.csv", &["other.csv: column `a`"]);
}
