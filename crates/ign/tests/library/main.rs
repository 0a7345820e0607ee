//! The library from outside: tables in, models out, and what must hold of them. One binary, because linking is slow.

mod calibration;
mod configuration;
mod divergence;
mod encoder_gradient;
mod fixture;
mod golden;
mod hostile_files;
mod metrics;
mod paper;
mod predictions;
mod round_trip;
mod stopping;
mod threads;
mod utilisation;
