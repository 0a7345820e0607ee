//! The same run gives the same bytes.

use crate::folder::Folder;
use crate::tables::mixed;

fn with_table() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", mixed(300));
    folder
}

#[test]
fn the_same_seed_gives_the_same_model_file_and_another_seed_another() {
    let folder = with_table();
    for (name, seed) in [("a", 3), ("b", 3), ("c", 4)] {
        folder.train(&format!("t.csv --target price --quiet -o {name}.ign --seed {seed}")).succeeds();
    }
    assert_eq!(folder.read("a.ign"), folder.read("b.ign"));
    assert_ne!(folder.read("a.ign"), folder.read("c.ign"));
}

#[test]
fn predicting_twice_gives_the_same_bytes() {
    let folder = with_table();
    folder.train("t.csv --target price --quiet -o m.ign").succeeds();
    let predict = || folder.ign("predict --columns all m.ign t.csv --interval 0.9").succeeds().stdout;
    assert_eq!(predict(), predict());
}

/// What holds: work is cut into parts whose sums do not depend on who computes them, in the encoder as in the
/// process, so that the number of threads changes the time alone. The sizes are large enough for work to be cut.
#[test]
fn the_number_of_threads_changes_no_bit_of_model_and_predictions() {
    let folder = with_table();
    let wide = "--set gp.inducing=250 --set encoder.hidden=[64,32] --set encoder.features=32 --set encoder.members=4";
    for threads in [1, 2, 3] {
        folder
            .train(&format!("t.csv --target price --quiet {wide} -o {threads}.ign --threads {threads}"))
            .succeeds();
        folder.ign(&format!("predict 1.ign t.csv --quiet -o {threads}.csv --threads {threads}")).succeeds();
    }
    for threads in [2, 3] {
        assert_eq!(folder.read("1.ign"), folder.read(&format!("{threads}.ign")), "{threads} threads");
        assert_eq!(folder.read("1.csv"), folder.read(&format!("{threads}.csv")), "{threads} threads");
    }
}

/// Predictions are made in blocks of 8192 rows; where a block ends must not be seen.
#[test]
fn a_row_is_predicted_alike_in_every_block() {
    let folder = Folder::with_model();
    let text = folder.text("t.csv");
    let (header, rows) = text.split_once('\n').expect("a header");
    folder.write("long.csv", format!("{header}\n{}", rows.repeat(90))); // 18,000 rows
    let long = folder.ign("predict --columns all m.ign long.csv").succeeds().stdout;
    let lines: Vec<&str> = long.lines().skip(1).collect();
    assert_eq!(lines.len(), 18_000);
    let first = crate::tables::numbers(&format!("h,h,h\n{}", lines[..200].join("\n"))).1;
    for part in lines.chunks(200) {
        let mine = crate::tables::numbers(&format!("h,h,h\n{}", part.join("\n"))).1;
        for (a, b) in first.iter().flatten().zip(mine.iter().flatten()) {
            // f32 features; rows at the ragged end of a block may be summed in another order.
            assert!((a - b).abs() <= 1e-5 * a.abs().max(0.1), "{a} {b}");
        }
    }
}
