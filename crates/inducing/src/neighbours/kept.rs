//! Training rows as a model file has them.

/// In [`KeptRows::folds`]: nothing, and a row that no member has seen.
const NOBODY: f32 = -1.0;
const EVERYBODY: f32 = -2.0;

/// Rows that a model keeps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptRows {
    /// Coordinates `[N, d]`: the inputs of a table, the features of anything else.
    pub(crate) x: Vec<f32>,
    /// Standardised labels `[N, C]`, or classes `[N, 1]`.
    pub(crate) y: Vec<f32>,
    /// Squared errors when they were held out `[N, C]`; empty for classes.
    pub(crate) errors: Vec<f32>,
    /// Members that left a row out `[N, R]`: −1 for none, −2 in the first place where no member has seen it. Empty without members.
    pub(crate) folds: Vec<f32>,
    /// d
    pub(crate) width: usize,
}

impl KeptRows {
    /// N
    pub(crate) fn len(&self) -> usize {
        self.x.len() / self.width
    }

    /// R
    pub(crate) fn repeats(&self) -> usize {
        self.folds.len() / self.len()
    }

    /// The rows that each of some members has not seen.
    pub(crate) fn left_out(&self, members: usize) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); members];
        for (row, folds) in self.folds.chunks_exact(self.repeats().max(1)).enumerate() {
            if folds[0] == EVERYBODY {
                rows.iter_mut().for_each(|rows| rows.push(row));
            }
            folds.iter().filter(|&&member| member >= 0.0).for_each(|&member| rows[member as usize].push(row));
        }
        rows
    }

    /// Whether `folds` names some of so many members.
    pub(crate) fn folds_are_sound(&self, members: usize) -> bool {
        let sound = |&m: &f32| m.fract() == 0.0 && (EVERYBODY..members as f32).contains(&m);
        self.folds.len().is_multiple_of(self.len()) && self.folds.iter().all(sound)
    }

    /// Appends rows that no member has seen.
    pub(crate) fn append(&mut self, x: &[f32], y: &[f32], errors: &[f32]) {
        let (repeats, added) = (self.repeats(), x.len() / self.width);
        self.x.extend_from_slice(x);
        self.y.extend_from_slice(y);
        self.errors.extend_from_slice(errors);
        let row = std::iter::once(EVERYBODY).chain(std::iter::repeat(NOBODY)).take(repeats);
        (0..added).for_each(|_| self.folds.extend(row.clone()));
    }
}

/// [`KeptRows::folds`] of `n` rows by what each member left out.
pub(crate) fn folds_of(left_out: &[Vec<usize>], n: usize, repeats: usize) -> Vec<f32> {
    let mut by_row = vec![Vec::with_capacity(repeats); n];
    for (member, rows) in left_out.iter().enumerate() {
        rows.iter().for_each(|&row| by_row[row].push(member as f32));
    }
    let of_row = |mut members: Vec<f32>| {
        if members.len() == left_out.len() && members.len() > repeats {
            members = vec![EVERYBODY];
        }
        members.resize(repeats, NOBODY);
        members
    };
    by_row.into_iter().flat_map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_left_out_by_their_folds_and_added_ones_by_every_member() {
        let left_out = vec![vec![0, 2], vec![1], vec![0, 1], vec![2]];
        let folds = folds_of(&left_out, 3, 2);
        let mut kept = KeptRows { x: vec![0.0; 6], y: vec![0.0; 3], errors: vec![0.0; 3], folds, width: 2 };
        assert_eq!(kept.left_out(4), left_out);
        kept.append(&[1.0, 2.0], &[3.0], &[4.0]);
        assert_eq!((kept.len(), kept.repeats()), (4, 2));
        let grown = kept.left_out(4);
        assert!(
            grown
                .iter()
                .zip(&left_out)
                .all(|(grown, rows)| grown[..rows.len()] == rows[..] && grown.last() == Some(&3))
        );
        assert_eq!(folds_of(&grown, 4, 2), kept.folds, "nobody has seen the new row, then and now");
        assert!(kept.folds_are_sound(4) && !kept.folds_are_sound(3));
    }
}
