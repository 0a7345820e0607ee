//! Dates as people write them, from training to prediction.

use crate::folder::Folder;
use crate::tables::column;

/// 60 rows whose target grows by the day from 1 January 2024 on, with dates as `write` puts day and month.
fn table(write: impl Fn(usize, usize) -> String) -> String {
    let row = |day: usize| format!("{},{}\n", write(day % 28 + 1, day / 28 + 1), 3 * day);
    "day,y\n".to_owned() + &(0..60).map(row).collect::<String>()
}

#[test]
fn a_prediction_of_ambiguous_dates_reads_them_in_the_order_of_the_training_table() {
    let folder = Folder::new();
    folder.write("iso.csv", "day\n2024-01-02\n2024-02-01\n2024-03-02\n");
    for (name, train, new) in [
        ("day", table(|d, m| format!("{d:02}/{m:02}/2024")), "day\n02/01/2024\n01/02/2024\n02/03/2024\n"),
        ("month", table(|d, m| format!("{m}-{d}-2024")), "day\n1-2-2024\n2-1-2024\n3-2-2024\n"),
    ] {
        folder.write("t.csv", train);
        folder.train("t.csv --target y -o m.ign --quiet").succeeds();
        folder.write("new.csv", new);
        let lines = new.lines().skip(1).map(|day| format!("{{\"day\": \"{day}\"}}\n"));
        folder.write("new.jsonl", lines.collect::<String>());
        let expected = column(&folder.ign("predict m.ign iso.csv").succeeds().stdout, "mean");
        assert!(expected[0] != expected[1] && expected[1] < expected[2], "{name} first: {expected:?}");
        for file in ["new.csv", "new.jsonl"] {
            folder.ign(&format!("predict m.ign {file} -o out.csv")).succeeds();
            assert_eq!(column(&folder.text("out.csv"), "mean"), expected, "{name} first: {file}");
        }
    }
}

#[test]
fn ambiguous_dates_are_refused_until_their_format_is_given() {
    let folder = Folder::new();
    folder.write("t.csv", table(|d, m| format!("{:02}/{m:02}/2024", d % 12 + 1)));
    let words = ["t.csv:2: column `day`: \"02/01/2024\"", "`--set data.date_format=day-first`"];
    folder.refuses_to_train("t.csv --target y -o m.ign", &words);
    folder.refuses_to_train(
        "t.csv --target y -o m.ign --set data.date_format=day-frist",
        &["day-frist", "day-first"],
    );
    for format in
        ["data.date_format=day-first", "data.date_format=%m/%d/%Y", "data.date_format.day=month-first"]
    {
        folder.train(&format!("t.csv --target y -o m.ign --quiet --set {format}")).succeeds();
        let info = folder.ign("info m.ign").succeeds().stdout;
        assert!(info.contains("day (date_time)"), "{format}: {info}");
        folder.ign("predict m.ign t.csv").succeeds();
    }
}
