//! "Did you mean": the closest of many names, or none if none is close.

/// The name of `names` with the smallest edit distance to `wanted`, ignoring case.
///
/// Close means at most one edit for each three characters, and one in any case.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let wanted = folded(wanted);
    let limit = (wanted.len() / 3).max(1);
    names
        .into_iter()
        .map(|name| (edit_distance(&wanted, &folded(name), limit), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.clone())
}

fn folded(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).filter(|c| !matches!(c, ' ' | '_' | '-' | '.')).collect()
}

/// Levenshtein distance, O(|a|·|b|); anything above `limit` is reported as `limit + 1`.
fn edit_distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()].min(limit + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_column_and_an_unrelated_name_finds_none() {
        let names: Vec<String> = ["age", "Income", "house_number"].map(String::from).into();
        assert_eq!(nearest("aeg", &names), None, "two edits in three letters are too many");
        assert_eq!(nearest("ages", &names).as_deref(), Some("age"));
        assert_eq!(nearest("income", &names).as_deref(), Some("Income"));
        assert_eq!(nearest("House Number", &names).as_deref(), Some("house_number"));
        assert_eq!(nearest("weather", &names), None);
    }
}
