//! The terminal's alternate screen: entered for the view, and left however the program ends.
//!
//! There is one terminal, so its state is global: the end of a run, a panic on any thread and a second Ctrl-C all find
//! it here. What is printed while the alternate screen is up is kept until it is gone.

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use std::io::{self, BufWriter, Stderr, Write, stderr};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

static UP: AtomicBool = AtomicBool::new(false);
/// Held while a frame is written.
static FRAME: Mutex<()> = Mutex::new(());
/// Held while the screen is given back: whoever comes second must not end the program halfway.
static LEAVING: Mutex<()> = Mutex::new(());
/// What to print afterwards.
static LATER: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// A frame takes a millisecond; one that takes longer is stuck, or panicked on this very thread.
const PATIENCE: Duration = Duration::from_millis(300);

/// Standard error as a screen. Buffered, or every cell would be a system call; never dropped, because
/// [`leave`] shows the cursor again and a later drop would do so in the middle of what follows.
pub(super) type Screen = ManuallyDrop<Terminal<CrosstermBackend<BufWriter<Stderr>>>>;

/// A guard, also of what a panic left behind: there is nothing in it that could be half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the other screen is up.
pub(crate) fn is_up() -> bool {
    UP.load(Ordering::SeqCst)
}

/// Goes to the other screen, where keys are read one by one.
pub(super) fn enter() -> io::Result<Screen> {
    static HOOK: Once = Once::new();
    if matches!(terminal::size()?, (0, _) | (_, 0)) {
        return Err(io::Error::other("the terminal has no size"));
    }
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            usual(panic);
        }));
    });
    terminal::enable_raw_mode()?;
    UP.store(true, Ordering::SeqCst);
    let screen = execute!(stderr(), EnterAlternateScreen, Hide)
        .and_then(|()| Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(1 << 16, stderr()))));
    screen.map(ManuallyDrop::new).inspect_err(|_| leave())
}

/// Draws a frame; false when the screen is no longer up.
pub(super) fn frame(screen: &mut Screen, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<bool> {
    let _frame = lock(&FRAME);
    if is_up() {
        screen.draw(draw)?;
    }
    Ok(is_up())
}

/// Prints a line to standard error: now, or when the other screen is gone.
pub(super) fn say(line: String) {
    let _whole = lock(&LEAVING); // halfway it would be printed on the other screen, or kept for nobody
    if is_up() {
        lock(&LATER).push(line);
    } else {
        let _ = writeln!(stderr(), "{line}"); // who closed standard error does not want to know
    }
}

/// Gives the terminal back and prints what was said meanwhile; does nothing when the screen is not up.
pub(crate) fn leave() {
    let _once = lock(&LEAVING);
    if !UP.swap(false, Ordering::SeqCst) {
        return;
    }
    let asked = Instant::now();
    let mut frame = FRAME.try_lock();
    while frame.is_err() && asked.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(2));
        frame = FRAME.try_lock();
    }
    // A terminal that is gone cannot be restored, nor need it be.
    let _ = terminal::disable_raw_mode();
    let mut out = stderr().lock();
    let _ = execute!(out, LeaveAlternateScreen, Show);
    for line in lock(&LATER).drain(..) {
        let _ = writeln!(out, "{line}");
    }
}
