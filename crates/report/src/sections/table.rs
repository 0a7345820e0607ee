//! Tables that the page's script can save as CSV.

use crate::escape;
use std::fmt::Write;

/// A table whose first cells head their lines. Headings and cells are HTML; `name` becomes the file's name, and `caption`
/// stands above the table where there is one.
pub(super) fn html(
    name: &str,
    columns: &[&str],
    caption: &str,
    lines: impl Iterator<Item = (String, Vec<String>)>,
) -> String {
    let mut out =
        format!("<div class=\"scroll\"><table class=\"metrics\" data-name=\"{}\">", escape::slug(name));
    if !caption.is_empty() {
        let _ = write!(out, "<caption>{caption}</caption>");
    }
    out.push_str("<thead><tr>");
    for column in columns {
        match column.is_empty() {
            true => out.push_str("<td>"),
            false => {
                let _ = write!(out, "<th scope=col>{}", column.replace(" %", "\u{a0}%"));
            }
        }
    }
    out.push_str("<tbody>");
    for (head, cells) in lines {
        let _ = write!(out, "<tr><th scope=row>{head}");
        cells.iter().for_each(|cell| {
            let _ = write!(out, "<td>{cell}");
        });
    }
    out.push_str("</table></div>");
    out
}
