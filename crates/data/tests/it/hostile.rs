//! Inputs that were made to do harm: pipes without writers, endless devices, huge numbers and huge images.

use std::path::Path;
use std::process::Command;

use inducing_data::{
    Column, EncodeOptions, GraphOptions, GraphSchema, GraphSource, ImageOptions, ImageProblem, ImageSize,
    ImageSource, Problem, ReadOptions, RowWriter, Simulated, Sink, Source, Table, TableSchema, Task,
    read_graphs, read_images, read_table,
};

use crate::folder::{Folder, texts};
use crate::images::make::{encoded, grey};

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
}

fn all_rows(table: &Table) -> Vec<usize> {
    (0..table.rows()).collect()
}

#[test]
fn a_huge_attribute_of_a_node_is_clipped_like_a_cell() {
    let folder = Folder::new();
    let graph = |value: &str, label: &str| {
        format!("{{\"nodes\": [[{value}], [1]], \"edges\": [[0, 1]], \"label\": \"{label}\"}}\n")
    };
    let train = [("0", "a"), ("2", "b"), ("3", "a"), ("1", "b")].map(|(x, label)| graph(x, label)).concat();
    folder.write("train.jsonl", train);
    folder.write("test.jsonl", graph("3.4028235e38", "a"));
    let read = |name: &str| read_graphs(&GraphSource::Path(folder.path(name)), true).expect("readable").0;
    let set = read("train.jsonl");
    let (schema, _) = GraphSchema::fit(&set, &[0, 1, 2, 3], &GraphOptions::default()).expect("two classes");
    let features = schema.encode(&read("test.jsonl")).expect("the same features");
    let most = features.x.iter().copied().fold(0.0, f32::max);
    assert_eq!(most, 1e6, "as cells of a table are");
}

#[test]
fn attributes_of_any_deviation_make_a_schema_without_fault() {
    for unit in ["e-44", "e-31", "e31", "e38"] {
        let folder = Folder::new();
        let graph = |x: u32, label: &str| {
            format!("{{\"nodes\": [[{x}{unit}], [-{x}{unit}]], \"edges\": [], \"label\": \"{label}\"}}\n")
        };
        folder.write("g.jsonl", [graph(1, "a"), graph(2, "b"), graph(3, "a")].concat());
        let set = read_graphs(&GraphSource::Path(folder.path("g.jsonl")), true).expect("readable").0;
        let (schema, _) = GraphSchema::fit(&set, &[0, 1, 2], &GraphOptions::default()).expect("two classes");
        assert_eq!(schema.fault(), None, "{unit}");
        let features = schema.encode(&set).expect("the same features");
        assert!(features.x.iter().all(|x| x.abs() < 3.0), "{unit}: {:?}", features.x);
    }
}

#[test]
fn targets_without_a_finite_square_are_refused_at_their_line() {
    let folder = Folder::new();
    let source = folder.write("t.csv", "x,y\n1,1e308\n2,-1.7e308\n3,5\n");
    let table = read_table(&source, &ReadOptions::default()).expect("finite numbers");
    let fit = |table: &Table| {
        TableSchema::fit(
            table,
            &["y".into()],
            Some(Task::Regression),
            &all_rows(table),
            &EncodeOptions::default(),
        )
    };
    let error = fit(&table).expect_err("too large");
    assert_eq!((error.line, error.column.as_deref()), (Some(2), Some("y")));
    assert!(matches!(*error.problem, Problem::TargetTooLarge { .. }), "{error}");
    let small = Table::new(
        "memory",
        vec![
            ("x".into(), Column::Number(vec![1.0, 2.0, 3.0])),
            ("y".into(), Column::Number(vec![1e-200, 2e-200, 3e-200])),
        ],
    );
    let error = fit(&small.expect("a table")).expect_err("too small");
    assert!(matches!(*error.problem, Problem::TargetTooSmall { .. }), "{error}");
    // A model of ordinary numbers, judged on rows with a wild one.
    let train = folder.write("train.csv", "x,y\n1,1\n2,1.5\n3,2\n");
    let (schema, _) = fit(&read_table(&train, &ReadOptions::default()).expect("readable")).expect("usable");
    let error = schema.targets(&table, None).expect_err("too large");
    assert_eq!(error.line, Some(2));
}

