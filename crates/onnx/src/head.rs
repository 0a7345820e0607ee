//! What is predicted of a block of rows, numbers or classes, in one matrix.

use crate::classes::{Classes, Said};
use crate::error::ExportError;
use crate::graph::{Dim, Graph, Type, Value};
use crate::mixture::Density;
use crate::numbers::{Number, Numbers, less_certain};
use inducing::model::ModelHeader;

/// Shares of a mixture below this do not count in the mean of several.
const LEAST: f64 = 1e-4;

/// Numbers or classes.
pub(crate) enum Head<'a> {
    Numbers(Numbers<'a>),
    Classes(Classes<'a>),
}

impl Head<'_> {
    /// W: how many numbers are said of a row.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Numbers(numbers) => {
                numbers.targets().len() * numbers.names().iter().map(|(_, width)| width).sum::<usize>()
            }
            Self::Classes(classes) => classes.count() + usize::from(classes.is_familiar()),
        }
    }

    /// What is said `[n, W]` of `x [n, d]`; less sure by the share `[n, 1]` of cells that are absent, where it is given.
    pub(crate) fn say(
        &self,
        graph: &mut Graph,
        header: &ModelHeader,
        x: Value,
        absent: Option<Value>,
    ) -> Result<Value, ExportError> {
        match self {
            Self::Numbers(numbers) => {
                let mut said = numbers.modelled(graph, x)?;
                if let Some(share) = absent {
                    let all = said.into_iter().zip(numbers.targets());
                    said = all.map(|(number, target)| less_sure(graph, number, target, share)).collect();
                }
                Ok(numbers.columns(graph, &said))
            }
            Self::Classes(classes) => {
                let mut said = classes.say(graph, x)?;
                if let Some(share) = absent {
                    let counts = header.schema.class_counts();
                    let total: usize = counts.iter().sum();
                    let usual: Vec<f64> =
                        counts.iter().map(|&count| count as f64 / total.max(1) as f64).collect();
                    let usual = graph.f64s(&[1, usual.len()], &usual);
                    let familiarity = said.familiarity.map(|value| unfamiliar(graph, value, share));
                    said = Said { p: graph.towards(said.p, usual, share), familiarity };
                }
                Ok(joined(graph, &said))
            }
        }
    }

    /// What is said `[1, W]` of one row that several `x [n, d]` complete.
    pub(crate) fn completed(&self, graph: &mut Graph, x: Value) -> Result<Value, ExportError> {
        match self {
            Self::Numbers(numbers) => {
                let said = numbers.modelled(graph, x)?;
                let mixed: Vec<Number<'_>> = said.into_iter().map(|number| mixed(graph, number)).collect();
                Ok(numbers.columns(graph, &mixed))
            }
            Self::Classes(classes) => {
                let said = classes.say(graph, x)?;
                let p = graph.reduce("ReduceMean", said.p, &[0], true);
                let nothing = graph.f64s(&[1, 1], &[0.0]);
                Ok(joined(graph, &Said { p, familiarity: said.familiarity.map(|_| nothing) }))
            }
        }
    }

    /// Makes outputs of what is said `[N, W]`.
    pub(crate) fn outputs(&self, graph: &mut Graph, header: &ModelHeader, said: Value) {
        let rows = |graph: &mut Graph, value: Value| graph.reshape(value, &[-1]);
        match self {
            Self::Numbers(numbers) => {
                let mut at = 0;
                for target in numbers.targets() {
                    let prefix = if numbers.targets().len() == 1 {
                        String::new()
                    } else {
                        format!("{}_", target.name)
                    };
                    for (name, width) in numbers.names() {
                        let part = graph.slice(said, 1, at, at + width as i64);
                        at += width as i64;
                        let name = format!("{prefix}{name}");
                        if name.ends_with("quantiles") {
                            graph.output(&name, part, &[Dim::Rows, Dim::Of(width)]);
                        } else {
                            let part = rows(graph, part);
                            graph.output(&name, part, &[Dim::Rows]);
                        }
                    }
                }
            }
            Self::Classes(classes) => {
                let k = classes.count() as i64;
                let p = graph.slice(said, 1, 0, k);
                graph.output("probabilities", p, &[Dim::Rows, Dim::Of(classes.count())]);
                let decided = classes.decide(graph, p);
                let names = graph.texts(header.schema.classes().unwrap_or_default());
                let label = graph.node("Gather", &[names, decided], Vec::new(), Type::Text);
                graph.output("label", label, &[Dim::Rows]);
                graph.output("class", decided, &[Dim::Rows]);
                if classes.is_familiar() {
                    let familiarity = graph.slice(said, 1, k, k + 1);
                    let familiarity = rows(graph, familiarity);
                    graph.output("familiarity", familiarity, &[Dim::Rows]);
                }
            }
        }
    }
}

fn joined(graph: &mut Graph, said: &Said) -> Value {
    let columns: Vec<Value> = [said.p].into_iter().chain(said.familiarity).collect();
    graph.concat(&columns, 1)
}

/// 0 where a cell is absent.
fn unfamiliar(graph: &mut Graph, familiarity: Value, share: Value) -> Value {
    let is_absent = graph.is_number("Greater", share, 0.0);
    let nothing = graph.number(familiarity, 0.0);
    graph.choose(is_absent, nothing, familiarity)
}

fn less_sure<'a>(
    graph: &mut Graph,
    number: Number<'a>,
    target: &data::TargetColumn,
    share: Value,
) -> Number<'a> {
    let number = less_certain(graph, number, target, share);
    let familiarity = number.familiarity.map(|value| unfamiliar(graph, value, share));
    Number { familiarity, ..number }
}

/// One number of one row, from what is said of it with the cells of each donor.
fn mixed<'a>(graph: &mut Graph, said: Number<'a>) -> Number<'a> {
    let over_rows = |graph: &mut Graph, value: Value| graph.reduce("ReduceMean", value, &[0], true);
    let mean = over_rows(graph, said.mean);
    let apart = graph.sub(said.mean, mean);
    let squares = graph.square(apart);
    let spread = over_rows(graph, squares);
    let latent = graph.square(said.std_latent);
    let latent = over_rows(graph, latent);
    let density = match said.density {
        Density::Mixture { share, mean, std } => {
            let counts = graph.is_number("GreaterOrEqual", share, LEAST);
            let nothing = graph.number(share, 0.0);
            let share = graph.choose(counts, share, nothing);
            let [share, mean, std] = [share, mean, std].map(|values| graph.reshape(values, &[1, -1]));
            Density::mixture(graph, share, mean, std)
        }
        scaled => scaled,
    };
    let std = density.deviation_about(graph, mean);
    let var_latent = graph.add(latent, spread);
    let std_latent = graph.sqrt(var_latent);
    let std_latent = graph.min(std_latent, std);
    let nothing = graph.f64s(&[1, 1], &[0.0]);
    Number { mean, std, std_latent, density, familiarity: said.familiarity.map(|_| nothing) }
}
