//! As much of ONNX as these tests look at, read back.

/// A node.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) op: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) bodies: Vec<Graph>,
}

/// A graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) constants: Vec<String>,
    pub(crate) inputs: Vec<(String, u64)>,
    pub(crate) outputs: Vec<(String, u64)>,
}

/// A field of a message: its number and its bytes, or its value.
enum Field<'a> {
    Bytes(u32, &'a [u8]),
    Number(u32, u64),
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.0[0];
            self.0 = &self.0[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let tag = self.varint();
        let field = (tag >> 3) as u32;
        Some(match tag & 7 {
            0 => Field::Number(field, self.varint()),
            2 => {
                let len = self.varint() as usize;
                let (bytes, rest) = self.0.split_at(len);
                self.0 = rest;
                Field::Bytes(field, bytes)
            }
            kind => panic!("a field of kind {kind}"),
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("a name")
}

/// Name and element type of an input or output.
fn value(bytes: &[u8]) -> (String, u64) {
    let (mut name, mut ty) = (String::new(), 0);
    for field in Fields(bytes) {
        match field {
            Field::Bytes(1, bytes) => name = text(bytes),
            Field::Bytes(2, of) => {
                for field in Fields(of) {
                    let Field::Bytes(1, tensor) = field else { continue };
                    for field in Fields(tensor) {
                        if let Field::Number(1, number) = field {
                            ty = number;
                        }
                    }
                }
            }
            _ => {}
        }
    }
    (name, ty)
}

fn node(bytes: &[u8]) -> Node {
    let mut node = Node::default();
    for field in Fields(bytes) {
        match field {
            Field::Bytes(1, name) => node.inputs.push(text(name)),
            Field::Bytes(2, name) => node.outputs.push(text(name)),
            Field::Bytes(4, op) => node.op = text(op),
            Field::Bytes(5, attribute) => {
                let bodies = Fields(attribute).filter_map(|field| match field {
                    Field::Bytes(6, body) => Some(graph(body)),
                    _ => None,
                });
                node.bodies.extend(bodies);
            }
            _ => {}
        }
    }
    node
}

fn graph(bytes: &[u8]) -> Graph {
    let mut graph = Graph::default();
    for field in Fields(bytes) {
        match field {
            Field::Bytes(1, bytes) => graph.nodes.push(node(bytes)),
            Field::Bytes(5, tensor) => {
                let name = Fields(tensor).find_map(|field| match field {
                    Field::Bytes(8, name) => Some(text(name)),
                    _ => None,
                });
                graph.constants.extend(name);
            }
            Field::Bytes(11, bytes) => graph.inputs.push(value(bytes)),
            Field::Bytes(12, bytes) => graph.outputs.push(value(bytes)),
            _ => {}
        }
    }
    graph
}

/// The graph of a model, and the version of its operators.
pub(crate) fn read(bytes: &[u8]) -> (Graph, u64) {
    let (mut found, mut opset) = (None, 0);
    for field in Fields(bytes) {
        match field {
            Field::Bytes(7, bytes) => found = Some(graph(bytes)),
            Field::Bytes(8, bytes) => {
                opset = Fields(bytes)
                    .find_map(|field| match field {
                        Field::Number(2, version) => Some(version),
                        _ => None,
                    })
                    .unwrap_or(0);
            }
            _ => {}
        }
    }
    (found.expect("a graph"), opset)
}
