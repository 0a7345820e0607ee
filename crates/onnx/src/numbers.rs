//! Predicted numbers (docs/model-file.md, section 7, "Regression").

use crate::error::ExportError;
use crate::feature_stack::{FeatureStacker, Position};
use crate::graph::{Graph, Value};
use crate::kept::Kept;
use crate::mixture::Density;
use crate::network::Members;
use crate::scale;
use crate::stack::{Stacked, Stacker};
use crate::tensors::{Tensors, widen};
use data::TargetColumn;
use inducing::model::ModelHeader;

/// What is said of one target on the scale on which it is modelled, `[n, 1]` each.
pub(crate) struct Number<'a> {
    pub(crate) mean: Value,
    pub(crate) std: Value,
    pub(crate) std_latent: Value,
    pub(crate) density: Density<'a>,
    pub(crate) familiarity: Option<Value>,
}

/// A model of numbers.
pub(crate) struct Numbers<'a> {
    header: &'a ModelHeader,
    tensors: &'a Tensors<'a>,
    stackers: Vec<Stacker<'a>>,
    features: Option<FeatureStacker<'a>>,
    sigma: Vec<f64>,
    quantiles: &'a [f64],
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(
        graph: &mut Graph,
        header: &'a ModelHeader,
        tensors: &'a Tensors<'a>,
        kept: Option<&Kept<'a>>,
        quantiles: &'a [f64],
    ) -> Result<Self, ExportError> {
        let (mut stackers, mut features) = (Vec::new(), None);
        if let (Some(kept), Some(ensemble)) = (kept, &header.ensemble) {
            for (output, stack) in ensemble.stacks.iter().enumerate() {
                stackers.push(Stacker::new(graph, kept, stack, output)?);
            }
        }
        if let (Some(kept), Some(stack)) = (kept, &header.feature_stack) {
            features = Some(FeatureStacker::new(graph, kept, stack, tensors)?);
        }
        let sigma = widen(tensors.get("noise.log_sigma")?.values).iter().map(|log| log.exp()).collect();
        Ok(Self { header, tensors, stackers, features, sigma, quantiles })
    }

    /// Targets.
    pub(crate) fn targets(&self) -> &'a [TargetColumn] {
        self.header.schema.numbers()
    }

    /// Whether there is a familiarity.
    pub(crate) fn is_familiar(&self) -> bool {
        !self.stackers.is_empty() || self.features.is_some()
    }

    /// One `Number` for each target at `x [n, width]`, as if no cell were absent.
    pub(crate) fn modelled(&self, graph: &mut Graph, x: Value) -> Result<Vec<Number<'a>>, ExportError> {
        let members = Members::new(graph, self.header, self.tensors, x)?;
        let position =
            self.features.as_ref().map(|features| features.locate(graph, x, &members, self.targets().len()));
        let mut said = Vec::new();
        for (output, target) in self.targets().iter().enumerate() {
            if let Some(stacker) = self.stackers.get(output) {
                let stacked = stacker.predict(graph, x, &members);
                said.push(restored(graph, stacked, target));
                continue;
            }
            let [mean, var] = members.joined(graph, output);
            said.push(self.calibrated(graph, mean, var, output, position.as_ref()));
        }
        Ok(said)
    }

    /// A number that follows from a recalibrated latent function.
    fn calibrated(
        &self,
        graph: &mut Graph,
        mean: Value,
        var: Value,
        output: usize,
        position: Option<&Position>,
    ) -> Number<'a> {
        let (target, calibration) = (&self.targets()[output], &self.header.calibration[output]);
        let var = position.map_or(var, |position| graph.add(var, position.var));
        let latent = graph.times(var, calibration.latent);
        let logs: Vec<f64> = calibration.noise.iter().map(|b| b.ln()).collect();
        let log_noise = graph.between(mean, &calibration.knots, &logs);
        let noise = graph.exp(log_noise);
        let noise = graph.times(noise, self.sigma[output] * self.sigma[output]);
        let var = graph.add(latent, noise);
        let [std, std_latent] = [var, latent].map(|var| graph.sqrt(var));
        let density = Density::Scaled { mean, std, calibration }.restored(graph, target.mean, target.std);
        let mean = graph.times(mean, target.std);
        let mean = graph.plus(mean, target.mean);
        let [std, std_latent] = [std, std_latent].map(|std| graph.times(std, target.std));
        let number = Number { mean, std, std_latent, density, familiarity: None };
        match position {
            None => number,
            Some(position) => {
                let number = less_certain(graph, number, target, position.far);
                Number { familiarity: Some(position.familiarity), ..number }
            }
        }
    }

    /// All that is said of the targets, in their own units: `[n, W]`.
    pub(crate) fn columns(&self, graph: &mut Graph, said: &[Number<'a>]) -> Value {
        let mut columns = Vec::new();
        for (number, target) in said.iter().zip(self.targets()) {
            let quantiles = match self.quantiles {
                [] => None,
                some => Some(number.density.quantiles(graph, some)),
            };
            if target.scale.is_plain() {
                columns.extend([number.mean, number.std, number.std_latent]);
                columns.extend(number.familiarity);
                columns.extend(quantiles);
                continue;
            }
            let [mean, std] = scale::moments(graph, &target.scale, number.density);
            let before = graph.at_least(number.std, f64::MIN_POSITIVE);
            let share = graph.div(std, before);
            columns.extend([mean, std, graph.mul(number.std_latent, share)]);
            columns.extend(number.familiarity);
            columns.extend(quantiles.map(|quantiles| scale::invert(graph, &target.scale, quantiles)));
        }
        graph.concat(&columns, 1)
    }

    /// Names and numbers of the columns of one target.
    pub(crate) fn names(&self) -> Vec<(&'static str, usize)> {
        let mut names = vec![("mean", 1), ("std", 1), ("std_latent", 1)];
        names.extend(self.is_familiar().then_some(("familiarity", 1)));
        names.extend((!self.quantiles.is_empty()).then_some(("quantiles", self.quantiles.len())));
        names
    }
}

/// Towards the target's own mean and deviation, by a share t `[n, 1]`.
pub(crate) fn less_certain<'a>(
    graph: &mut Graph,
    number: Number<'a>,
    target: &TargetColumn,
    t: Value,
) -> Number<'a> {
    let root = graph.sqrt(t);
    let least = graph.times(root, target.std);
    let rest = graph.from(1.0, t);
    let (own, usual) = (graph.mul(number.mean, rest), graph.times(t, target.mean));
    let mean = graph.add(own, usual);
    let [std, std_latent] = [number.std, number.std_latent].map(|std| graph.max(std, least));
    let density = number.density.widened(graph, mean, least);
    Number { mean, std, std_latent, density, familiarity: number.familiarity }
}

/// On the scale on which the target is modelled.
fn restored<'a>(graph: &mut Graph, stacked: Stacked<'a>, target: &TargetColumn) -> Number<'a> {
    let Stacked { mean, var_latent, density, familiarity } = stacked;
    let deviation = density.deviation_about(graph, mean);
    let latent = graph.sqrt(var_latent);
    let latent = graph.min(latent, deviation);
    let [std, std_latent] = [deviation, latent].map(|std| graph.times(std, target.std));
    let density = density.restored(graph, target.mean, target.std);
    let mean = graph.times(mean, target.std);
    let mean = graph.plus(mean, target.mean);
    Number { mean, std, std_latent, density, familiarity: Some(familiarity) }
}
