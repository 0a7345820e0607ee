//! What people see: progress, the dashboard, text on standard output.

pub(crate) mod bar;
pub(crate) mod baselines;
#[cfg(feature = "dashboard")]
pub(crate) mod dashboard;
#[cfg(not(feature = "dashboard"))]
#[path = "no_dashboard.rs"]
pub(crate) mod dashboard;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod run_board;
pub(crate) mod text;
pub(crate) mod times;
