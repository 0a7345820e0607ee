//! A progress bar: one line of a terminal that is drawn over. Hidden where standard error is no terminal.

use reproduce::duration;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Characters of the bar itself.
const WIDTH: usize = 24;
/// Drawn no more often than this.
const PAUSE: Duration = Duration::from_millis(60);

/// A bar; draws nothing before it has something to say.
pub(crate) struct Bar {
    visible: bool,
    start: Instant,
    drawn: Mutex<Drawn>,
}

struct Drawn {
    line: String,
    at: Option<Instant>,
}

impl Bar {
    /// A bar on standard error.
    pub(crate) fn new() -> Self {
        Self::shown(std::io::stderr().is_terminal())
    }

    /// A bar that is never seen.
    pub(crate) fn hidden() -> Self {
        Self::shown(false)
    }

    fn shown(visible: bool) -> Self {
        Self { visible, start: Instant::now(), drawn: Mutex::new(Drawn { line: String::new(), at: None }) }
    }

    pub(crate) fn is_hidden(&self) -> bool {
        !self.visible
    }

    /// Draws a share of all that there is to do, and a text beside it.
    pub(crate) fn draw(&self, share: f64, text: &str) {
        if !self.visible {
            return;
        }
        let mut drawn = self.drawn.lock().expect("nobody panicked");
        if drawn.at.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        let full = (share.clamp(0.0, 1.0) * WIDTH as f64) as usize;
        let line = format!("{}{} {text}", "█".repeat(full), "░".repeat(WIDTH - full));
        let columns = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        drawn.line = line.chars().take(columns.saturating_sub(1)).collect();
        drawn.at = Some(Instant::now());
        eprint!("\r\x1b[2K{}", drawn.line);
        let _ = std::io::stderr().flush(); // a terminal that is gone needs no bar
    }

    /// `12 s / ETA 40 s`.
    pub(crate) fn times(&self, share: f64) -> String {
        let elapsed = self.start.elapsed().as_secs_f64();
        if share <= 0.0 {
            return duration(elapsed);
        }
        format!("{} / ETA {}", duration(elapsed), duration(elapsed * (1.0 - share).max(0.0) / share))
    }

    /// Prints a line above the bar.
    pub(crate) fn println(&self, text: &str) {
        if self.visible {
            let drawn = self.drawn.lock().expect("nobody panicked");
            eprintln!("\r\x1b[2K{text}");
            eprint!("{}", drawn.line);
        }
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        let mut drawn = self.drawn.lock().expect("nobody panicked");
        if !std::mem::take(&mut drawn.line).is_empty() {
            eprint!("\r\x1b[2K");
        }
    }
}
