//! What a model learned, made visible: inputs nearest to the inducing points, inputs moved towards them, features in the
//! plane, columns that matter, and what happens as one of them moves.

mod effects;
mod importance;
mod nearest;
mod partial_dependence;
mod pca;
mod refine;

pub use effects::Effects;
pub use importance::{ColumnImportance, Importance, Observed};
pub use nearest::{Neighbour, Neighbourhood, PseudoLabel};
pub use partial_dependence::{DependenceCurve, DependenceGrid, PartialDependence};
pub use pca::Projection;
pub use refine::{RefineOptions, Refined, RefinedInputs};
