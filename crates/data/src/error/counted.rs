//! Numbers of things: `1 row`, `2 rows`.

/// A number and what it counts.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A number of rows.
pub(crate) fn counted_rows(n: usize) -> String {
    counted(n, "row", "rows")
}
