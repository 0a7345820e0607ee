//! A data directory with few made rows in the published formats of the paper's sets.

use crate::folder::Folder;
use crate::image_files::{cifar, idx_images, idx_labels};
use crate::tables::noise;
use std::fmt::Write;

/// Lines of `rows` rows, each made from a generator of numbers in [0, 1).
fn lines(head: &str, rows: usize, line: impl Fn(usize, &dyn Fn(u64) -> f64) -> String) -> String {
    let mut text = format!("{head}\n");
    for row in 0..rows {
        let random = |k: u64| noise(row as u64 * 64 + k);
        writeln!(text, "{}", line(row, &random)).expect("memory");
    }
    text
}

fn protein(rows: usize) -> String {
    lines("RMSD,F1,F2,F3,F4,F5,F6,F7,F8,F9", rows, |_, random| {
        let inputs: Vec<String> = (1..10).map(|k| format!("{:.3}", 100.0 * random(k))).collect();
        format!("{:.3},{}", 10.0 * random(1) + random(20), inputs.join(","))
    })
}

/// Every ninth value is missing.
fn pm25(rows: usize) -> String {
    lines("No,year,month,day,hour,pm2.5,DEWP,TEMP,PRES,cbwd,Iws,Is,Ir", rows, |row, random| {
        let wind = ["NE", "NW", "SE", "cv"][row % 4];
        let dust = match row % 9 {
            4 => "NA".to_owned(),
            _ => format!("{}", (300.0 * random(1)) as u32),
        };
        let (no, day, hour) = (row + 1, 1 + row / 24 % 28, row % 24);
        let [dew, temperature] = [2, 3].map(|k| (40.0 * random(k)) as i32 - 20);
        let (year, month, pressure, speed) = (2010 + row % 5, 1 + row % 12, 1000 + row % 30, 9.0 * random(4));
        let [snow, rain] = [row % 3, row % 5];
        format!(
            "{no},{year},{month},{day},{hour},{dust},{dew},{temperature},{pressure},{wind},{speed:.2},{snow},{rain}"
        )
    })
}

/// All cells quoted, some padded.
fn energy(rows: usize) -> String {
    let mut names = vec!["date".to_owned(), "Appliances".into(), "lights".into()];
    (1..=9).for_each(|k| names.extend([format!("T{k}"), format!("RH_{k}")]));
    let rest = "T_out Press_mm_hg RH_out Windspeed Visibility Tdewpoint rv1 rv2";
    names.extend(rest.split(' ').map(str::to_owned));
    let head: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    lines(&head.join(","), rows, |row, random| {
        let date = format!("\"2016-01-{:02} {:02}:{:02}:00\"", 11 + row / 144, row / 6 % 24, 10 * (row % 6));
        let cells = (2..names.len()).map(|k| format!("\"{:.6}\"", 20.0 * random(k as u64)));
        let target = format!("\"  {}\"", 10 * (1 + (8.0 * random(3)) as u32));
        [date, target].into_iter().chain(cells).collect::<Vec<_>>().join(",")
    })
}

/// `casual + registered = cnt` in every row.
fn bike_hour(rows: usize) -> String {
    let head = "instant,dteday,season,yr,mnth,hr,holiday,weekday,workingday,weathersit,temp,atemp,hum,windspeed,casual,registered,cnt";
    lines(head, rows, |row, random| {
        let [casual, registered] = [1, 2].map(|k| (100.0 * random(k)) as u32);
        format!(
            "{},2011-01-{:02},{},{},{},{},{},{},{},{},{:.2},{:.4},{:.2},{:.4},{casual},{registered},{}",
            row + 1,
            1 + row / 24 % 28,
            1 + row % 4,
            row % 2,
            1 + row % 12,
            row % 24,
            u8::from(row % 11 == 0),
            row / 24 % 7,
            u8::from(row % 7 < 5),
            1 + row % 3,
            random(3),
            random(4),
            random(5),
            random(6),
            casual + registered,
        )
    })
}

