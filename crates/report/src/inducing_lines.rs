//! Inducing points for programs.

use inducing::Model;
use serde_json::json;

use crate::record::{Body, Example, NearestExample, NetworkRecord};

/// One JSON object for each inducing point: pseudo-label, nearest examples, how many inputs are assigned to it.
pub fn inducing_lines(model: &Model, networks: &[NetworkRecord], examples: &[Example]) -> Vec<String> {
    let columns: Vec<&String> = match model.header().schema.table() {
        Some(table) => table.inputs.iter().map(|input| &input.name).collect(),
        None => Vec::new(),
    };
    let body = |example: usize| match &examples[example].body {
        Body::Cells(cells) => {
            columns.iter().zip(cells).map(|(column, cell)| ((*column).clone(), json!(cell))).collect()
        }
        Body::Graph(graph) => {
            json!({ "nodes": graph.nodes, "edges": graph.edges, "labels": graph.labels })
        }
        Body::Image(_) => serde_json::Value::Null,
    };
    let mut lines = Vec::new();
    for network in networks {
        for (i, point) in network.inducing.iter().enumerate() {
            let near = |near: &NearestExample| {
                json!({
                    "name": examples[near.example].name,
                    "similarity": near.similarity,
                    "distance": near.distance,
                    "truth": near.truth,
                    "example": body(near.example),
                })
            };
            let mut line = json!({
                "point": i + 1,
                "pseudo_label": point.pseudo_label,
                "assigned": point.assigned,
                "leaning": point.assigned, // the former name of `assigned`, for scripts that read it
                "nearest": point.nearest.iter().map(near).collect::<Vec<_>>(),
            });
            if !network.name.is_empty() {
                line["network"] = json!(network.name);
            }
            if let Some(refined) = &point.refined {
                line["refined"] = json!({
                    "before": refined.distance_before,
                    "after": refined.distance_after,
                    "example": body(refined.example),
                });
            }
            lines.push(line.to_string());
        }
    }
    lines
}
