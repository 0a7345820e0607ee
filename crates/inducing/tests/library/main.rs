//! The library from outside: data sets in, models out, and what must hold of them. One binary, because linking is slow.

mod calibration;
mod class_calibration;
mod class_metrics;
mod class_models;
mod class_runs;
mod configuration;
mod custom_encoder;
mod divergence;
mod early_stopping;
mod explain;
mod fixture;
mod golden;
mod hostile_classes;
mod hostile_files;
mod hostile_inputs;
mod images;
mod likelihood_gradient;
mod metrics;
mod paper;
mod predictions;
mod public_api;
mod refine;
mod refusals;
mod round_trip;
mod threads;
mod utilisation;
