//! What an exported model is made of.

use crate::reader::{Graph, read};
use crate::{TABLES, golden};
use onnx_export::{ExportOptions, InputForm, export};
use std::collections::HashSet;

/// Element types by their numbers in the format.
const F32: u64 = 1;
const I64: u64 = 7;
const TEXT: u64 = 8;
const F64: u64 = 11;

fn exported(name: &str, options: &ExportOptions) -> Graph {
    read(&export(&golden(name), options).expect("a table")).0
}

fn names(values: &[(String, u64)]) -> Vec<(&str, u64)> {
    values.iter().map(|(name, ty)| (name.as_str(), *ty)).collect()
}

/// Every value is made once and before it is used; what stands outside is seen inside.
fn assert_ordered(graph: &Graph, known: &mut HashSet<String>) {
    let constants = graph.constants.iter().cloned();
    for name in constants.chain(graph.inputs.iter().map(|(name, _)| name.clone())) {
        assert!(known.insert(name.clone()), "`{name}` is made twice");
    }
    for node in &graph.nodes {
        for name in &node.inputs {
            assert!(known.contains(name), "{} reads `{name}`, which is not there", node.op);
        }
        for body in &node.bodies {
            assert_ordered(body, &mut known.clone());
        }
        for name in &node.outputs {
            assert!(known.insert(name.clone()), "`{name}` is made twice");
        }
    }
    for (name, _) in &graph.outputs {
        assert!(known.contains(name), "the output `{name}` is not there");
    }
}

fn operators(graph: &Graph, found: &mut HashSet<String>) {
    for node in &graph.nodes {
        found.insert(node.op.clone());
        node.bodies.iter().for_each(|body| operators(body, found));
    }
}

#[test]
fn every_value_is_made_once_and_before_it_is_used() {
    for name in TABLES {
        for inputs in [InputForm::Columns, InputForm::Features] {
            let options = ExportOptions { inputs, ..ExportOptions::default() };
            assert_ordered(&exported(name, &options), &mut HashSet::new());
        }
    }
}

#[test]
fn all_operators_are_standard_ones_that_runtimes_compute_in_64_bits() {
    let known = "Abs Add And ArgMax ArgMin Cast Concat Cos CumSum Div Equal Exp Gather GatherElements Greater GreaterOrEqual Identity IsNaN \
        Less LessOrEqual Log Loop MatMul Max Min Mod Mul Neg NonZero Not Or Pow ReduceMax ReduceMean ReduceMin ReduceSum Relu Reshape \
        Round ScatterND Shape Sin Slice Sqrt Sub Tanh TopK Transpose Unsqueeze Where";
    let known: HashSet<String> = known.split_whitespace().map(str::to_owned).collect();
    for name in TABLES {
        let bytes = export(&golden(name), &ExportOptions::default()).expect("a table");
        let (graph, opset) = read(&bytes);
        assert_eq!(opset, 19);
        let mut found = HashSet::new();
        operators(&graph, &mut found);
        assert!(found.is_subset(&known), "{name}: {:?}", found.difference(&known));
    }
}

#[test]
fn every_column_is_an_input_of_its_type_and_outputs_are_named_as_columns_of_predictions() {
    let model = golden("v7-table.ign");
    let graph = exported("v7-table.ign", &ExportOptions::default());
    let schema = model.header().schema.table().expect("a table");
    assert_eq!(graph.inputs.len(), schema.inputs.len());
    for ((name, ty), column) in graph.inputs.iter().zip(&schema.inputs) {
        let is_text = column.encoding.column_type() == data::ColumnType::Category;
        assert_eq!((name, *ty), (&column.name, if is_text { TEXT } else { F64 }));
    }
    let of_one: Vec<&str> = vec!["mean", "std", "std_latent", "familiarity", "quantiles"];
    let targets = model.header().schema.target_names();
    let expected: Vec<String> = if targets.len() == 1 {
        of_one.iter().map(|name| (*name).to_owned()).collect()
    } else {
        targets.iter().flat_map(|target| of_one.iter().map(move |name| format!("{target}_{name}"))).collect()
    };
    assert_eq!(graph.outputs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), expected);
    assert!(graph.outputs.iter().all(|(_, ty)| *ty == F64));
    let classes = exported("v7-classes.ign", &ExportOptions::default());
    let expected = [("probabilities", F64), ("label", TEXT), ("class", I64), ("familiarity", F64)];
    assert_eq!(names(&classes.outputs), expected);
}

#[test]
fn encoded_numbers_are_one_input_and_quantiles_can_be_left_out() {
    let options = ExportOptions { inputs: InputForm::Features, quantiles: Vec::new() };
    let graph = exported("v7-table.ign", &options);
    assert_eq!(names(&graph.inputs), [("features", F32)]);
    assert!(graph.outputs.iter().all(|(name, _)| !name.ends_with("quantiles")));
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let model = golden("v7-table.ign");
    let [first, second] = [(), ()].map(|()| export(&model, &ExportOptions::default()).expect("a table"));
    assert!(first == second);
}
