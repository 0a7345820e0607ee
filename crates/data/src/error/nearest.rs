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

/// Levenshtein distance in which two letters that changed places are one edit (optimal string alignment), O(|a|·|b|); anything
/// above `limit` is reported as `limit + 1`.
fn edit_distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let (mut before, mut above) = (Vec::new(), (0..=b.len()).collect::<Vec<usize>>());
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substituted.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()].min(limit + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_column_and_an_unrelated_name_finds_none() {
        let names: Vec<String> = ["age", "Income", "house_number"].map(String::from).into();
        assert_eq!(
            nearest("aeg", &names).as_deref(),
            Some("age"),
            "letters that changed places are one edit"
        );
        assert_eq!(nearest("axx", &names), None, "two edits in three letters are too many");
        assert_eq!(nearest("ages", &names).as_deref(), Some("age"));
        assert_eq!(nearest("income", &names).as_deref(), Some("Income"));
        assert_eq!(nearest("House Number", &names).as_deref(), Some("house_number"));
        assert_eq!(nearest("weather", &names), None);
    }
}
