//! Numbers of things: `1 row`, `2 rows`.

/// A number and what it counts.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// `is 1 row`, `are 2 rows`.
pub(crate) fn are(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", if n == 1 { "is" } else { "are" }, counted(n, one, many))
}

/// A number of rows.
pub(crate) fn counted_rows(n: usize) -> String {
    counted(n, "row", "rows")
}