/// A PNG file that promises this size and holds next to nothing.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(data);
        [&(data.len() as u32).to_be_bytes()[..], kind, data, &crc.sum().to_be_bytes()].concat()
    };
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let header = [&size[..], &[8, 0, 0, 0, 0]].concat();
    let data = [0x78, 0x9c, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01];
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &data), chunk(b"IEND", &[])]
        .concat()
}

#[test]
fn a_long_flat_image_is_refused_before_it_is_resized() {
    let folder = Folder::new();
    folder.put("a/long.png", png_header(1 << 27, 1));
    folder.put("b/small.png", encoded(&grey(8, 8, 3), "small.png"));
    let options = ImageOptions { size: Some(ImageSize::new(28, 28)), ..ImageOptions::default() };
    let error = read_images(&ImageSource::Path(folder.path("")), &options, None).expect_err("too large");
    assert!(matches!(*error.problem, Problem::Image(ImageProblem::TooLarge { .. })), "{error}");
    assert!(error.file.ends_with("long.png"));
    let options = ImageOptions { skip_unreadable: true, ..options };
    folder.put("c/small.png", encoded(&grey(8, 8, 5), "small.png"));
    let (set, _) = read_images(&ImageSource::Path(folder.path("")), &options, None).expect("two are left");
    assert_eq!(set.len(), 2);
}

