//! The order of class names: numbers by their value, all else by the alphabet.

use crate::table::cell::parse_number;

/// Positions of the names in their order: by value if every name is a number, otherwise by text.
pub(crate) fn natural_order(names: &[&str]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    let values: Option<Vec<f64>> = names.iter().map(|name| parse_number(name)).collect();
    match values {
        Some(values) => {
            order.sort_by(|a, b| values[*a].total_cmp(&values[*b]).then_with(|| names[*a].cmp(names[*b])));
        }
        None => order.sort_by_key(|at| names[*at]),
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_comes_after_nine_but_not_among_words() {
        let sorted = |names: &[&str]| {
            natural_order(names).into_iter().map(|at| names[at]).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(sorted(&["10", "9", "-1", "2.5"]), "-1 2.5 9 10");
        assert_eq!(sorted(&["no", "10", "9"]), "10 9 no");
        assert_eq!(sorted(&["1.0", "1", "01"]), "01 1 1.0");
    }
}
