//! Proofs of the closed-form head: an independent reference, central differences, identities.
#![allow(clippy::unwrap_used)]

mod class_gradients;
mod class_oracle;
mod common;
mod gradients;
mod not_finite;
mod oracle;
mod properties;
