//! A graph under construction: values, nodes, constants, and bodies of loops.
//!
//! Every value has a name of its own in the whole model, so that the body of a loop reads what stands outside by its name. All constants
//! stand outside of all bodies.

use crate::protobuf::Message;
use std::collections::{HashMap, HashSet};

/// Version of the operators: the first in which texts can be compared.
pub(crate) const OPSET: i64 = 19;
/// Version of the file's layout that goes with it.
const IR_VERSION: i64 = 9;

/// Type of a tensor's elements, with its number in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    F32 = 1,
    Byte = 2,
    I64 = 7,
    Text = 8,
    Bool = 9,
    F64 = 11,
}

/// A tensor that a node gives, an input or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    id: u32,
    pub(crate) ty: Type,
}

/// What an operator is told besides its inputs.
pub(crate) enum Attribute {
    Int(&'static str, i64),
    Ints(&'static str, Vec<i64>),
    Body(Message),
}

/// A size of an input or output.
pub(crate) enum Dim {
    Rows,
    Of(usize),
}

/// What stands in one graph: the model's own, or a body's.
#[derive(Default)]
struct Scope {
    nodes: Vec<Message>,
}

/// A model under construction.
pub(crate) struct Graph {
    names: Vec<String>,
    prefix: String,
    reserved: HashSet<String>,
    scopes: Vec<Scope>,
    constants: Vec<(Value, Message)>,
    used: HashSet<u32>,
    known: HashMap<(Type, Vec<usize>, Vec<u8>), Value>,
    inputs: Vec<Message>,
    outputs: Vec<(String, Message)>,
    properties: Vec<(String, String)>,
}

impl Graph {
    /// An empty graph whose inputs will have these names.
    pub(crate) fn new(inputs: &[String]) -> Self {
        // No column has the name of a value.
        let mut prefix = "ign:".to_owned();
        while inputs.iter().any(|name| name.starts_with(&prefix)) {
            prefix.push(':');
        }
        Self {
            names: Vec::new(),
            prefix,
            reserved: inputs.iter().cloned().collect(),
            scopes: vec![Scope::default()],
            constants: Vec::new(),
            used: HashSet::new(),
            known: HashMap::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            properties: Vec::new(),
        }
    }

    fn value(&mut self, ty: Type) -> Value {
        let name = format!("{}{}", self.prefix, self.names.len());
        self.named(name, ty)
    }

    fn named(&mut self, name: String, ty: Type) -> Value {
        self.names.push(name);
        Value { id: self.names.len() as u32 - 1, ty }
    }

    fn name(&self, value: Value) -> &str {
        &self.names[value.id as usize]
    }

    /// An input of the model.
    pub(crate) fn input(&mut self, name: &str, ty: Type, shape: &[Dim]) -> Value {
        self.inputs.push(value_info(name, ty, Some(shape)));
        self.named(name.to_owned(), ty)
    }

    /// Makes a value an output of the model, of the name that is returned: another one where an input has it.
    pub(crate) fn output(&mut self, name: &str, value: Value, shape: &[Dim]) -> String {
        let mut name = name.to_owned();
        while !self.reserved.insert(name.clone()) {
            name = format!("predicted_{name}");
        }
        let info = value_info(&name, value.ty, Some(shape));
        self.used.insert(value.id);
        let node = node("Identity", &[self.name(value)], &[&name], Vec::new());
        self.scopes[0].nodes.push(node);
        self.outputs.push((name.clone(), info));
        name
    }

    /// Something to know about the model.
    pub(crate) fn property(&mut self, key: &str, value: String) {
        self.properties.push((key.to_owned(), value));
    }

    /// A constant; the same one stands in the model once.
    pub(crate) fn constant(&mut self, ty: Type, shape: &[usize], raw: Vec<u8>) -> Value {
        let key = (ty, shape.to_vec(), raw);
        if let Some(value) = self.known.get(&key) {
            return *value;
        }
        let value = self.value(ty);
        let tensor = tensor(self.name(value), ty, shape).bytes(9, &key.2);
        self.constants.push((value, tensor));
        // Large ones are hardly ever the same.
        if key.2.len() <= 4096 {
            self.known.insert(key, value);
        }
        value
    }

    /// Constant texts `[n]`.
    pub(crate) fn texts(&mut self, texts: &[String]) -> Value {
        let value = self.value(Type::Text);
        let tensor = tensor(self.name(value), Type::Text, &[texts.len()]);
        let tensor = texts.iter().fold(tensor, |tensor, text| tensor.text(6, text));
        self.constants.push((value, tensor));
        value
    }

    /// A node with outputs of these types.
    pub(crate) fn nodes<const N: usize>(
        &mut self,
        op: &str,
        inputs: &[Value],
        attributes: Vec<Attribute>,
        types: [Type; N],
    ) -> [Value; N] {
        let outputs = types.map(|ty| self.value(ty));
        self.used.extend(inputs.iter().map(|value| value.id));
        let from: Vec<&str> = inputs.iter().map(|&value| self.name(value)).collect();
        let to: Vec<&str> = outputs.iter().map(|&value| self.name(value)).collect();
        let node = node(op, &from, &to, attributes);
        if let Some(scope) = self.scopes.last_mut() {
            scope.nodes.push(node);
        }
        outputs
    }

    /// A node with one output.
    pub(crate) fn node(&mut self, op: &str, inputs: &[Value], attributes: Vec<Attribute>, ty: Type) -> Value {
        let [value] = self.nodes(op, inputs, attributes, [ty]);
        value
    }

    /// Nodes that stand outside of all bodies, where they are computed once.
    pub(crate) fn outside<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> T {
        let bodies = self.scopes.split_off(1);
        let result = build(self);
        self.scopes.extend(bodies);
        result
    }

    /// `body(i, state)` for i = 0 … trips − 1, from an initial state; the last state.
    pub(crate) fn repeat<const N: usize>(
        &mut self,
        trips: Value,
        state: [Value; N],
        body: impl FnOnce(&mut Self, Value, [Value; N]) -> [Value; N],
    ) -> [Value; N] {
        let (i, going) = (self.value(Type::I64), self.value(Type::Bool));
        let inner = state.map(|value| self.value(value.ty));
        self.scopes.push(Scope::default());
        let after = body(self, i, inner);
        let goes_on = self.node("Identity", &[going], Vec::new(), Type::Bool);
        let scope = self.scopes.pop().unwrap_or_default();
        self.used.extend(after.iter().map(|value| value.id));
        // Sizes of states are not told, for they may change; runtimes ask for those of the counter.
        let info = |value: &Value, shape| value_info(self.name(*value), value.ty, shape);
        let scalars = |values: &[Value]| values.iter().map(|v| info(v, Some(&[][..]))).collect::<Vec<_>>();
        let states = |values: &[Value]| values.iter().map(|v| info(v, None)).collect::<Vec<_>>();
        let (inputs, outputs) =
            ([scalars(&[i, going]), states(&inner)].concat(), [scalars(&[goes_on]), states(&after)].concat());
        let graph = Message::new().messages(1, &scope.nodes).text(2, "body");
        let graph = graph.messages(11, &inputs).messages(12, &outputs);
        let start = self.constant(Type::Bool, &[], vec![1]);
        let inputs: Vec<Value> = [trips, start].into_iter().chain(state).collect();
        self.nodes("Loop", &inputs, vec![Attribute::Body(graph)], state.map(|value| value.ty))
    }

    /// The model's bytes.
    pub(crate) fn finish(self, producer_version: &str) -> Vec<u8> {
        let nodes = self.scopes.iter().flat_map(|scope| &scope.nodes);
        let constants = self.constants.iter().filter(|(value, _)| self.used.contains(&value.id));
        let graph =
            Message::new().messages(1, nodes).text(2, "ign").messages(5, constants.map(|(_, tensor)| tensor));
        let graph = graph.messages(11, &self.inputs).messages(12, self.outputs.iter().map(|(_, info)| info));
        let opset = Message::new().text(1, "").int(2, OPSET);
        let model = Message::new().int(1, IR_VERSION).text(2, "ign").text(3, producer_version);
        let model = model.message(7, &graph).message(8, &opset);
        let property = |(key, value): &(String, String)| Message::new().text(1, key).text(2, value);
        model.messages(14, &self.properties.iter().map(property).collect::<Vec<_>>()).into_bytes()
    }
}

fn node(op: &str, inputs: &[&str], outputs: &[&str], attributes: Vec<Attribute>) -> Message {
    let node = inputs.iter().fold(Message::new(), |node, name| node.text(1, name));
    let node = outputs.iter().fold(node, |node, name| node.text(2, name)).text(4, op);
    let attribute = |attribute: &Attribute| match attribute {
        Attribute::Int(name, value) => Message::new().text(1, name).int(3, *value).int(20, 2),
        Attribute::Ints(name, values) => values
            .iter()
            .fold(Message::new().text(1, name), |message, value| message.int(8, *value))
            .int(20, 7),
        Attribute::Body(graph) => Message::new().text(1, "body").message(6, graph).int(20, 5),
    };
    node.messages(5, &attributes.iter().map(attribute).collect::<Vec<_>>())
}

fn tensor(name: &str, ty: Type, shape: &[usize]) -> Message {
    let tensor = shape.iter().fold(Message::new(), |tensor, &size| tensor.int(1, size as i64));
    tensor.int(2, ty as i64).text(8, name)
}

fn value_info(name: &str, ty: Type, shape: Option<&[Dim]>) -> Message {
    let mut of = Message::new().int(1, ty as i64);
    if let Some(shape) = shape {
        let dim = |dim: &Dim| match dim {
            Dim::Rows => Message::new().text(2, "N"),
            Dim::Of(size) => Message::new().int(1, *size as i64),
        };
        of = of.message(2, &Message::new().messages(1, &shape.iter().map(dim).collect::<Vec<_>>()));
    }
    Message::new().text(1, name).message(2, &Message::new().message(1, &of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_named_like_outputs_or_values_keep_their_names() {
        let columns = ["mean", "predicted_mean", "ign:7"].map(str::to_owned);
        let mut graph = Graph::new(&columns);
        let inputs = columns.map(|name| graph.input(&name, Type::F64, &[Dim::Rows, Dim::Of(1)]));
        let sum = graph.add(inputs[0], inputs[1]);
        assert!(graph.name(sum).starts_with("ign::"));
        assert_eq!(graph.output("mean", sum, &[Dim::Rows]), "predicted_predicted_mean");
        assert_eq!(graph.output("std", sum, &[Dim::Rows]), "std");
    }

    #[test]
    fn small_constants_stand_in_the_model_once_and_unused_ones_not_at_all() {
        let mut graph = Graph::new(&[]);
        let [first, again, other] = [1.5, 1.5, 2.5].map(|x| graph.f64s(&[], &[x]));
        assert!(first == again && first != other);
        graph.output("one", first, &[]);
        let name = graph.name(other).to_owned();
        let bytes = graph.finish("0");
        assert!(!bytes.windows(name.len()).any(|part| part == name.as_bytes()));
    }
}
