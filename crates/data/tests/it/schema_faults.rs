//! Schemas out of forged files: each field of each schema, changed in many ways, is found out or does no harm.

use inducing_data::{
    Column, EncodeOptions, GraphOptions, GraphSchema, GraphSource, ImageSchema, ImageSet, Scaling, Table,
    TableSchema, Task, read_graphs,
};
use serde_json::Value;

use crate::folder::{Folder, table_of};

const TABLE: &str = "n,k,b,c,d,t,g,y\n\
    1,1,yes,red,2016-01-11,a film to remember well,1,1\n\
    2,2,no,blue,2016-02-12,not my kind of film,,2\n\
    ,3,yes,red,2017-03-13,one of the best films,1,4\n\
    6,1,yes,green,2018-04-14,my kind of a film,,7\n";

/// Every value that differs from `value` in one place.
fn mutations(value: &Value) -> Vec<Value> {
    let mut all: Vec<Value> = match value {
        Value::Number(_) => [0.0, -1.0, 0.5, 1e308, -1e308, 5e-324, 1e18]
            .into_iter()
            .flat_map(|x: f64| {
                [Some(Value::from(x)), (x.fract() == 0.0 && x.abs() < 2e18).then(|| Value::from(x as i64))]
            })
            .flatten()
            .chain([Value::from(u64::MAX)])
            .collect(),
        Value::String(text) => {
            let types =
                ["ignore", "number", "text", "boolean", "category", "date_time", "month", "end", "both"];
            types
                .map(Value::from)
                .into_iter()
                .chain(["".into(), "x".into(), text.repeat(200).into()])
                .collect()
        }
        Value::Bool(value) => vec![Value::from(!value)],
        Value::Array(_) | Value::Object(_) | Value::Null => vec![],
    };
    match value {
        Value::Array(items) => {
            all.push(Value::Array(Vec::new()));
            if let Some(first) = items.first() {
                all.push(Value::Array(items[1..].to_vec()));
                all.push(Value::Array(items[..items.len() - 1].to_vec()));
                all.push(Value::Array([&items[..], std::slice::from_ref(first)].concat()));
                all.push(Value::Array(items.iter().rev().cloned().collect()));
            }
            for (index, item) in items.iter().enumerate() {
                for changed in mutations(item) {
                    let mut items = items.clone();
                    items[index] = changed;
                    all.push(Value::Array(items));
                }
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                for changed in mutations(field) {
                    let mut fields = fields.clone();
                    fields.insert(key.clone(), changed);
                    all.push(Value::Object(fields));
                }
            }
        }
        _ => {}
    }
    all
}

#[test]
fn a_changed_table_schema_is_refused_or_encodes() {
    let table = table_of("t.csv", TABLE);
    let rows: Vec<usize> = (0..table.rows()).collect();
    let (mut refused, mut encoded, mut refused_late) = (0, 0, 0);
    for scaling in [Scaling::Standard, Scaling::Quantile, Scaling::None] {
        for task in [Task::Regression, Task::Classification] {
            let target = if task == Task::Regression { "y" } else { "c" };
            let mut options = EncodeOptions { scaling, discrete_levels: 3, ..EncodeOptions::default() };
            options.text.min_count = 1;
            let (schema, _) = TableSchema::fit(&table, &[target.into()], Some(task), &rows, &options)
                .expect("a usable table");
            assert_eq!(schema.fault(), None);
            let json = serde_json::to_value(&schema).expect("finite");
            for changed in mutations(&json) {
                let Ok(schema) = serde_json::from_value::<TableSchema>(changed) else { continue };
                if schema.fault().is_some() {
                    refused += 1;
                    continue;
                }
                match schema.encode(&table, None) {
                    Err(_) => refused_late += 1, // the table lacks the column or has another type
                    Ok(inputs) => {
                        encoded += 1;
                        assert!(inputs.x.iter().all(|x| x.is_finite()), "{schema:?}");
                        for row in inputs.x.chunks_exact(inputs.width.max(1)) {
                            let decoded = schema.decode(row);
                            assert!(decoded.iter().flatten().all(|x| x.is_finite()), "{schema:?}");
                        }
                        assert_eq!(schema.feature_names().len(), inputs.width);
                    }
                }
                let _ = schema.targets(&table, None);
            }
        }
    }
    assert!(refused > 200 && encoded > 200 && refused_late > 20, "{refused} {encoded} {refused_late}");
}