/// The index has no name; `avg` is missing where `count` is 0.
fn query(rows: usize) -> String {
    lines(",x,y,x_range,y_range,count,sum_,avg", rows, |row, random| {
        let count = (9.0 * random(3)) as u32;
        let avg = if count == 0 { String::new() } else { "0.3".to_owned() };
        let [x, y] = [1, 2].map(|k| 1_160_000.0 + 8000.0 * random(k));
        format!(
            "{row},{x},{y},{:.4},{:.4},{count},{},{avg}",
            8000.0 * random(3),
            15_000.0 * random(4),
            2 * count
        )
    })
}

/// A small table of so many inputs.
fn small(inputs: u64, rows: usize) -> String {
    let names: Vec<String> = (0..inputs).map(|k| format!("x{k}")).collect();
    lines(&format!("{},y", names.join(",")), rows, |_, random| {
        let cells: Vec<String> = (1..=inputs).map(|k| format!("{:.4}", random(k) - 0.5)).collect();
        format!("{},{:.4}", cells.join(","), 3.0 * random(1) + random(40))
    })
}

fn reviews(rows: usize, first: usize) -> String {
    let mut text = String::new();
    for row in first..first + rows {
        let good = noise(row as u64) < 0.5;
        let words = if good { "a wonderful film" } else { "an awful film" };
        let line = serde_json::json!({
            "id": row, "rating": if good { 9 } else { 2 }, "label": u8::from(good), "text": format!("{words}, number {row}"),
        });
        writeln!(text, "{line}").expect("memory");
    }
    text
}

/// Rings and stars in turn, as files of the TU Dortmund collection.
fn put_graphs(folder: &Folder, rows: usize) {
    let (mut edges, mut indicator, mut labels, mut before) = (String::new(), String::new(), String::new(), 1);
    for row in 0..rows {
        let nodes = 4 + row % 5;
        for node in 1..nodes {
            let other = if row % 2 == 0 { node - 1 } else { 0 };
            let (a, b) = (before + node, before + other);
            writeln!(edges, "{a}, {b}\n{b}, {a}").expect("memory");
        }
        (0..nodes).for_each(|_| writeln!(indicator, "{}", row + 1).expect("memory"));
        writeln!(labels, "{}", row % 2).expect("memory");
        before += nodes;
    }
    folder.put("sets/imdb-graph/IMDB-BINARY_A.txt", edges);
    folder.put("sets/imdb-graph/IMDB-BINARY_graph_indicator.txt", indicator);
    folder.put("sets/imdb-graph/IMDB-BINARY_graph_labels.txt", labels);
}

impl Folder {
    /// A folder with all of the paper's sets in `sets/`, but for Query, and three small tables.
    pub(crate) fn with_sets() -> Self {
        let folder = Self::new();
        folder.put("sets/protein/CASP.csv", protein(200));
        folder.put("sets/pm25/PRSA_data_2010.1.1-2014.12.31.csv", pm25(200));
        folder.put("sets/energy/energydata_complete.csv", energy(200));
        folder.put("sets/bike-hour/hour.csv", bike_hour(200));
        folder.put("sets/imdb-text/train.jsonl", reviews(80, 0));
        folder.put("sets/imdb-text/test.jsonl", reviews(40, 1000));
        folder.put("sets/mnist/train-images-idx3-ubyte", idx_images(140, 7, 8, 0));
        folder.put("sets/mnist/train-labels-idx1-ubyte", idx_labels(140, 7));
        folder.put("sets/mnist/t10k-images-idx3-ubyte", idx_images(70, 7, 8, 500));
        folder.put("sets/mnist/t10k-labels-idx1-ubyte", idx_labels(70, 7));
        folder.put("sets/cifar10/data_batch_1.bin", cifar(40, 4));
        folder.put("sets/cifar10/test_batch.bin", cifar(20, 4));
        put_graphs(&folder, 60);
        folder.put("sets/uci-small/concrete.csv", small(8, 120));
        folder.put("sets/uci-small/energy.csv", small(8, 100));
        folder.put("sets/uci-small/yacht.csv", small(6, 80));
        folder
    }

    /// And Query.
    pub(crate) fn put_query(&self) {
        self.put("sets/query/Range-Queries-Aggregates.csv", query(300));
    }
}
