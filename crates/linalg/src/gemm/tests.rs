//! Products against plain loops, against faer, and against themselves when they are cut.

use super::*;
use proptest::prelude::*;

fn filled(rows: usize, columns: usize, seed: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| ((31 * i + 17 * j + seed) % 101) as f64 * 0.01 - 0.5)
}

/// By plain loops; what is not needed is left as it was.
fn expected(out: &Mat<f64>, part: Part, plus: Option<&Mat<f64>>, a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(out.nrows(), out.ncols(), |i, j| {
        let sum: f64 = (0..a.ncols()).map(|p| a[(i, p)] * b[(p, j)]).sum();
        let needed = match part {
            Part::All => true,
            Part::Upper { from } => i <= from + j,
        };
        if needed { -0.7 * sum + plus.map_or(0.0, |plus| plus[(i, j)]) } else { out[(i, j)] }
    })
}

/// The largest difference of two entries.
fn distance(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    let entries = (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| (i, j)));
    entries.fold(0.0, |largest, at| f64::max(largest, (a[at] - b[at]).abs()))
}

#[test]
fn products_are_those_of_plain_loops_for_every_kind_of_size_and_layout() {
    let sizes = [
        (1, 1, 1),
        (3, 2, 5),
        (8, 6, 4),
        (9, 7, 130),
        (40, 5, 33),
        (33, 98, 17),
        (70, 31, 600),
        (8, 96, 512),
        (20, 9, 0),
        (2, 40, 7),
        (40, 2, 7),
        (1, 50, 9),
        (50, 1, 9),
    ];
    for (m, n, k) in sizes {
        let (a, b, out, other) = (filled(m, k, 1), filled(k, n, 2), filled(m, n, 3), filled(m, n, 8));
        let (a_rows, b_rows) = (a.transpose().to_owned(), b.transpose().to_owned());
        for (left, right) in
            [(a.as_ref(), b.as_ref()), (a_rows.transpose(), b.as_ref()), (a.as_ref(), b_rows.transpose())]
        {
            for part in [Part::All, Part::Upper { from: 0 }, Part::Upper { from: 11 }] {
                for (plus, added) in [
                    (Plus::Nothing, None),
                    (Plus::Out, Some(&out)),
                    (Plus::Matrix(other.as_ref()), Some(&other)),
                ] {
                    let mut found = out.clone();
                    product_part(found.as_mut(), part, plus, left, right, -0.7);
                    let error = distance(found.as_ref(), expected(&out, part, added, &a, &b).as_ref());
                    // Sums of up to 600 terms below 0.25.
                    assert!(error < 1e-13, "{m}×{n}×{k}, {part:?}, {plus:?}: {error}");
                }
            }
        }
    }
}

#[test]
fn zeros_of_a_triangle_are_never_read() {
    for n in [1, 7, 8, 20, 64] {
        let b = filled(n, 13, 9);
        for zeros in [Zeros::Above, Zeros::Below] {
            let kept = |i: usize, p: usize| if zeros == Zeros::Above { p <= i } else { p >= i };
            let a = Mat::from_fn(n, n, |i, p| if kept(i, p) { (i + 2 * p) as f64 } else { 0.0 });
            // What a tile reads beside the triangle are true zeros; far from it stands what must not be read.
            let far = |i: usize, p: usize| !kept(i, p) && i.abs_diff(p) >= MOST_ROWS;
            let hostile = Mat::from_fn(n, n, |i, p| if far(i, p) { f64::NAN } else { a[(i, p)] });
            let mut out = Mat::zeros(n, 13);
            Packed::with_packed(hostile.as_ref(), |packed| {
                packed.triangle_times(zeros, (0, 0), out.as_mut(), b.as_ref());
            });
            let product = expected(&out, Part::All, None, &a, &b);
            out.as_mut().col_iter_mut().flatten().for_each(|x| *x *= -0.7);
            assert!(distance(out.as_ref(), product.as_ref()) < 1e-9, "{n}, {zeros:?}");
        }
    }
}

