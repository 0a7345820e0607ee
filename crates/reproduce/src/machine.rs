//! What the figures were measured on and with, and when.

use std::time::{SystemTime, UNIX_EPOCH};

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) cpu: String,
}

/// The program that makes the records.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// Its commit, where it is known.
    pub commit: Option<String>,
}

impl Machine {
    pub(crate) fn here() -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        }
    }
}

/// MB of memory that new processes can have; `None` where the system does not say.
pub(crate) fn free_memory() -> Option<u64> {
    let text = field("/proc/meminfo", "MemAvailable")?;
    text.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib / 1024)
}

/// The first line `name : value` of a file.
fn field(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}

/// `2026-11-16` (Hinnant's civil_from_days: years begin in March, so that a leap day ends one).
pub fn utc_date(seconds: u64) -> String {
    let days = (seconds / 86_400) as i64 + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `1 h 20 min`, `3 min`, `12 s`.
pub fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        _ if seconds < 100.0 => format!("{seconds:.0} s"),
        0..120 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// Seconds of `90s`, `30m`, `2h`, `1h30m`, or a plain number of seconds.
///
/// # Errors
/// If the text is not a time.
pub fn parse_duration(text: &str) -> Result<f64, String> {
    let fault = || format!("`{text}` is not a time; expected for example 90s, 30m or 2h");
    let (mut total, mut number) = (0.0, String::new());
    for letter in text.chars() {
        let unit = match letter {
            '0'..='9' | '.' => {
                number.push(letter);
                continue;
            }
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            'd' => 86_400.0,
            _ => return Err(fault()),
        };
        total += unit * number.parse::<f64>().map_err(|_| fault())?;
        number.clear();
    }
    if !number.is_empty() {
        total += number.parse::<f64>().map_err(|_| fault())?;
    }
    if text.is_empty() { Err(fault()) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        assert_eq!(utc_date(0), "1970-01-01");
        assert_eq!(utc_date(951_782_400), "2000-02-29");
        assert_eq!(utc_date(951_868_799 + 1), "2000-03-01");
        assert_eq!(utc_date(1_798_761_599), "2026-12-31");
    }

    #[test]
    fn times_are_read_with_their_units_and_nothing_else() {
        assert_eq!(parse_duration("2h"), Ok(7200.0));
        assert_eq!(parse_duration("1h30m"), Ok(5400.0));
        assert_eq!(parse_duration("0.5m"), Ok(30.0));
        assert_eq!(parse_duration("45"), Ok(45.0));
        for bad in ["", "h", "2 hours", "-1h", "1.2.3s", "soon"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
