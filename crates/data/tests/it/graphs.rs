//! Graphs from files to node features.

use std::io::Write;

use inducing_data::{
    DatasetPart, DegreeFeature, GraphOptions, GraphProblem, GraphSchema, GraphSet, GraphSource, ImageSource,
    NamedSet, NamedTable, Notice, Problem, ReadOptions, read_graphs, read_table,
};
use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use crate::folder::{Folder, gzip};

/// Two triangles, a path of three nodes, and a single node.
const EDGES: &str = "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n1, 2\n2, 1\n4, 5\n5, 6\n6, 4\n7, 8\n8,9\n";
const INDICATOR: &str = "1\n1\n1\n2\n2\n2\n3\n3\n3\n4\n";
const LABELS: &str = "1\n1\n-1\n-1\n";

impl Folder {
    fn tu(&self, files: &[(&str, &str)]) -> GraphSource {
        for (ending, content) in files {
            self.write(&format!("TINY_{ending}.txt"), content);
        }
        GraphSource::Path(self.path(""))
    }

    fn zip(&self, name: &str, files: &[(&str, &[u8])]) -> GraphSource {
        let file = std::fs::File::create(self.path(name)).expect("writable");
        let mut writer = zip::ZipWriter::new(file);
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default()).expect("writable");
            writer.write_all(content).expect("writable");
        }
        writer.finish().expect("writable");
        GraphSource::Path(self.path(name))
    }

    fn json(&self, content: &str) -> GraphSource {
        self.write("g.jsonl", content);
        GraphSource::Path(self.path("g.jsonl"))
    }
}

fn tiny() -> GraphSet {
    let folder = Folder::new();
    let source = folder.tu(&[("A", EDGES), ("graph_indicator", INDICATOR), ("graph_labels", LABELS)]);
    read_graphs(&source, true).expect("readable").0
}

/// The problem of a source, the end of its file's name and its line; the error carries a remedy.
#[track_caller]
fn problem(source: &GraphSource, need_labels: bool) -> (Problem, String, Option<u64>) {
    let error = read_graphs(source, need_labels).expect_err("unreadable");
    assert!(error.hint().is_some(), "{error}");
    (*error.problem, error.file.rsplit(['/', ' ']).next().unwrap_or_default().to_owned(), error.line)
}

