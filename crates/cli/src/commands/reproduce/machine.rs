//! What the figures were measured on and with, and when.

use std::time::{SystemTime, UNIX_EPOCH};

/// The machine, and the program's commit where it is known.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) cpu: String,
    pub(crate) commit: Option<String>,
}

impl Machine {
    pub(crate) fn here() -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            commit: option_env!("IGN_COMMIT").map(str::to_owned),
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
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}

/// `1 h 20 min`, `3 min`, `12 s`.
pub(crate) fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        _ if seconds < 100.0 => format!("{seconds:.0} s"),
        0..120 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// Seconds of `90s`, `30m`, `2h`, `1h30m`, or a plain number of seconds.
pub(crate) fn parse_duration(text: &str) -> Result<f64, String> {
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