#[test]
fn a_changed_image_schema_is_refused_or_fits_images() {
    let set = || ImageSet {
        pixels: (0..4 * 6 * 5 * 3).map(|i| (i * 37 % 256) as u8).collect(),
        height: 6,
        width: 5,
        channels: 3,
        labels: Some(vec![0, 1, 0, 1]),
        classes: vec!["cat".into(), "dog".into()],
        names: Vec::new(),
        origin: "memory".into(),
    };
    let (schema, _) = ImageSchema::fit(&set(), &[0, 1, 2, 3]).expect("two classes");
    assert_eq!(schema.fault(), None);
    let mut refused = 0;
    for changed in mutations(&serde_json::to_value(&schema).expect("finite")) {
        let Ok(schema) = serde_json::from_value::<ImageSchema>(changed) else { continue };
        if schema.fault().is_some() {
            refused += 1;
        } else {
            let _ = schema.conform(set());
            assert!(schema.standardised().iter().flatten().all(|x| x.is_finite()));
        }
    }
    assert!(refused > 50, "{refused}");
    let absurd = ImageSchema { height: 8192, width: 8192, ..schema };
    assert!(absurd.fault().is_some());
}

#[test]
fn a_changed_graph_schema_is_refused_or_encodes() {
    let folder = Folder::new();
    let graph = |x: u32, atom: &str, label: &str| {
        format!(
            "{{\"nodes\": [{{\"label\": \"{atom}\", \"attributes\": [{x}, 2.5]}}, {{\"label\": \"H\", \"attributes\": [0, {x}]}}], \
             \"edges\": [[0, 1]], \"label\": \"{label}\"}}\n"
        )
    };
    folder.write("g.jsonl", [graph(1, "C", "a"), graph(2, "O", "b"), graph(3, "C", "a")].concat());
    let set = read_graphs(&GraphSource::Path(folder.path("g.jsonl")), true).expect("readable").0;
    for degree in [inducing_data::DegreeFeature::Number, inducing_data::DegreeFeature::default()] {
        let (schema, _) = GraphSchema::fit(&set, &[0, 1, 2], &GraphOptions { degree }).expect("two classes");
        assert_eq!(schema.fault(), None);
        let mut refused = 0;
        for changed in mutations(&serde_json::to_value(&schema).expect("finite")) {
            let Ok(schema) = serde_json::from_value::<GraphSchema>(changed) else { continue };
            if schema.fault().is_some() {
                refused += 1;
            } else if let Ok(features) = schema.encode(&set) {
                assert!(features.x.iter().all(|x| x.is_finite()), "{schema:?}");
                let _ = schema.conform(set.clone());
            }
        }
        assert!(refused > 10, "{refused}");
    }
}

#[test]
fn names_that_stand_twice_and_scales_cut_short_are_told() {
    let table = Table::new(
        "memory",
        vec![
            ("a".into(), Column::Number(vec![1.0, 2.0, 4.0])),
            ("b".into(), Column::Number(vec![3.0, 1.0, 2.0])),
            ("y".into(), Column::Number(vec![1.0, 2.0, 3.5])),
        ],
    )
    .expect("a table");
    let options = EncodeOptions { scaling: Scaling::Quantile, ..EncodeOptions::default() };
    let (schema, _) = TableSchema::fit(&table, &["y".into()], Some(Task::Regression), &[0, 1, 2], &options)
        .expect("usable");
    let json = serde_json::to_string(&schema).expect("finite");
    for (from, to, expected) in [
        ("\"b\"", "\"a\"", "the column `a` stands twice"),
        ("\"y\"", "\"a\"", "the column `a` stands twice"),
        ("\"scores\":[", "\"scores\":[-9.0,", "column `a`: there are 3 knots and 4 scores"),
    ] {
        let forged: TableSchema = serde_json::from_str(&json.replacen(from, to, 1)).expect("valid json");
        assert_eq!(forged.fault().as_deref(), Some(expected), "{from}");
    }
}
