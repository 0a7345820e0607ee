//! Single examples and the gallery of inducing points as files.

use crate::figure::{Figure, gallery as sheet};
use crate::record::{Body, Example, Graph, NetworkRecord};
use crate::{escape, graph_layout, sprite};
use std::fmt::Write;

/// File extension and content of an example: an image as PNG, a graph as SVG. `None` for table rows.
///
/// ```
/// use inducing_report::{Body, Graph, example_file};
/// let graph = Graph { nodes: 2, edges: vec![[0, 1]], labels: vec!["C".into(), "O".into()] };
/// let (extension, bytes) = example_file(&Body::Graph(graph)).expect("graphs can be drawn");
/// assert_eq!(extension, "svg");
/// assert!(bytes.starts_with(b"<svg"));
/// ```
pub fn example_file(body: &Body) -> Option<(&'static str, Vec<u8>)> {
    match body {
        Body::Image(image) => Some(("png", sprite::png_file(image))),
        Body::Graph(graph) => Some(("svg", graph_svg(graph).into_bytes())),
        Body::Cells(_) => None,
    }
}

/// The paper's figure of all inducing points of a network: the nearest images and, beside them, the same images
/// refined. `None` where examples are not images.
///
/// ```
/// use inducing_report::{NetworkRecord, gallery};
/// let network =
///     NetworkRecord { name: String::new(), inducing: vec![], distinct_nearest: 0, history: vec![], best_epoch: 0 };
/// assert!(gallery(&network, &[]).is_none());
/// ```
pub fn gallery(network: &NetworkRecord, examples: &[Example]) -> Option<Figure> {
    let drawn = sheet::draw(network.inducing.iter(), examples)?;
    Some(Figure { name: "gallery".into(), title: sheet::TITLE.into(), svg: drawn.svg })
}

fn graph_svg(graph: &Graph) -> String {
    let placed = graph_layout::place(graph);
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
        let label = graph.labels.get(node).map_or(String::new(), |label| escape::text(label));
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\"><title>{label}</title></circle>");
    }
    svg + "</g>\n</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Image;

    #[test]
    fn images_become_png_and_graphs_svg() {
        let pixels: Vec<u8> = (0..12).collect();
        let image = Image { width: 4, height: 3, channels: 1, pixels: pixels.clone() };
        let (extension, bytes) = example_file(&Body::Image(image)).expect("images can be written");
        let read = image::load_from_memory(&bytes).expect("a PNG").to_luma8();
        assert_eq!((extension, read.dimensions(), read.into_raw()), ("png", (4, 3), pixels));

        let graph = Graph { nodes: 3, edges: vec![[0, 1], [1, 2]], labels: vec!["<a>".into(); 3] };
        let (extension, bytes) = example_file(&Body::Graph(graph)).expect("a graph");
        let svg = String::from_utf8(bytes).expect("SVG is text");
        assert_eq!((extension, svg.matches("<line").count(), svg.matches("<circle").count()), ("svg", 2, 3));
        assert!(svg.contains("&lt;a&gt;") && !svg.contains("<a>"));
        assert!(example_file(&Body::Cells(Vec::new())).is_none());
    }
}
