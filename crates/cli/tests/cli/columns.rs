//! Columns of every type, gaps, and what the user is told about them.

use crate::folder::Folder;
use crate::tables::{column, linear, mixed};

#[test]
fn numbers_categories_truth_values_dates_and_gaps_are_learned_from_one_table() {
    let folder = Folder::new();
    folder.write("t.csv", mixed(300));
    let run = folder.train("t.csv --target price -o m.ign").succeeds();
    for notice in [
        "30 rows without target are not used",
        "column `unit` is constant",
        "column `remark` has no value",
        "column `size`: ",
        "missing values are filled in",
    ] {
        assert!(run.stderr.contains(notice), "no `{notice}` in {}", run.stderr);
    }
    let info = folder.ign("info m.ign").succeeds().stdout;
    let from = "size (number), colour (category), sold (boolean), day (date_time)\n";
    assert!(info.contains(from), "{info}");
    let means = column(&folder.ign("predict m.ign t.csv").succeeds().stdout, "mean");
    assert_eq!(means.len(), 300, "rows without a target are predicted too");
    assert!(means.iter().all(|mean| mean.is_finite()));
    let scores = folder.ign("evaluate m.ign t.csv").succeeds().stdout;
    assert!(scores.contains("(270 rows)") && scores.contains("skipped 30 rows without a target"), "{scores}");
}

#[test]
fn unseen_categories_are_counted_on_standard_error_and_predicted_all_the_same() {
    let folder = Folder::new();
    folder.write("t.csv", mixed(300));
    folder.train("t.csv --target price -o m.ign --quiet").succeeds();
    folder.write(
        "new.csv",
        "size,colour,sold,day\n1,red,yes,2024-02-01\n2,mauve,no,2024-02-02\n3,ochre,yes,2024-02-03\n4,mauve,no,2024-02-04\n",
    );
    let run = folder.ign("predict m.ign new.csv").succeeds();
    assert!(
        run.stderr.contains("column `colour`: 3 rows hold a category that was never seen"),
        "{}",
        run.stderr
    );
    assert_eq!(column(&run.stdout, "mean").len(), 4);
    assert!(folder.ign("predict m.ign new.csv --quiet").succeeds().stderr.is_empty());
}

#[test]
fn a_column_without_any_value_is_left_out_with_a_notice() {
    let folder = Folder::new();
    folder.write("t.csv", linear(60).replace('\n', ",\n").replacen("y,\n", "y,empty\n", 1));
    let run = folder.train("t.csv --target y -o m.ign").succeeds();
    assert!(
        run.stderr.contains("column `empty` has no value in the training rows and is not used"),
        "{}",
        run.stderr
    );
    folder.write("new.csv", linear(5));
    folder.ign("predict m.ign new.csv").succeeds();
}

#[test]
fn a_column_of_serial_texts_is_left_out_as_an_identifier() {
    let folder = Folder::new();
    let text: Vec<String> = linear(60)
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("{line},id") } else { format!("{line},row{i}") })
        .collect();
    folder.write("t.csv", text.join("\n"));
    let run = folder.train("t.csv --target y -o m.ign").succeeds();
    assert!(run.stderr.contains("column `id` looks like an identifier"), "{}", run.stderr);
}

#[test]
fn ten_thousand_columns_are_a_table_too() {
    let folder = Folder::new();
    let header: Vec<String> = (0..10_000).map(|k| format!("x{k}")).chain(["y".into()]).collect();
    let mut text = header.join(",") + "\n";
    for row in 0..12_u64 {
        let cells: Vec<String> =
            (0..10_001).map(|k| format!("{:.2}", crate::tables::noise(row * 10_001 + k))).collect();
        text += &(cells.join(",") + "\n");
    }
    folder.write("wide.csv", text);
    folder
        .train("wide.csv --target y -o m.ign --quiet --set encoder.frequencies=0 --set encoder.hidden=[4]")
        .succeeds();
    assert_eq!(column(&folder.ign("predict m.ign wide.csv").succeeds().stdout, "mean").len(), 12);
}

#[test]
fn two_rows_are_enough_to_train_and_predict() {
    let folder = Folder::new();
    folder.write("t.csv", "a,y\n1,2\n2,4\n");
    folder.train("t.csv --target y -o m.ign --quiet").succeeds();
    let means = column(&folder.ign("predict m.ign t.csv").succeeds().stdout, "mean");
    assert!(means.iter().all(|mean| mean.is_finite()));
}

/// Squares of squares of such targets leave the range of 64-bit floats, the targets themselves do not.
#[test]
fn targets_of_any_finite_size_make_a_model_that_can_be_used() {
    for factor in [1e-140, 1e39, 1e140] {
        let folder = Folder::new();
        let mut text = "a,b,y\n".to_owned();
        for row in 0..200 {
            let (a, b, y) = crate::tables::linear_row(row);
            text += &format!("{a},{b},{:e}\n", factor * y);
        }
        folder.write("t.csv", text);
        folder.train("t.csv --target y -o m.ign --quiet").succeeds();
        let means = column(&folder.ign("predict m.ign t.csv").succeeds().stdout, "mean");
        assert!(means.iter().all(|mean| mean.is_finite() && mean.abs() < 10.0 * factor), "{factor}");
        folder.ign("evaluate m.ign t.csv --json").succeeds().json();
    }
}

#[test]
fn one_wild_number_among_the_inputs_or_targets_does_not_spoil_the_model_file() {
    for column in [0, 2] {
        let folder = Folder::new();
        let wild = |(i, line): (usize, &str)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if i == 7 {
                cells[column] = if column == 2 { "1e140" } else { "1e300" };
            }
            cells.join(",")
        };
        folder.write("t.csv", linear(200).lines().enumerate().map(wild).collect::<Vec<_>>().join("\n"));
        folder.train("t.csv --target y -o m.ign --quiet").succeeds();
        folder.ign("info m.ign").succeeds();
        folder.ign("predict m.ign t.csv").succeeds();
    }
}
