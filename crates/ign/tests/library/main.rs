//! The library from outside: tables in, models out, and what must hold of them. One binary, because linking is slow.

mod calibration;
mod class_calibration;
mod class_metrics;
mod class_models;
mod class_runs;
mod configuration;
mod divergence;
mod encoder_gradient;
mod fixture;
mod golden;
mod hostile_classes;
mod hostile_files;
mod hostile_inputs;
mod inducing;
mod metrics;
mod own_encoder;
mod paper;
mod pictures;
mod predictions;
mod refine;
mod round_trip;
mod stopping;
mod threads;
mod through_the_head;
mod utilisation;