#[test]
fn images_larger_than_a_network_reads_are_refused() {
    let folder = Folder::new();
    folder.put("a/1.png", encoded(&grey(8, 8, 3), "1.png"));
    folder.put("b/1.png", encoded(&grey(8, 8, 9), "1.png"));
    let options = ImageOptions { size: Some(ImageSize::new(8192, 8192)), ..ImageOptions::default() };
    let error = read_images(&ImageSource::Path(folder.path("")), &options, None).expect_err("too large");
    assert!(matches!(*error.problem, Problem::Image(ImageProblem::TooManyPixels { .. })), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_among_images_is_refused_and_not_waited_for() {
    let folder = Folder::new();
    folder.put("a/1.png", encoded(&grey(8, 8, 3), "1.png"));
    folder.put("b/1.png", encoded(&grey(8, 8, 9), "1.png"));
    fifo(&folder.path("a/2.png"));
    let source = ImageSource::Path(folder.path(""));
    let error = read_images(&source, &ImageOptions::default(), None).expect_err("a pipe");
    assert!(error.to_string().contains("not a regular file"), "{error}");
    assert!(error.file.ends_with("2.png"));
    let options = ImageOptions { skip_unreadable: true, ..ImageOptions::default() };
    assert_eq!(read_images(&source, &options, None).expect("two are left").0.len(), 2);
    // Nor is one that the user names.
    let named = ImageSource::Files(vec![folder.path("a/2.png")]);
    assert!(read_images(&named, &ImageOptions { need_labels: false, ..options }, None).is_err());
    let name = folder.path("a/2.png").display().to_string();
    assert!(ImageSource::recognise(std::slice::from_ref(&name), None).is_ok());
    assert!(GraphSource::recognise(&[name], None).is_ok_and(|source| source.is_none()));
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_files_of_graphs_is_refused() {
    let folder = Folder::new();
    folder.write("T_A.txt", "1, 2\n");
    fifo(&folder.path("T_graph_indicator.txt"));
    let error = read_graphs(&GraphSource::Path(folder.path("")), false).expect_err("a pipe");
    assert_eq!(*error.problem, Problem::NotARegularFile);
}

#[cfg(unix)]
#[test]
fn tables_are_read_from_pipes_but_endless_zeros_are_not() {
    let folder = Folder::new();
    let path = folder.path("pipe");
    fifo(&path);
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, "a,b\n1,x\n2,y\n")
    });
    let table = read_table(&Source::Path(path), &ReadOptions::default()).expect("a table");
    writer.join().expect("no panic").expect("writable");
    assert_eq!(table.rows(), 2);
    let error = read_table(&Source::new("/dev/zero"), &ReadOptions::default()).expect_err("zeros");
    assert_eq!(*error.problem, Problem::NotATable { what: "binary data" });
    let error = read_table(&Source::new("/dev/null"), &ReadOptions::default()).expect_err("nothing");
    assert_eq!(*error.problem, Problem::Empty);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_told_in_every_format() {
    for format in
        [inducing_data::Format::Csv, inducing_data::Format::JsonLines, inducing_data::Format::Parquet]
    {
        let batch = Simulated::Levy.sample(5000, 0, 0.0).to_batch().expect("five columns");
        let sink = Sink::Path("/dev/full".into());
        let mut writer = RowWriter::create(&sink, Some(format), batch.schema()).expect("a device");
        let error = writer.write(&batch).and_then(|()| writer.finish()).expect_err("full");
        assert!(matches!(*error.problem, Problem::NoSpace { .. }), "{error}");
    }
}

#[test]
fn many_columns_are_found_by_name_without_a_scan() {
    // With a scan for each column this is 10¹⁰ comparisons of names.
    let columns = 100_000;
    let header: Vec<String> = (0..columns).map(|i| format!("a_rather_long_name_of_a_column_{i}")).collect();
    let row =
        |shift: usize| (0..columns).map(|i| ((i + shift) % 7).to_string()).collect::<Vec<_>>().join(",");
    let text = format!("{}\n{}\n{}\n{}\n", header.join(","), row(0), row(1), row(2));
    let folder = Folder::new();
    let mut options = ReadOptions::default();
    options.column_types.extend(header.iter().map(|name| (name.clone(), inducing_data::ColumnType::Number)));
    let table = read_table(&folder.write("wide.csv", text), &options).expect("readable");
    let targets = [header[columns - 1].clone()];
    let (schema, _) = TableSchema::fit(&table, &targets, None, &all_rows(&table), &EncodeOptions::default())
        .expect("usable");
    assert_eq!(schema.encode(&table, None).expect("the same table").width, columns - 1);
    assert_eq!(schema.fault(), None);
    let ranges = schema.feature_ranges();
    assert_eq!(ranges[columns - 2], [columns - 2..columns - 1, columns - 1..columns - 1]);
}

#[test]
fn labels_keep_their_spelling_where_asked_to() {
    let folder = Folder::new();
    let options = ReadOptions { keep_spelling: vec!["y".into()], ..ReadOptions::default() };
    for (name, text) in [
        ("t.csv", "x,y\n1,Yes\n2,no\n3,Yes\n4,no\n"),
        (
            "t.jsonl",
            "{\"x\":1,\"y\":\"Yes\"}\n{\"x\":2,\"y\":\"no\"}\n{\"x\":3,\"y\":\"Yes\"}\n{\"x\":4,\"y\":\"no\"}\n",
        ),
    ] {
        let source = folder.write(name, text);
        let table = read_table(&source, &options).expect("readable");
        assert_eq!(texts(&table, "y")[0].as_deref(), Some("Yes"), "{name}");
        let (schema, _) =
            TableSchema::fit(&table, &["y".into()], None, &all_rows(&table), &EncodeOptions::default())
                .expect("two classes");
        assert_eq!(schema.targets.classes().expect("classes").levels, ["Yes", "no"]);
        let plain = read_table(&source, &ReadOptions::default()).expect("readable");
        assert!(matches!(plain.column("y"), Ok(Column::Boolean(_))));
    }
    let typed = folder.write("b.jsonl", "{\"y\":true}\n{\"y\":false}\n");
    let table = read_table(&typed, &options).expect("readable");
    assert!(matches!(table.column("y"), Ok(Column::Boolean(_))), "typed booleans have no spelling");
    let numbers = folder.write("n.csv", "x,y\n1,0\n2,1\n");
    let table = read_table(&numbers, &options).expect("readable");
    assert!(matches!(table.column("y"), Ok(Column::Number(_))), "only booleans are spelled");
}
