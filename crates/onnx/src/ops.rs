//! Operators by short names. Binary ones broadcast as numpy does.

use crate::graph::{Attribute, Graph, Type, Value};

impl Graph {
    // ---- constants

    pub(crate) fn f64s(&mut self, shape: &[usize], values: &[f64]) -> Value {
        self.constant(Type::F64, shape, values.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    pub(crate) fn f32s(&mut self, shape: &[usize], values: &[f32]) -> Value {
        self.constant(Type::F32, shape, values.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    pub(crate) fn i64s(&mut self, shape: &[usize], values: &[i64]) -> Value {
        self.constant(Type::I64, shape, values.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    pub(crate) fn list(&mut self, values: &[i64]) -> Value {
        self.i64s(&[values.len()], values)
    }

    /// A number of the same type as a value.
    pub(crate) fn number(&mut self, like: Value, x: f64) -> Value {
        match like.ty {
            Type::F32 => self.f32s(&[], &[x as f32]),
            Type::I64 => self.i64s(&[], &[x as i64]),
            _ => self.f64s(&[], &[x]),
        }
    }

    // ---- element by element

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        self.node("Add", &[a, b], Vec::new(), a.ty)
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Value {
        self.node("Sub", &[a, b], Vec::new(), a.ty)
    }

    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Value {
        self.node("Mul", &[a, b], Vec::new(), a.ty)
    }

    pub(crate) fn div(&mut self, a: Value, b: Value) -> Value {
        self.node("Div", &[a, b], Vec::new(), a.ty)
    }

    /// `a + x`
    pub(crate) fn plus(&mut self, a: Value, x: f64) -> Value {
        let x = self.number(a, x);
        self.add(a, x)
    }

    /// `a·x`
    pub(crate) fn times(&mut self, a: Value, x: f64) -> Value {
        let x = self.number(a, x);
        self.mul(a, x)
    }

    /// `a/x`
    pub(crate) fn over(&mut self, a: Value, x: f64) -> Value {
        let x = self.number(a, x);
        self.div(a, x)
    }

    /// `x − a`
    pub(crate) fn from(&mut self, x: f64, a: Value) -> Value {
        let x = self.number(a, x);
        self.sub(x, a)
    }

    /// An operator of one value.
    pub(crate) fn map(&mut self, op: &str, a: Value) -> Value {
        self.node(op, &[a], Vec::new(), a.ty)
    }

    pub(crate) fn exp(&mut self, a: Value) -> Value {
        self.map("Exp", a)
    }

    pub(crate) fn ln(&mut self, a: Value) -> Value {
        self.map("Log", a)
    }

    pub(crate) fn sqrt(&mut self, a: Value) -> Value {
        self.map("Sqrt", a)
    }

    pub(crate) fn negative(&mut self, a: Value) -> Value {
        self.map("Neg", a)
    }

    pub(crate) fn square(&mut self, a: Value) -> Value {
        self.mul(a, a)
    }

    pub(crate) fn max(&mut self, a: Value, b: Value) -> Value {
        self.node("Max", &[a, b], Vec::new(), a.ty)
    }

    pub(crate) fn min(&mut self, a: Value, b: Value) -> Value {
        self.node("Min", &[a, b], Vec::new(), a.ty)
    }

    /// At least x.
    pub(crate) fn at_least(&mut self, a: Value, x: f64) -> Value {
        let x = self.number(a, x);
        self.max(a, x)
    }

    /// At most x.
    pub(crate) fn at_most(&mut self, a: Value, x: f64) -> Value {
        let x = self.number(a, x);
        self.min(a, x)
    }

    pub(crate) fn clip(&mut self, a: Value, low: f64, high: f64) -> Value {
        let a = self.at_least(a, low);
        self.at_most(a, high)
    }

    /// Horner's rule, the highest power first.
    pub(crate) fn polynomial(&mut self, t: Value, coefficients: &[f64]) -> Value {
        let (first, rest) = coefficients.split_first().map_or((0.0, coefficients), |(c, rest)| (*c, rest));
        let start = self.number(t, first);
        rest.iter().fold(start, |sum, &c| {
            let product = self.mul(sum, t);
            self.plus(product, c)
        })
    }

    // ---- comparisons

    pub(crate) fn is(&mut self, op: &str, a: Value, b: Value) -> Value {
        self.node(op, &[a, b], Vec::new(), Type::Bool)
    }

    /// Compares with a number.
    pub(crate) fn is_number(&mut self, op: &str, a: Value, x: f64) -> Value {
        let x = self.number(a, x);
        self.is(op, a, x)
    }

    pub(crate) fn choose(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.node("Where", &[condition, yes, no], Vec::new(), yes.ty)
    }

    pub(crate) fn cast(&mut self, a: Value, ty: Type) -> Value {
        if a.ty == ty { a } else { self.node("Cast", &[a], vec![Attribute::Int("to", ty as i64)], ty) }
    }

    pub(crate) fn wide(&mut self, a: Value) -> Value {
        self.cast(a, Type::F64)
    }

    // ---- sums and products over axes

    /// A reduction over axes.
    pub(crate) fn reduce(&mut self, op: &str, a: Value, axes: &[i64], keep: bool) -> Value {
        let axes = self.list(axes);
        self.node(op, &[a, axes], vec![Attribute::Int("keepdims", i64::from(keep))], a.ty)
    }

    /// The sum over the last axis, which disappears.
    pub(crate) fn sum_last(&mut self, a: Value) -> Value {
        self.reduce("ReduceSum", a, &[-1], false)
    }

    pub(crate) fn matmul(&mut self, a: Value, b: Value) -> Value {
        self.node("MatMul", &[a, b], Vec::new(), a.ty)
    }

    // ---- places

    pub(crate) fn gather(&mut self, a: Value, at: Value, axis: i64) -> Value {
        self.node("Gather", &[a, at], vec![Attribute::Int("axis", axis)], a.ty)
    }

    /// One row of an axis, which stays.
    pub(crate) fn one(&mut self, a: Value, axis: i64, at: i64) -> Value {
        self.slice(a, axis, at, at + 1)
    }

    /// Part of an axis.
    pub(crate) fn slice(&mut self, a: Value, axis: i64, start: i64, end: i64) -> Value {
        let [start, end, axis] = [start, end, axis].map(|x| self.list(&[x]));
        self.node("Slice", &[a, start, end, axis], Vec::new(), a.ty)
    }

    pub(crate) fn concat(&mut self, parts: &[Value], axis: i64) -> Value {
        match parts {
            [only] => *only,
            _ => self.node("Concat", parts, vec![Attribute::Int("axis", axis)], parts[0].ty),
        }
    }

    pub(crate) fn reshape(&mut self, a: Value, shape: &[i64]) -> Value {
        let shape = self.list(shape);
        self.node("Reshape", &[a, shape], Vec::new(), a.ty)
    }

    pub(crate) fn unsqueeze(&mut self, a: Value, axis: i64) -> Value {
        let axes = self.list(&[axis]);
        self.node("Unsqueeze", &[a, axes], Vec::new(), a.ty)
    }

    pub(crate) fn transpose(&mut self, a: Value, order: &[i64]) -> Value {
        self.node("Transpose", &[a], vec![Attribute::Ints("perm", order.to_vec())], a.ty)
    }

    /// The first n of the sorted last axis and where they stood, of equal ones the first.
    pub(crate) fn smallest(&mut self, a: Value, n: usize) -> [Value; 2] {
        let n = self.list(&[n as i64]);
        let attributes =
            vec![Attribute::Int("axis", -1), Attribute::Int("largest", 0), Attribute::Int("sorted", 1)];
        self.nodes("TopK", &[a, n], attributes, [a.ty, Type::I64])
    }

    /// One size of a value, `[1]`.
    pub(crate) fn size(&mut self, a: Value, axis: i64) -> Value {
        let attributes = vec![Attribute::Int("start", axis), Attribute::Int("end", axis + 1)];
        self.node("Shape", &[a], attributes, Type::I64)
    }
}
