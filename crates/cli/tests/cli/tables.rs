//! Tables to train on, and a reader for the numbers that come out.

use std::fmt::Write;

/// A number in [0, 1) that looks random and is the same everywhere (SplitMix64).
pub(crate) fn noise(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// `a,b,y` with `y ≈ 2a − b`.
pub(crate) fn linear(rows: usize) -> String {
    let mut text = "a,b,y\n".to_owned();
    for (a, b, y) in (0..rows).map(linear_row) {
        writeln!(text, "{a},{b},{y}").expect("memory");
    }
    text
}

/// A row of [`linear`].
pub(crate) fn linear_row(row: usize) -> (f64, f64, f64) {
    let [a, b, e] = [0, 1, 2].map(|k| noise(3 * row as u64 + k));
    (a, b, 2.0 * a - b + 0.1 * (e - 0.5))
}

/// `a,b,y` with a label for low, middle and high values of `2a − b`: as many as there are `labels`, some of them wrong.
pub(crate) fn labelled(rows: usize, labels: &[&str]) -> String {
    let mut text = "a,b,y\n".to_owned();
    for row in 0..rows {
        let (a, b, y) = linear_row(row);
        let share = (y + 0.4 * (noise(9_000_000 + row as u64) - 0.5) + 1.0) / 3.0; // 2a − b lies in −1..2
        let class = ((share * labels.len() as f64) as usize).min(labels.len() - 1);
        writeln!(text, "{a},{b},{}", labels[class]).expect("memory");
    }
    text
}

/// Numbers with gaps, categories with gaps, truth values, dates, a constant, an empty column; the price of every
/// tenth row is missing.
pub(crate) fn mixed(rows: usize) -> String {
    let mut text = "size,colour,sold,day,unit,remark,price\n".to_owned();
    for row in 0..rows {
        let [a, b, c, e] = [0, 1, 2, 3].map(|k| noise(7_000_000 + 4 * row as u64 + k));
        let colour = ["red", "green", "blue", ""][(4.0 * b) as usize];
        let sold = ["yes", "no"][usize::from(c < 0.5)];
        let day = format!("2024-{:02}-{:02}", 1 + row % 12, 1 + row % 28);
        let size = if row % 9 == 4 { String::new() } else { format!("{:.3}", 10.0 * a) };
        let price = 10.0 * a
            + if colour == "red" { 5.0 } else { 0.0 }
            + if sold == "yes" { 2.0 } else { 0.0 }
            + 0.2 * e;
        let price = if row % 10 == 7 { String::new() } else { format!("{price:.4}") };
        writeln!(text, "{size},{colour},{sold},{day},kg,,{price}").expect("memory");
    }
    text
}

/// Names and columns of a table of numbers in CSV.
pub(crate) fn numbers(csv: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = csv.lines();
    let names: Vec<String> = lines.next().expect("a header").split(',').map(str::to_owned).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.push(cell.parse().unwrap_or_else(|_| panic!("`{cell}` is not a number")));
        }
    }
    (names, columns)
}

/// One column of such a table.
pub(crate) fn column(csv: &str, name: &str) -> Vec<f64> {
    texts(csv, name)
        .iter()
        .map(|cell| cell.parse().unwrap_or_else(|_| panic!("`{cell}` is not a number")))
        .collect()
}

/// One column of a table in CSV whose cells hold no commas.
pub(crate) fn texts(csv: &str, name: &str) -> Vec<String> {
    let names = header(csv);
    let position =
        names.iter().position(|other| other == name).unwrap_or_else(|| panic!("no `{name}` in {names:?}"));
    csv.lines().skip(1).map(|line| line.split(',').nth(position).expect("a cell").to_owned()).collect()
}

/// Names of a table's columns.
pub(crate) fn header(csv: &str) -> Vec<String> {
    csv.lines().next().expect("a header").split(',').map(str::to_owned).collect()
}
