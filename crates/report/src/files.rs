//! Single examples and the gallery as files of their own.

use crate::figure::{Figure, gallery as sheet};
use crate::record::{Body, Example, Graph, NetworkRecord, Picture};
use crate::{escape, layout, sprite};
use std::fmt::Write;

/// An example as the content of a file, with the ending of its name: a picture as PNG, a graph as SVG. Rows are no
/// pictures.
pub fn picture_file(body: &Body) -> Option<(&'static str, Vec<u8>)> {
    match body {
        Body::Picture(picture) => Some(("png", sprite::file(picture))),
        Body::Graph(graph) => Some(("svg", drawing(graph).into_bytes())),
        Body::Cells(_) => None,
    }
}

/// The paper's figure of all inducing points of a network: the pictures nearest to them, and beside them the same
/// pictures moved towards them. `None` where examples are no pictures.
pub fn gallery(network: &NetworkRecord, examples: &[Example]) -> Option<Figure> {
    let picture = |example: usize| match &examples[example].body {
        Body::Picture(picture) => Some(picture),
        _ => None,
    };
    let pairs: Vec<(&Picture, Option<&Picture>)> = network
        .inducing
        .iter()
        .filter_map(|point| {
            let refined = point.refined.as_ref().and_then(|refined| picture(refined.example));
            Some((picture(point.nearest.first()?.example)?, refined))
        })
        .collect();
    let (nearest, moved): (Vec<&Picture>, Vec<_>) = pairs.into_iter().unzip();
    if nearest.is_empty() {
        return None;
    }
    let refined: Vec<&Picture> = moved.into_iter().flatten().collect();
    let refined = if refined.len() == nearest.len() { refined } else { Vec::new() };
    let title = "What the inducing points look like".to_owned();
    let desc = "Pictures in the same place belong to the same inducing point.";
    let svg = sheet::draw(&title, &nearest, &refined, desc);
    Some(Figure { name: "gallery".into(), title, svg })
}

fn drawing(graph: &Graph) -> String {
    let placed = layout::place(graph);
    let at = |place: usize| placed.at[place].map(|x| 3 * u32::from(x) + 12);
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 324 324\" width=\"324\" height=\"324\">\n\
         <rect width=\"324\" height=\"324\" fill=\"#fff\"/>\n<g stroke=\"#8a93a3\">\n",
    );
    for [a, b] in &placed.edges {
        let ([x1, y1], [x2, y2]) = (at(*a), at(*b));
        let _ = writeln!(svg, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
    }
    svg += "</g>\n<g fill=\"#1f5fbf\" stroke=\"#fff\">\n";
    for (place, &node) in placed.nodes.iter().enumerate() {
        let [x, y] = at(place);
        let label = graph.labels.get(node).map_or(String::new(), |label| escape::text(label).to_string());
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\"><title>{label}</title></circle>");
    }
    svg + "</g>\n</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_png_of_its_own_size_and_a_graph_a_drawing_of_its_edges() {
        let pixels: Vec<u8> = (0..12).collect();
        let picture = Picture { width: 4, height: 3, channels: 1, pixels: pixels.clone() };
        let (ending, bytes) = picture_file(&Body::Picture(picture)).expect("a picture");
        let read = image::load_from_memory(&bytes).expect("a PNG").to_luma8();
        assert_eq!((ending, read.dimensions(), read.into_raw()), ("png", (4, 3), pixels));

        let graph = Graph { nodes: 3, edges: vec![[0, 1], [1, 2]], labels: vec!["<a>".into(); 3] };
        let (ending, bytes) = picture_file(&Body::Graph(graph)).expect("a graph");
        let svg = String::from_utf8(bytes).expect("SVG is text");
        assert_eq!((ending, svg.matches("<line").count(), svg.matches("<circle").count()), ("svg", 2, 3));
        assert!(svg.contains("&lt;a&gt;") && !svg.contains("<a>"));
        assert!(picture_file(&Body::Cells(Vec::new())).is_none());
    }
}