#[test]
fn rows_and_columns_of_the_left_side_can_be_left_out_and_put_in_later() {
    let (m, n, k) = (100, 10, 70);
    let (a, b) = (filled(m, k, 4), filled(k, n, 5));
    let mut packed = Packed::new();
    packed.resize(m, k);
    packed.put((0, 0), a.as_ref().subcols(0, 30));
    packed.put((0, 30), a.as_ref().submatrix(0, 30, 64, 40));
    packed.put((64, 30), a.as_ref().submatrix(64, 30, 36, 40));
    let (mut out, mut direct) = (Mat::zeros(36, n), Mat::zeros(36, n));
    let right = b.as_ref().subrows(20, 45);
    packed.times((64, 20), out.as_mut(), Part::All, Plus::Nothing, right, 1.0);
    product(direct.as_mut(), Plus::Nothing, a.as_ref().submatrix(64, 20, 36, 45), right, 1.0);
    assert_eq!(out, direct);
}

#[test]
fn products_agree_with_faer_where_it_was_used_before() {
    for (m, n, k) in [(64, 128, 256), (3, 5, 7), (200, 1, 300), (1, 90, 33)] {
        let (a, b) = (filled(m, k, 1), filled(k, n, 2));
        let [left, right] = [&a, &b].map(|x| faer::Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)]));
        let theirs = left * right;
        let mut ours = Mat::zeros(m, n);
        product(ours.as_mut(), Plus::Nothing, a.as_ref(), b.as_ref(), 1.0);
        let theirs = Mat::from_fn(m, n, |i, j| theirs[(i, j)]);
        assert!(distance(ours.as_ref(), theirs.as_ref()) < 1e-13);
    }
}

#[test]
fn windows_that_overlap_are_multiplied_as_if_they_were_copied() {
    let (channels, outputs, pixels) = (5, 7, 40);
    let x: Vec<f32> = (0..(pixels + 2) * channels).map(|i| (i as f32 * 0.7).sin()).collect();
    let weight: Vec<f32> = (0..3 * channels * outputs).map(|i| (i as f32 * 0.3).cos()).collect();
    let windows = MatRef::from_row_major_slice_with_stride(&x, pixels, 3 * channels, channels);
    let copied = windows.to_owned();
    let weight = MatRef::from_row_major_slice(&weight, 3 * channels, outputs);
    let [mut found, mut expected] = [(); 2].map(|()| vec![0.0; pixels * outputs]);
    for (out, windows) in [(&mut found, windows), (&mut expected, copied.as_ref())] {
        product(MatMut::from_row_major_slice_mut(out, pixels, outputs), Plus::Nothing, windows, weight, 1.0);
    }
    assert_eq!(found, expected);
}

/// How a matrix is stored.
#[derive(Debug, Clone, Copy)]
enum Layout {
    Columns,
    Rows,
    /// With other numbers between any two.
    Scattered,
}

const LAYOUTS: [Layout; 3] = [Layout::Columns, Layout::Rows, Layout::Scattered];

/// A slice that holds a matrix, with the strides.
fn stored<T: Real>(matrix: MatRef<'_, T>, layout: Layout) -> (Vec<T>, [usize; 2]) {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let strides = match layout {
        Layout::Columns => [1, rows + 3],
        Layout::Rows => [columns + 2, 1],
        Layout::Scattered => [3, 3 * rows + 1],
    };
    let mut slice = vec![T::from_f64(f64::NAN); rows * strides[0] + columns * strides[1] + 1];
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        slice[i * strides[0] + j * strides[1]] = matrix[(i, j)];
    }
    (slice, strides)
}