#[track_caller]
fn tu_problem(changed: &str, content: &str) -> (GraphProblem, String, Option<u64>) {
    let folder = Folder::new();
    folder.tu(&[("A", EDGES), ("graph_indicator", INDICATOR), ("graph_labels", LABELS)]);
    match problem(&folder.tu(&[(changed, content)]), true) {
        (Problem::Graph(problem), file, line) => (problem, file, line),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_or_zip_of_the_collection_is_read() {
    let set = tiny();
    assert_eq!((set.len(), set.node_count(), set.edge_count()), (4, 10, 8));
    assert_eq!((set.nodes_of(2), set.neighbours_of(7), set.neighbours_of(9)), (6..9, &[0, 2][..], &[][..]));
    assert_eq!((set.classes.as_slice(), set.counts()), (&["-1".to_owned(), "1".to_owned()][..], vec![2, 2]));
    assert_eq!(set.labels, Some(vec![1, 1, 0, 0]));
    let folder = Folder::new();
    let source = folder.zip(
        "TINY.zip",
        &[
            ("TINY//README.txt", b"hello"),
            ("TINY//TINY_A.txt", EDGES.as_bytes()),
            ("__MACOSX/._TINY_A.txt", b"\0"),
            ("TINY//TINY_graph_indicator.txt", INDICATOR.as_bytes()),
            ("TINY//TINY_graph_labels.txt", LABELS.as_bytes()),
        ],
    );
    let (zipped, notices) = read_graphs(&source, true).expect("readable");
    assert!(notices.is_empty());
    assert_eq!(GraphSet { origin: set.origin.clone(), ..zipped }, set);
}

#[test]
fn loops_are_left_out_and_counted() {
    let folder = Folder::new();
    let edges = format!("{EDGES}10, 10\n");
    let source = folder.tu(&[("A", &edges), ("graph_indicator", INDICATOR), ("graph_labels", LABELS)]);
    let (set, notices) = read_graphs(&source, true).expect("readable");
    assert_eq!((set.edges, notices), (tiny().edges, vec![Notice::LoopsDropped { count: 1 }]));
}

#[test]
fn node_labels_and_attributes_become_features() {
    let folder = Folder::new();
    let source = folder.tu(&[
        ("A", EDGES),
        ("graph_indicator", INDICATOR),
        ("graph_labels", LABELS),
        ("node_labels", "7\n7\n10\n7\n7\n10\n7\n7\n10\n3\n"),
        ("node_attributes", "0, 5\n1, 5\n2, 5\n3, 5\n4, 5\n5, 5\n6, 5\n7, 5\n8, 5\n1e3, 5\n"),
    ]);
    let (set, _) = read_graphs(&source, true).expect("readable");
    let (schema, _) = GraphSchema::fit(&set, &[0, 2], &GraphOptions::default()).expect("usable");
    assert_eq!(schema.node_levels, ["7", "10"], "3 is held out; numbers in their order");
    assert_eq!((schema.width(), schema.counts.as_slice()), (3 + 2 + 2, &[1, 1][..]));
    let features = schema.encode(&set).expect("fits");
    assert_eq!((features.width, features.x.len(), features.unseen), (7, 70, 1));
    // Node 0 has two neighbours and the label 7; 0, 1, 2, 6, 7, 8 have the mean 4 and the variance 29/3.
    assert_eq!(features.x[..5], [0.0, 0.0, 1.0, 1.0, 0.0]);
    assert!((features.x[5] + 4.0 / (29.0f32 / 3.0).sqrt()).abs() < 1e-6); // f32 rounding
    assert_eq!(features.x[6], 0.0, "a constant tells nothing");
    assert_eq!(features.x[63..68], [1.0, 0.0, 0.0, 0.0, 0.0], "a single node of an unseen label");
    let numbers = GraphOptions { degree: DegreeFeature::Number };
    let (schema, _) = GraphSchema::fit(&set, &[0, 1, 2, 3], &numbers).expect("usable");
    let features = schema.encode(&set).expect("fits");
    let degrees: Vec<f32> = features.x.chunks_exact(features.width).map(|row| row[0]).collect();
    assert!(degrees.iter().sum::<f32>().abs() < 1e-5, "standardised"); // ten roundings of f32
    let capped = GraphOptions { degree: DegreeFeature::OneHot { cap: 1 } };
    let (schema, _) = GraphSchema::fit(&set, &[0, 1, 2, 3], &capped).expect("usable");
    assert_eq!(schema.encode(&set).expect("fits").x[..2], [0.0, 1.0], "two neighbours count as one and more");
}

#[test]
fn a_schema_survives_json_and_a_forged_one_is_found() {
    let set = tiny();
    let numbers = GraphOptions { degree: DegreeFeature::Number };
    let (schema, _) = GraphSchema::fit(&set, &[0, 1, 2, 3], &numbers).expect("usable");
    let json = serde_json::to_string(&schema).expect("all numbers are finite");
    assert_eq!(serde_json::from_str::<GraphSchema>(&json).expect("valid"), schema);
    assert_eq!(schema.fault(), None);
    let levels = |levels: &[&str]| GraphSchema {
        node_levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        ..schema.clone()
    };
    assert!(levels(&["a", "b"]).fault().is_none() && levels(&["a", "a"]).fault().is_some());
    let forged = json.replacen("\"std\":", "\"std\":-", 1);
    assert!(serde_json::from_str::<GraphSchema>(&forged).expect("a number").fault().is_some());
    let options: GraphOptions =
        serde_json::from_str(r#"{"degree": {"one_hot": {"cap": 5}}}"#).expect("valid");
    assert_eq!(options.degree, DegreeFeature::OneHot { cap: 5 });
    let options: GraphOptions = serde_json::from_str(r#"{"degree": "number"}"#).expect("valid");
    assert_eq!(options.degree, DegreeFeature::Number);
}

#[test]
fn labels_conform_to_the_models_classes() {
    let folder = Folder::new();
    let (schema, _) = GraphSchema::fit(&tiny(), &[0, 1, 2, 3], &GraphOptions::default()).expect("usable");
    let source = folder.json("{\"nodes\": 1, \"edges\": [], \"label\": 1}\n{\"nodes\": 1, \"edges\": [], \"label\": \"-1\"}\n{\"nodes\": 2, \"edges\": [], \"label\": 1}\n");
    let set = schema.conform(read_graphs(&source, true).expect("readable").0).expect("known classes");
    assert_eq!(set.labels, Some(vec![1, 0, 1]));
    let source = folder
        .json("{\"nodes\": 1, \"edges\": [], \"label\": 1}\n{\"nodes\": 1, \"edges\": [], \"label\": 2}\n");
    let error = schema.conform(read_graphs(&source, true).expect("readable").0).expect_err("2 is new");
    assert_eq!(
        (error.row, matches!(*error.problem, Problem::UnknownLabel { .. })),
        (Some(2), true),
        "{error}"
    );
    let unlabelled = schema.conform(tiny().unlabelled()).expect("no labels to check");
    assert_eq!(unlabelled.labels, None);
    let wanting = GraphSchema { node_levels: vec!["a".into()], ..schema };
    let error = wanting.conform(tiny()).expect_err("no labels of nodes");
    assert!(matches!(*error.problem, Problem::Graph(GraphProblem::MissingFeatures { .. })));
    assert!(wanting.encode(&tiny()).is_err());
}

#[test]
fn training_needs_labels_of_two_classes() {
    let fit = |set: &GraphSet, rows: &[usize]| {
        *GraphSchema::fit(set, rows, &GraphOptions::default()).expect_err("unusable").problem
    };
    assert_eq!(fit(&tiny().unlabelled(), &[0, 1]), Problem::Graph(GraphProblem::NoClasses));
    assert_eq!(fit(&tiny(), &[0]), Problem::TooFewRows { rows: 1 });
    assert_eq!(fit(&tiny(), &[0, 1]), Problem::OneClass { label: "1".into(), rows: 2 });
    assert!(matches!(fit(&tiny().select(&[0, 2]), &[0, 1]), Problem::TooManyClasses { classes: 2, .. }));
    let (_, notices) =
        GraphSchema::fit(&tiny().select(&[0, 1, 2]), &[0, 1, 2], &GraphOptions::default()).expect("usable");
    assert_eq!(notices, [Notice::SingleExamples { column: None, classes: vec!["-1".into()] }]);
}

#[test]
fn faults_of_the_collections_files_are_told_with_their_lines() {
    let no_node = |node| GraphProblem::NoSuchNode { node, first: 1, last: 10 };
    for (changed, content, expected, line) in [
        ("A", "1, 2\n\n3, 11\n", no_node(11), 3),
        ("A", "0, 1\n", no_node(0), 1),
        ("A", "1, 2\n3, 4\n", GraphProblem::EdgeBetweenGraphs { from: 1, to: 2 }, 2),
        (
            "A",
            "1, x\n",
            GraphProblem::NotANumber { expected: "the number of a node, from 1", got: "x".into() },
            1,
        ),
        ("A", "1\n", GraphProblem::NotANumber { expected: "two nodes such as `1, 2`", got: "1".into() }, 1),
        ("graph_indicator", "1\n2\n1\n", GraphProblem::NotInOrder { graph: 1, before: 2 }, 3),
        ("graph_indicator", "1\n3\n", GraphProblem::EmptyGraph { graph: 2 }, 2),
        ("graph_indicator", "2\n", GraphProblem::EmptyGraph { graph: 1 }, 1),
        ("graph_indicator", "1\n2\n3\n4\n5\n", GraphProblem::GraphWithoutLabel { graph: 5, labels: 4 }, 5),
        ("graph_labels", "1\n0\n1\n", GraphProblem::GraphWithoutLabel { graph: 4, labels: 3 }, 10),
        ("graph_labels", "1\n0\n1\n0\n1\n", GraphProblem::LabelWithoutGraph { labels: 5, graphs: 4 }, 5),
        (
            "graph_labels",
            "1\ntwo\n",
            GraphProblem::NotANumber { expected: "a whole number as the graph's class", got: "two".into() },
            2,
        ),
        ("node_attributes", "1, 2\n1\n", GraphProblem::AttributeWidth { expected: 2, got: 1 }, 2),
    ] {
        let file = if changed == "graph_labels" && line == 10 { "graph_indicator" } else { changed };
        let expected = (expected, format!("TINY_{file}.txt"), Some(line));
        assert_eq!(tu_problem(changed, content), expected, "{changed}: {content}");
    }
    let short = GraphProblem::NodeLines { nodes: 10, lines: 2 };
    assert_eq!(tu_problem("node_labels", "1\n2\n"), (short, "TINY_node_labels.txt".into(), None));
}

#[test]
fn files_that_are_missing_or_not_text_are_told() {
    let folder = Folder::new();
    let missing = |name: &str| Problem::Graph(GraphProblem::MissingFile { name: name.to_owned() });
    let source = folder.tu(&[]);
    assert_eq!(problem(&source, true).0, missing("NAME_A.txt"));
    folder.tu(&[("A", EDGES)]);
    assert_eq!(problem(&source, true).0, missing("TINY_graph_indicator.txt"));
    folder.tu(&[("graph_indicator", INDICATOR)]);
    assert_eq!(problem(&source, true).0, missing("TINY_graph_labels.txt"));
    assert_eq!(read_graphs(&source, false).expect("labels are optional").0.labels, None);
    folder.write("TINY_graph_labels.txt", b"1\n\xff\n");
    assert_eq!(problem(&source, true), (Problem::NotUtf8, "TINY_graph_labels.txt".into(), Some(2)));
    folder.tu(&[("graph_indicator", "\n"), ("graph_labels", "")]);
    assert_eq!(problem(&source, true).0, Problem::Empty);
    folder.write("OTHER_A.txt", EDGES);
    assert!(matches!(problem(&source, true).0, Problem::Graph(GraphProblem::SeveralSets { .. })));
    assert_eq!(problem(&GraphSource::Path(folder.path("no.zip")), true).0, Problem::NoSuchFile);
}

#[test]
fn a_damaged_zip_and_a_bomb_are_refused() {
    let folder = Folder::new();
    let edges = EDGES.repeat(50);
    let files = [
        ("TINY_A.txt", edges.as_bytes()),
        ("TINY_graph_indicator.txt", INDICATOR.as_bytes()),
        ("TINY_graph_labels.txt", LABELS.as_bytes()),
    ];
    let source = folder.zip("t.zip", &files);
    let whole = std::fs::read(folder.path("t.zip")).expect("readable");
    let broken = |content: &[u8]| {
        folder.write("t.zip", content);
        let recognised = GraphSource::recognise(&[folder.path("t.zip").display().to_string()], None);
        assert_eq!(recognised.expect("a path"), Some(source.clone()), "told as a zip, not as a table");
        matches!(problem(&source, true).0, Problem::Graph(GraphProblem::BrokenZip { .. }))
    };
    assert!(broken(&whole[..whole.len() / 2]), "cut off");
    assert!(broken(b"PK\x03\x04 and nothing else"));
    let mut flipped = whole.clone();
    flipped[60] ^= 0xff;
    assert!(broken(&flipped), "other content than its checksum says");
    let zeros = vec![b'1'; 80 << 20];
    let bomb = folder.zip("bomb.zip", &[("B_A.txt", &zeros), ("B_graph_indicator.txt", b"1\n")]);
    assert!(std::fs::metadata(folder.path("bomb.zip")).expect("readable").len() < 1 << 20);
    assert!(matches!(problem(&bomb, true).0, Problem::Graph(GraphProblem::TooLarge { bomb: true, .. })));
}

#[test]
fn json_lines_of_graphs_are_read_packed_or_not() {
    let folder = Folder::new();
    let content = "{\"nodes\": 3, \"edges\": [[0, 1], [1, 0], [2, 2]], \"label\": \"b\", \"id\": 7}\n\n\
                   {\"edges\": [], \"nodes\": 1, \"label\": \"a\"}\n";
    let (set, notices) = read_graphs(&folder.json(content), true).expect("readable");
    assert_eq!((set.nodes.as_slice(), set.neighbours.as_slice()), (&[0, 3, 4][..], &[0, 1, 2, 2, 2][..]));
    assert_eq!((set.edges.as_slice(), set.labels.as_deref()), (&[1, 0][..], Some(&[1, 0][..])));
    assert_eq!(notices, [Notice::LoopsDropped { count: 1 }]);
    folder.write("g.jsonl.gz", gzip(content.as_bytes()));
    let packed = GraphSource::given(&folder.path("g.jsonl.gz").display().to_string(), None).expect("a path");
    assert_eq!(read_graphs(&packed, true).expect("readable").0.edges, set.edges);
    assert_eq!(GraphSource::given("-", None).expect("a pipe"), GraphSource::Stdin);
    let source = folder.json(
        "{\"nodes\": [{\"label\": \"C\", \"attributes\": [1, 2.5]}, {\"attributes\": [0, -1], \"label\": 8}], \"edges\": [[1, 0]]}\n",
    );
    let (set, _) = read_graphs(&source, false).expect("readable");
    assert_eq!(
        (set.node_levels.as_slice(), set.node_labels),
        (&["8".to_owned(), "C".into()][..], Some(vec![1, 0]))
    );
    assert_eq!((set.attribute_width, set.attributes.as_slice()), (2, &[1.0, 2.5, 0.0, -1.0][..]));
    let plain =
        folder.json("{\"nodes\": [\"C\", \"O\"], \"edges\": []}\n{\"nodes\": [\"C\"], \"edges\": []}\n");
    assert_eq!(read_graphs(&plain, false).expect("readable").0.node_labels, Some(vec![0, 1, 0]));
    let plain = folder.json("{\"nodes\": [[1], [2]], \"edges\": []}\n");
    assert_eq!(read_graphs(&plain, false).expect("readable").0.attributes, [1.0, 2.0]);
}

#[test]
fn faults_of_json_graphs_are_told_with_their_lines() {
    let folder = Folder::new();
    let good = "{\"nodes\": 2, \"edges\": [[0, 1]], \"label\": 1}\n";
    let graph = |problem| Problem::Graph(problem);
    for (line, expected) in [
        (
            r#"{"nodes": 2, "edges": [[0, 2]], "label": 1}"#,
            graph(GraphProblem::NoSuchNode { node: 2, first: 0, last: 1 }),
        ),
        (
            r#"{"nodes": 2, "edges": [[-1, 0]], "label": 1}"#,
            graph(GraphProblem::NoSuchNode { node: -1, first: 0, last: 1 }),
        ),
        (r#"{"nodes": 0, "edges": [], "label": 1}"#, graph(GraphProblem::EmptyGraph { graph: 2 })),
        (r#"{"nodes": [], "edges": [], "label": 1}"#, graph(GraphProblem::EmptyGraph { graph: 2 })),
        (r#"{"nodes": 2, "edges": []}"#, graph(GraphProblem::NoLabel)),
        (
            r#"{"nodes": 999999999999, "edges": [], "label": 1}"#,
            graph(GraphProblem::TooManyNodes { most: 8_000_000 }),
        ),
        (
            r#"{"nodes": ["C"], "edges": [], "label": 1}"#,
            graph(GraphProblem::NodesDiffer { expected: "neither labels nor attributes", got: "labels" }),
        ),
    ] {
        let source = folder.json(&format!("{good}\n{line}\n"));
        assert_eq!(problem(&source, true), (expected, "g.jsonl".into(), Some(3)), "{line}");
    }
    for line in [
        r#"{"nodes": 2, "label": 1}"#,
        r#"{"nodes": "two", "edges": []}"#,
        r#"{"nodes": -1, "edges": []}"#,
        r#"{"nodes": 2, "edges": [[0, 1, 2]]}"#,
        r#"{"nodes": 2, "edges": [[0]]}"#,
        r#"{"nodes": 2, "edges": [["a", "b"]]}"#,
        r#"{"nodes": [null], "edges": []}"#,
        r#"{"nodes": 2, "edges": [], "label": [1]}"#,
        "[1, 2]",
    ] {
        let (what, _, at) = problem(&folder.json(&format!("{line}\n")), false);
        assert!(matches!(what, Problem::Graph(GraphProblem::NotAGraph { .. })), "{line}: {what:?}");
        assert_eq!(at, Some(1));
    }
    let (what, _, at) = problem(&folder.json(&format!("{good}{{\"nodes\": 2, \"edges\": [[0,\n")), true);
    assert_eq!((matches!(what, Problem::BrokenJson { .. }), at), (true, Some(2)), "{what:?}");
    let (what, ..) = problem(&folder.json(r#"{"nodes": [[1, 2], [1]], "edges": []}"#), false);
    assert_eq!(what, graph(GraphProblem::AttributeWidth { expected: 2, got: 1 }));
    let (what, ..) = problem(&folder.json(r#"{"nodes": [[1e300]], "edges": []}"#), false);
    assert!(matches!(what, Problem::InfiniteNumber { .. }));
    assert_eq!(problem(&folder.json("\n"), false).0, Problem::Empty);
}

#[test]
fn a_graph_of_ten_thousand_nodes_is_read() {
    let folder = Folder::new();
    let edges: Vec<String> = (1..10_000).map(|node| format!("[{}, {node}]", node / 2)).collect();
    let source = folder.json(&format!("{{\"nodes\": 10000, \"edges\": [{}]}}\n", edges.join(",")));
    let (set, _) = read_graphs(&source, false).expect("readable");
    assert_eq!((set.node_count(), set.edge_count()), (10_000, 9_999));
}

#[test]
fn each_kind_of_input_is_recognised_for_what_it_is() {
    let folder = Folder::new();
    folder.tu(&[("A", EDGES), ("graph_indicator", INDICATOR), ("graph_labels", LABELS)]);
    folder.zip("other.zip", &[("table.csv", b"a,b\n")]);
    folder.json("{\"nodes\": 1, \"edges\": []}\n");
    folder.write("broken.jsonl", "{\"nodes\": 1, \"edges\": [[}\n");
    folder.write("table.jsonl", "{\"nodes\": 1, \"x\": 2}\n");
    folder.write("table.csv", "nodes,edges\n1,2\n");
    std::fs::create_dir(folder.path("images")).expect("writable");
    let graphs = |name: &str| {
        let name = folder.path(name).display().to_string();
        let found = GraphSource::recognise(std::slice::from_ref(&name), None).expect("a path").is_some();
        let images = ImageSource::recognise(&[name], None).expect("a path").is_some();
        assert!(!(found && images));
        found
    };
    for name in ["", "g.jsonl", "broken.jsonl"] {
        assert!(graphs(name), "{name}");
    }
    for name in ["other.zip", "table.jsonl", "table.csv", "images", "none.jsonl"] {
        assert!(!graphs(name), "{name}");
    }
    assert_eq!(GraphSource::recognise(&["-".into()], None).expect("a pipe"), None);
}

#[test]
fn named_sets_are_images_tables_or_graphs() {
    let folder = Folder::new();
    let here = folder.path("");
    let names = |name: &str| [name.to_owned()];
    let found = GraphSource::recognise(&names("imdb-graph"), Some(&here)).expect("a set").expect("graphs");
    assert_eq!(found, GraphSource::Named { set: NamedSet::ImdbGraph, data_dir: here.clone() });
    assert!(read_graphs(&found, true).expect_err("not there").to_string().contains("IMDB-BINARY.zip"));
    for other in ["mnist", "imdb-text"] {
        assert_eq!(GraphSource::recognise(&names(other), Some(&here)).expect("a set"), None);
    }
    for other in ["imdb-graph", "imdb-text"] {
        assert_eq!(ImageSource::recognise(&names(other), Some(&here)).expect("a set"), None);
    }
    assert!(GraphSource::recognise(&names("imdb-graph"), None).is_err(), "no data directory");
    assert!(NamedTable::recognise(&names("imdb-text"), None).is_err(), "no data directory");
    assert_eq!(NamedTable::recognise(&names("mnist"), Some(&here)).expect("a set"), None);
    std::fs::create_dir(folder.path("imdb-graph")).expect("writable");
    let files = [
        ("TINY_A.txt", EDGES.as_bytes()),
        ("TINY_graph_indicator.txt", INDICATOR.as_bytes()),
        ("TINY_graph_labels.txt", LABELS.as_bytes()),
    ];
    folder.zip("imdb-graph/IMDB-BINARY.zip", &files);
    let (set, _) = read_graphs(&found, true).expect("readable");
    assert_eq!((set.len(), set.origin.as_str()), (4, "imdb-graph"));
    folder.zip("proteins.zip", &files);
    let below = GraphSource::recognise(&names("proteins"), Some(&here)).expect("below the directory");
    assert_eq!(below, Some(GraphSource::Path(folder.path("proteins.zip"))));
}

#[test]
fn the_named_table_of_reviews_knows_its_columns() {
    let folder = Folder::new();
    let here = folder.path("");
    let table = NamedTable::recognise(&["imdb-text".into()], Some(&here)).expect("a set").expect("a table");
    assert!(table.sources(DatasetPart::Train).expect_err("not there").to_string().contains("train.jsonl.xz"));
    std::fs::create_dir(folder.path("imdb-text")).expect("writable");
    let row = "{\"id\": 1, \"rating\": 9, \"label\": 1, \"text\": \"Good.\"}\n";
    folder.write("imdb-text/train.jsonl", row);
    folder.write("imdb-text/test.jsonl.gz", gzip(row.as_bytes()));
    let options = ReadOptions { column_types: table.column_types(), ..ReadOptions::default() };
    for source in table.sources(DatasetPart::All).expect("both parts") {
        let read = read_table(&source, &options).expect("readable");
        assert_eq!(read.names(), ["label", "text"]);
        assert!(read.column(table.target()).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_and_repetition_of_edge_lines_do_not_matter(order in Just((0..13).collect::<Vec<usize>>()).prop_shuffle(), twice in 0..13usize) {
        let lines: Vec<&str> = EDGES.lines().collect();
        let mut shuffled: Vec<&str> = order.iter().map(|line| lines[*line]).collect();
        shuffled.push(lines[twice]);
        let folder = Folder::new();
        let source =
            folder.tu(&[("A", &shuffled.join("\r\n")), ("graph_indicator", INDICATOR), ("graph_labels", LABELS)]);
        let (set, _) = read_graphs(&source, true).expect("readable");
        let expected = tiny();
        prop_assert_eq!((set.neighbours, set.edges), (expected.neighbours, expected.edges));
    }
}
