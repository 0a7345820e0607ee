//! What can be wrong with a schema that comes out of a file: everything that encoding relies on is checked here, once.

use std::collections::HashSet;

use super::classes::MOST_CLASSES;
use super::target::Target;
use super::{DatePart, Encoding, TableSchema};
use crate::table::options::ColumnType;

/// No table that was read here has more features; a file that says so is forged.
const MOST_FEATURES: usize = 1 << 24;

impl TableSchema {
    /// What is wrong with a schema from a file, if anything is. A schema without fault encodes any table without panic.
    ///
    /// ```
    /// use inducing_data::{EncodeOptions, Encoding, Scale, Simulated, TableSchema};
    ///
    /// let table = Simulated::Levy.sample(50, 0, 0.0);
    /// let rows: Vec<usize> = (0..50).collect();
    /// let (mut schema, _) = TableSchema::fit(&table, &["y".into()], None, &rows, &EncodeOptions::default())?;
    /// assert_eq!(schema.fault(), None);
    /// if let Encoding::Number { scale, .. } = &mut schema.inputs[0].encoding {
    ///     *scale = Scale::Standard { mean: 0.0, std: 0.0 };
    /// }
    /// assert_eq!(schema.fault().as_deref(), Some("column `x1`: the standard deviation is 0"));
    /// # Ok::<(), inducing_data::DataError>(())
    /// ```
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if self.inputs.is_empty() {
            return Some("there are no inputs".into());
        }
        for input in &self.inputs {
            if let Some(fault) = input.encoding.fault() {
                return Some(format!("column `{}`: {fault}", input.name));
            }
        }
        let width = self.numeric_width() + self.indicator_width();
        if width > MOST_FEATURES {
            return Some(format!("there are {width} features, more than {MOST_FEATURES}"));
        }
        if let Some(fault) = self.targets.fault() {
            return Some(fault);
        }
        let names: Vec<String> =
            self.inputs.iter().map(|input| input.name.clone()).chain(self.targets.names()).collect();
        duplicate(&names).map(|name| format!("the column `{name}` stands twice"))
    }
}

impl Encoding {
    fn fault(&self) -> Option<String> {
        match self {
            Encoding::Number { impute, .. } if !impute.is_finite() => {
                Some(format!("missing values are filled in with {impute}"))
            }
            Encoding::Number { one_hot, .. }
                if !one_hot.iter().all(|value| value.is_finite())
                    || one_hot.iter().map(|value| value.to_bits()).collect::<HashSet<_>>().len()
                        < one_hot.len() =>
            {
                Some("the values with an indicator are not distinct numbers".into())
            }
            Encoding::Number { scale, .. } => scale.fault(),
            Encoding::Category { levels, .. } => {
                duplicate(levels).map(|level| format!("the level {level:?} stands twice"))
            }
            Encoding::DateTime { parts, .. } => {
                let distinct: HashSet<&str> = parts.iter().map(|(part, _)| DatePart::name(*part)).collect();
                if distinct.len() < parts.len() {
                    return Some("a part of the date stands twice".into());
                }
                parts.iter().find_map(|(_, scale)| scale.fault())
            }
            Encoding::Text { tokenizer } => tokenizer.fault(),
            Encoding::MissingOnly { column_type: ColumnType::Ignore, .. } => {
                Some("the column is ignored".into())
            }
            Encoding::Boolean { .. } | Encoding::MissingOnly { .. } => None,
        }
    }
}

impl Target {
    fn fault(&self) -> Option<String> {
        match self {
            Target::Numbers(targets) if targets.is_empty() => Some("there is no target".into()),
            Target::Numbers(targets) => targets.iter().find_map(|target| {
                let sound = target.mean.is_finite()
                    && target.std.is_finite()
                    && target.std > 0.0
                    && target.scale.is_sound();
                let (name, mean, std) = (&target.name, target.mean, target.std);
                (!sound).then(|| format!("target `{name}`: the mean is {mean} and the deviation {std}"))
            }),
            Target::Classes(target) => match target.column_type {
                ColumnType::DateTime | ColumnType::Ignore => {
                    Some(format!("target `{}` cannot be of type {}", target.name, target.column_type))
                }
                _ => class_fault(&target.levels, &target.counts)
                    .map(|fault| format!("target `{}`: {fault}", target.name)),
            },
        }
    }
}

/// What is wrong with the classes of a model and the numbers of their training examples.
pub(crate) fn class_fault(classes: &[String], counts: &[usize]) -> Option<String> {
    if !(2..=MOST_CLASSES).contains(&classes.len()) {
        return Some(format!("there are {} classes", classes.len()));
    }
    if counts.len() != classes.len() {
        return Some(format!("there are {} classes and {} counts of examples", classes.len(), counts.len()));
    }
    if counts.iter().try_fold(0usize, |sum, count| sum.checked_add(*count)).is_none() {
        return Some("the classes have more examples than can be counted".into());
    }
    duplicate(classes).map(|class| format!("the class {class:?} stands twice"))
}

/// The first name that stands twice.
pub(crate) fn duplicate(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::with_capacity(names.len());
    names.iter().find(|name| !seen.insert(name.as_str()))
}
