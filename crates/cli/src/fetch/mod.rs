//! Public sets from their public sources, checked, to where `ign train NAME` looks for them.
//!
//! ```text
//! address → nameless temporary file → files that are wanted → sums → DATA_DIR/NAME, by rename
//! ```
//! Whatever fails before the last arrow leaves nothing behind. The table of sources is part of every build; what fetches
//! them needs the feature `fetch`.

#[cfg(feature = "fetch")]
mod check;
#[cfg(feature = "fetch")]
mod copy;
#[cfg(feature = "fetch")]
mod download;
#[cfg(feature = "fetch")]
mod fetching;
#[cfg(feature = "fetch")]
mod imdb;
#[cfg_attr(not(feature = "fetch"), allow(dead_code, reason = "parsed, then refused"))]
pub(crate) mod origin;
#[cfg(feature = "fetch")]
mod place;
#[cfg(feature = "fetch")]
mod problem;
#[cfg_attr(
    not(feature = "fetch"),
    allow(dead_code, reason = "`ign data list` shows names and addresses only")
)]
mod sources;
pub(crate) mod table;
#[cfg(all(test, feature = "fetch"))]
mod tests;
#[cfg(feature = "fetch")]
mod unpack;

#[cfg(feature = "fetch")]
pub(crate) use fetching::{Fetching, Outcome, find};
