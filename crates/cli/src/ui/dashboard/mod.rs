//! A full-screen view of a run: progress, curves, notices.
//!
//! The run only updates a [`View`]; another thread draws copies of it a few times a second and reads keys, so that
//! neither a slow step nor a slow terminal holds up the other.

mod curve;
mod draw;
pub(crate) mod screen;
mod speed;
#[cfg(test)]
mod tests;
mod view;

use crate::signals::{INTERRUPT, request_stop, stop_requested};
use crate::ui::text::terminal_safe;
use inducing::train::Event;
use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::disable_raw_mode;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use view::View;

/// Between two frames.
const FRAME: Duration = Duration::from_millis(100);

/// The view of a run. There is one terminal, so have one at a time.
pub(crate) struct Dashboard {
    view: Arc<Mutex<View>>,
    started: Instant,
    open: bool,
}

impl Dashboard {
    /// A view that opens with the first event; `None` if standard error is not a terminal that can show it.
    pub(crate) fn new() -> Option<Self> {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let able = io::stderr().is_terminal() && !dumb;
        able.then(|| Self { view: Arc::default(), started: Instant::now(), open: false })
    }

    /// Shows an event; fails when the terminal cannot be taken.
    pub(crate) fn show(&mut self, event: &Event<'_>) -> io::Result<()> {
        if !self.open {
            let screen = screen::enter()?;
            let (view, started) = (Arc::clone(&self.view), self.started);
            let thread = std::thread::Builder::new().name("dashboard".into());
            thread.spawn(move || watch(screen, &view, started)).inspect_err(|_| screen::leave())?;
            self.open = true;
        }
        if let Event::Notice(text) = event {
            self.note(text);
        } else {
            with(&self.view, |view| view.on_event(event, self.started.elapsed()));
        }
        Ok(())
    }

    /// Shows a notice, which is also printed: at once while the view is not open, and otherwise when it closes.
    pub(crate) fn note(&self, text: &str) {
        let text = terminal_safe(text);
        with(&self.view, |view| view.note(&text));
        screen::say(format!("note: {text}"));
    }

    /// Gives the terminal back. The thread is not waited for: it ends within a frame, but reading keys of a terminal
    /// that was closed never ends.
    pub(crate) fn close(&self) {
        screen::leave();
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.close();
    }
}

/// Holds the view, which nobody does for long: it is copied to be drawn.
fn with<T>(view: &Mutex<View>, work: impl FnOnce(&mut View) -> T) -> T {
    work(&mut view.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Draws and listens for keys until the screen is given back.
fn watch(mut screen: screen::Screen, view: &Mutex<View>, started: Instant) {
    let mut keys = true;
    loop {
        let drawn = Instant::now();
        let mut now = with(view, |view| view.clone());
        (now.elapsed, now.stopping) = (started.elapsed(), stop_requested());
        // An error means that the terminal is gone.
        if !screen::frame(&mut screen, |frame| draw::draw(frame, &now)).unwrap_or(false) {
            return;
        }
        while let left = FRAME.saturating_sub(drawn.elapsed())
            && !left.is_zero()
        {
            if !keys {
                std::thread::sleep(left);
            } else if listen(left).is_err() {
                // Keys that nobody can read must be signals again, or nothing could stop the run.
                let _ = disable_raw_mode();
                keys = false;
            }
        }
    }
}

/// Waits for a key.
fn listen(time: Duration) -> io::Result<()> {
    if event::poll(time)?
        && let event::Event::Key(key) = event::read()?
        && asks_to_stop(key)
    {
        request_stop(INTERRUPT);
    }
    Ok(())
}

/// `q`, or Ctrl-C, which is no signal while keys are read one by one.
fn asks_to_stop(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('c' | 'C') => control,
            KeyCode::Char('q' | 'Q') => !control,
            _ => false,
        }
}