/// The product of some rows and columns, in some layouts.
fn computed<T: Real>(
    [out, plus, a, b]: [MatRef<'_, T>; 4],
    how: Plus<'_, T>,
    layouts: [Layout; 4],
    threads: usize,
) -> Mat<T> {
    let [(mut c, c_strides), (p, p_strides), (a_data, a_strides), (b_data, b_strides)] =
        [(out, layouts[0]), (plus, layouts[1]), (a, layouts[2]), (b, layouts[3])]
            .map(|(x, layout)| stored(x, layout));
    let size = [out.nrows(), out.ncols()];
    let left = MatRef::from_slice_with_strides(&a_data, [a.nrows(), a.ncols()], a_strides);
    let right = MatRef::from_slice_with_strides(&b_data, [b.nrows(), b.ncols()], b_strides);
    let how = match how {
        Plus::Matrix(_) => Plus::Matrix(MatRef::from_slice_with_strides(&p, size, p_strides)),
        other => other,
    };
    let mut scratch;
    let mut target = match layouts[0] {
        Layout::Columns => {
            MatMut::from_column_major_slice_with_stride_mut(&mut c, size[0], size[1], c_strides[1])
        }
        Layout::Rows => MatMut::from_row_major_slice_with_stride_mut(&mut c, size[0], size[1], c_strides[0]),
        // What is written always has contiguous rows or columns.
        Layout::Scattered => {
            scratch = out.to_owned();
            scratch.as_mut()
        }
    };
    shared_product(target.as_mut(), how, left, right, T::from_f64(-0.7), threads);
    target.as_ref().to_owned()
}

/// To the bit, so that also the sign of a zero counts.
fn same<T: Real>(a: T, b: T) -> bool {
    a.to_f64().to_bits() == b.to_f64().to_bits()
}

fn check_rule<T: Real>([m, n, k]: [usize; 3], cut: [usize; 4], layout: usize, how: usize, threads: usize) {
    let fill = |rows, columns, seed: usize| {
        Mat::<T>::from_fn(rows, columns, |i, j| {
            // Some zeros, so that sums may be zeros of either sign.
            let x = ((i * 7919 + j * 104_729 + seed * 31) % 1009) as f64 / 500.0 - 1.0;
            T::from_f64(if x.abs() < 0.1 { 0.0 } else { x })
        })
    };
    let (out, plus, a, b) = (fill(m, n, 1), fill(m, n, 2), fill(m, k, 3), fill(k, n, 4));
    let all = [out.as_ref(), plus.as_ref(), a.as_ref(), b.as_ref()];
    let how = [Plus::Nothing, Plus::Out, Plus::Matrix(plus.as_ref())][how];
    let whole = computed(all, how, [Layout::Columns; 4], 1);
    let [top, left] = [cut[0] % m, cut[1] % n];
    let [rows, columns] = [1 + cut[2] % (m - top), 1 + cut[3] % (n - left)];
    let block = |x: MatRef<'_, T>| x.submatrix(top, left, rows, columns).to_owned();
    let (out, plus) = (block(out.as_ref()), block(plus.as_ref()));
    let (a, b) = (a.as_ref().subrows(top, rows), b.as_ref().subcols(left, columns));
    let layouts = std::array::from_fn(|i| LAYOUTS[layout / 3usize.pow(i as u32) % 3]);
    let part = computed([out.as_ref(), plus.as_ref(), a, b], how, layouts, threads);
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        let (found, expected) = (part[(i, j)], whole[(top + i, left + j)]);
        assert!(
            same(found, expected),
            "({i}, {j}) of {rows}×{columns} at ({top}, {left}): {found:?} {expected:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The rule of this module: any block, in any layout, on any number of threads, has the bits of the whole.
    #[test]
    fn an_entry_depends_on_its_row_and_column_alone(
        size in [1..70usize, 1..70usize, 1..40usize], cut: [u16; 4], layout in 0..81usize, how in 0..3usize, double: bool
    ) {
        let cut = cut.map(usize::from);
        if double {
            check_rule::<f64>(size, cut, layout, how, 1);
        } else {
            check_rule::<f32>(size, cut, layout, how, 1);
        }
    }
}

#[test]
fn an_entry_depends_on_its_row_and_column_alone_where_long_sums_are_cut_and_where_threads_share() {
    for (layout, how) in (0..81).step_by(7).zip((0..3).cycle()) {
        check_rule::<f32>([67, 45, 1100], [3, 5, 40, 37], layout, how, 1);
        check_rule::<f64>([260, 150, 90], [0, 0, 259, 149], layout, how, 2);
        check_rule::<f64>([150, 300, 90], [0, 0, 149, 299], layout, how, 3);
    }
}

#[test]
fn the_upper_triangle_has_the_bits_of_the_whole_on_any_number_of_threads() {
    let (n, k) = (300, 60);
    let (a, b, plus) = (filled(n, k, 6), filled(k, n, 7), filled(n, n, 8));
    let mut whole = Mat::zeros(n, n);
    product(whole.as_mut(), Plus::Matrix(plus.as_ref()), a.as_ref(), b.as_ref(), 0.3);
    for threads in [1, 2, 3] {
        let mut upper = Mat::from_fn(n, n, |_, _| 9.0);
        upper_product(upper.as_mut(), Plus::Matrix(plus.as_ref()), a.as_ref(), b.as_ref(), 0.3, threads);
        let expected = Mat::from_fn(n, n, |i, j| if i <= j { whole[(i, j)] } else { 9.0 });
        assert!(upper == expected, "{threads} threads");
    }
}
