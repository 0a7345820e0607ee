//! Rows with cells that training never had (docs/model-file.md, section 7, "Absent cells").
//!
//! A model that keeps inputs predicts such a row as the kept rows that are like it in the other cells would complete it; one after the
//! other, for there are few. Any other model goes towards the distribution of its targets.

use crate::error::ExportError;
use crate::graph::{Graph, Type, Value};
use crate::head::Head;
use crate::kept::Kept;
use crate::nearest::Points;
use crate::table::Encoded;
use data::TableSchema;
use gp::LocalProcess;
use inducing::model::ModelHeader;

/// Kept rows whose cells stand in for absent ones.
const DONORS: usize = 32;
/// The version of model files that first looked at absent cells.
const FIRST_VERSION: u32 = 5;

/// Where cells are absent.
pub(crate) struct Absent {
    /// `[N, columns]`, 1 or 0, 32 bits.
    cells: Value,
    /// Which coordinates of x a column has, `[columns, d]`.
    owners: Vec<f32>,
    columns: usize,
    width: usize,
    /// Columns of the table.
    all: usize,
}

/// SplitMix64: of equally near rows any may be a donor.
fn scattered(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The process whose coordinates are inputs, if the model keeps inputs.
pub(crate) fn process_of_inputs(header: &ModelHeader) -> Option<&LocalProcess> {
    let ensemble = header.ensemble.as_ref()?;
    let of_numbers = ensemble.stacks.first().map(|stack| &stack.process);
    of_numbers.or(ensemble.class_stack.as_ref().map(|stack| &stack.process))
}

impl Absent {
    /// Where cells of encoded rows are absent; none where none can be.
    pub(crate) fn new(
        graph: &mut Graph,
        header: &ModelHeader,
        schema: &TableSchema,
        encoded: &Encoded,
    ) -> Option<Self> {
        if encoded.absent.is_empty() || header.format_version < FIRST_VERSION {
            return None;
        }
        let (ranges, width) = (schema.feature_ranges(), schema.numeric_width() + schema.indicator_width());
        let mut owners = vec![0.0; encoded.absent.len() * width];
        for (row, (column, _)) in encoded.absent.iter().enumerate() {
            ranges[*column].iter().cloned().flatten().for_each(|at| owners[row * width + at] = 1.0);
        }
        let cells: Vec<Value> =
            encoded.absent.iter().map(|(_, cells)| graph.cast(*cells, Type::F32)).collect();
        let columns = cells.len();
        Some(Self { cells: graph.concat(&cells, 1), owners, columns, width, all: schema.inputs.len() })
    }

    /// q: share of the columns that are absent in each row, `[N, 1]`, 64 bits.
    pub(crate) fn shares(&self, graph: &mut Graph) -> Value {
        let count = graph.reduce("ReduceSum", self.cells, &[1], true);
        let count = graph.wide(count);
        graph.over(count, self.all as f64)
    }

    /// Replaces what is said `[N, W]` of the rows of `x [N, d]` that have absent cells.
    pub(crate) fn complete(
        &self,
        graph: &mut Graph,
        head: &Head<'_>,
        process: &LocalProcess,
        kept: &Kept<'_>,
        x: Value,
        said: Value,
    ) -> Result<Value, ExportError> {
        let d = self.width;
        let mut order: Vec<usize> = (0..kept.x.shape[0]).collect();
        order.sort_by_key(|&row| scattered(row as u64));
        let shuffled: Vec<f32> =
            order.iter().flat_map(|&row| &kept.x.values[row * d..][..d]).copied().collect();
        let at: Vec<i64> = order.iter().map(|&row| row as i64).collect();
        let (at, rows) = (graph.list(&at), kept.rows());
        let rows = graph.outside(|graph| graph.gather(rows, at, 0));
        let points = Points::new(graph, rows, &shuffled, &process.inverse_lengths());
        let counts = graph.reduce("ReduceSum", self.cells, &[1], false);
        let is_absent = graph.is_number("Greater", counts, 0.0);
        let places = graph.node("NonZero", &[is_absent], Vec::new(), Type::I64); // [1, A]
        let places = graph.reshape(places, &[-1]);
        let trips = graph.size(places, 0);
        let trips = graph.reshape(trips, &[]);
        let none = graph.f64s(&[0, head.width()], &[]);
        let owners = graph.f32s(&[self.columns, d], &self.owners);
        let mut failure = None;
        let [completed] = graph.repeat(trips, [none], |graph, i, [done]| {
            let i = graph.reshape(i, &[1]);
            let place = graph.gather(places, i, 0);
            let (row, cells) = (graph.gather(x, place, 0), graph.gather(self.cells, place, 0)); // [1, d], [1, columns]
            let unknown = graph.matmul(cells, owners);
            let is_unknown = graph.is_number("Greater", unknown, 0.0);
            let known = graph.from(1.0, unknown);
            let found = points.nearest(graph, row, Some(known), DONORS);
            let donors = graph.gather(rows, found.rows, 0);
            let donors = graph.reshape(donors, &[-1, d as i64]);
            let whole = graph.choose(is_unknown, donors, row); // [donors, d]
            match head.completed(graph, whole) {
                Ok(said) => [graph.concat(&[done, said], 0)],
                Err(error) => {
                    failure = Some(error);
                    [done]
                }
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let places = graph.unsqueeze(places, 1);
        Ok(graph.node("ScatterND", &[said, places, completed], Vec::new(), said.ty))
    }
}
