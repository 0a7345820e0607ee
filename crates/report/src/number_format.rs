//! Numbers for people: four significant digits, separated thousands, a true minus sign.

/// `1,234,567`
pub(crate) fn count(n: usize) -> String {
    grouped(&n.to_string())
}

/// Four significant digits; integers below ten million keep all of theirs.
///
/// ```
/// use inducing_report::format_number;
/// assert_eq!(format_number(-0.123456), "−0.1235");
/// assert_eq!(format_number(1234567.8), "1,234,568");
/// assert_eq!(format_number(f64::NAN), "–");
/// ```
pub fn format_number(x: f64) -> String {
    significant(x, 4)
}

/// Four significant digits as programs read them: `-0.1235`, `1234567.8` as `1234568`.
pub fn plain_number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let digits = (3 - x.abs().log10().floor() as i32).max(0) as usize;
    if digits > 8 || x.abs() >= 1e12 { format!("{x:.3e}") } else { format!("{x:.digits$}") }
}

/// `1 row`, `2,000 rows`
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Significant digits without trailing zeros.
pub(crate) fn significant(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return unusual(x);
    }
    let magnitude = x.abs();
    if magnitude == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return scientific(x, digits.saturating_sub(1));
    }
    let before = magnitude.log10().floor() as i32 + 1;
    fixed(x, (digits as i32 - before).clamp(0, 12) as usize, true)
}

/// `93.1 %`, with a non-breaking space.
pub(crate) fn percent(share: f64) -> String {
    let x = share * 100.0;
    if !x.is_finite() {
        return unusual(x);
    }
    if x.abs() >= 1e6 {
        return format!("{}\u{a0}%", scientific(x, 2));
    }
    // 99.97 % must not read as 100 %, and near both ends a tenth matters.
    let digits = match x.abs() {
        0.0 | 100.0 => 0,
        x if !(0.1..=99.9).contains(&x) => 3,
        x if !(5.0..=95.0).contains(&x) => 2,
        _ => 1,
    };
    format!("{}\u{a0}%", fixed(x, digits, true))
}

/// The label of a tick; ticks are `step` apart.
pub(crate) fn tick(x: f64, step: f64) -> String {
    if !x.is_finite() || x == 0.0 || x.abs() < step.abs() * 1e-6 {
        return if x.is_finite() { "0".into() } else { unusual(x) };
    }
    let decimals = -(step.abs().log10() + 1e-9).floor();
    let large = x.abs().max(step.abs()) >= 1e6;
    if large || decimals > 5.0 {
        let digits = (x.abs().log10().floor() - step.abs().log10().floor()).clamp(0.0, 6.0);
        return scientific(x, digits as usize);
    }
    fixed(x, decimals.clamp(0.0, 6.0) as usize, false)
}

fn unusual(x: f64) -> String {
    let sign = if x == f64::NEG_INFINITY { "−" } else { "" };
    if x.is_nan() { "–".into() } else { format!("{sign}∞") }
}

fn scientific(x: f64, decimals: usize) -> String {
    let written = format!("{x:.decimals$e}");
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let mantissa =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{}×10{}", mantissa.replace('-', "−"), superscript(exponent))
}

fn superscript(digits: &str) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
    };
    digits.chars().map(raised).collect()
}

fn fixed(x: f64, decimals: usize, trim: bool) -> String {
    let written = format!("{:.decimals$}", x.abs());
    let (whole, part) = written.split_once('.').unwrap_or((&written, ""));
    let part = if trim { part.trim_end_matches('0') } else { part };
    let nothing = whole == "0" && part.bytes().all(|b| b == b'0');
    let sign = if x < 0.0 && !nothing { "−" } else { "" };
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{part}", grouped(whole))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (k, c) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_significant_digits() {
        let cases = [
            (0.0, "0"),
            (-0.123456, "−0.1235"),
            (12.3, "12.3"),
            (1234.56, "1,235"),
            (123456.7, "123,457"),
            (1e300, "1×10³⁰⁰"),
            (-1.23456e-9, "−1.235×10⁻⁹"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (x, expected) in cases {
            assert_eq!(format_number(x), expected);
        }
    }

    #[test]
    fn ticks_share_their_decimals() {
        assert_eq!([tick(0.5, 0.05), tick(2.0, 0.2), tick(1000.0, 500.0)], ["0.50", "2.0", "1,000"]);
        assert_eq!(tick(-2e6, 1e6), "−2×10⁶");
        assert_eq!(tick(1e-17, 0.1), "0");
    }

    #[test]
    fn nearly_all_is_not_all() {
        assert_eq!(percent(0.9997), "99.97\u{a0}%");
        assert_eq!(percent(1.0), "100\u{a0}%");
        assert_eq!(percent(0.0731), "7.3\u{a0}%");
    }
}
