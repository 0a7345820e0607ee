//! What a run varies beside its preset and its seed.

use crate::experiment::FOLDS;

/// What is varied beside preset and seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Nothing.
    Plain,
    /// The number of inducing points, for the ablation.
    Inducing(usize),
    /// Which part is held out.
    Fold(usize),
    /// The middle third of the input `x{k}` is held out.
    Gap(usize),
    /// Which cluster is held out.
    Cluster(usize),
}

impl Variant {
    /// As records call it.
    pub(crate) fn name(self) -> String {
        match self {
            Variant::Plain => String::new(),
            Variant::Inducing(m) => format!("m{m}"),
            Variant::Fold(fold) => format!("f{fold}"),
            Variant::Gap(k) => format!("g{k}"),
            Variant::Cluster(cluster) => format!("c{cluster}"),
        }
    }

    /// The variant that records call so.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse().ok();
        if name.is_empty() {
            return Some(Self::Plain);
        }
        match name.split_at_checked(1) {
            Some(("m", m)) => number(m).map(Self::Inducing),
            Some(("f", fold)) => number(fold).map(Self::Fold),
            Some(("g", k)) => number(k).map(Self::Gap),
            Some(("c", cluster)) => number(cluster).map(Self::Cluster),
            _ => None,
        }
    }

    /// For people; nothing where nothing is varied.
    pub(crate) fn title(self) -> String {
        match self {
            Variant::Plain => String::new(),
            Variant::Inducing(m) => format!("{m} inducing points"),
            Variant::Fold(fold) => format!("fold {} of {FOLDS}", fold + 1),
            Variant::Gap(k) => format!("gap in x{k}"),
            Variant::Cluster(cluster) => format!("cluster {}", cluster + 1),
        }
    }

    /// Whether rows are held out that are unlike the others.
    pub(crate) fn is_away(self) -> bool {
        matches!(self, Variant::Gap(_) | Variant::Cluster(_))
    }

    /// Whether runs of both take about the same time: parts of one set do.
    pub(crate) fn costs_as(self, other: Self) -> bool {
        match (self, other) {
            (Variant::Fold(_), Variant::Fold(_)) => true,
            (one, other) => one == other || one.is_away() && other.is_away(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_found_by_its_name() {
        use Variant::{Cluster, Fold, Gap, Inducing, Plain};
        for variant in [Plain, Inducing(16), Fold(3), Gap(12), Cluster(4)] {
            assert_eq!(Variant::from_name(&variant.name()), Some(variant));
        }
        assert!(["g", "x3", "c-1", "ä"].iter().all(|name| Variant::from_name(name).is_none()));
    }
}
