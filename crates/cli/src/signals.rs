//! Signals. SIGINT, SIGTERM and SIGHUP ask for a stop, and a second one ends the program at once. SIGXFSZ, which kills
//! by default, only makes the write fail, so that a file size limit is an error like a full disk.

use crate::ui::dashboard::screen;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// SIGINT, also as a key of the dashboard.
pub(crate) const INTERRUPT: u8 = 2;

/// The first signal that asked for a stop; 0 before there is one.
static STOPPED_BY: AtomicU8 = AtomicU8::new(0);
/// What happens to the work so far.
static MEANWHILE: Mutex<&str> = Mutex::new("");

/// Watches for signals from now on; `meanwhile` says what happens to the work so far.
pub(crate) fn watch(meanwhile: &'static str) {
    *MEANWHILE.lock().unwrap_or_else(PoisonError::into_inner) = meanwhile;
    // Cross-validation and the training after it both watch: one thread is enough.
    static WATCHING: Once = Once::new();
    WATCHING.call_once(install);
}

#[cfg(unix)]
fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Without a handler a signal ends the program at once, which is no reason not to start.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        signals.forever().for_each(|signal| request_stop(u8::try_from(signal).unwrap_or(INTERRUPT)));
    });
}

#[cfg(not(unix))]
fn install() {
    let _ = ctrlc::set_handler(|| request_stop(INTERRUPT)); // as above
}

/// Turns SIGXFSZ into a failed write (EFBIG), after which temporary files are removed as after any other error.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        // The flag is not read: a handler, whatever it does, makes `write` return the error.
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
    }
}

/// Asks for a stop; asked again, ends the program.
pub(crate) fn request_stop(signal: u8) {
    if STOPPED_BY.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        screen::leave();
        std::process::exit(i32::from(128 + signal));
    }
    // The dashboard says so itself.
    if !screen::is_up() {
        let meanwhile = MEANWHILE.lock().unwrap_or_else(PoisonError::into_inner);
        eprintln!("\nstopping; {meanwhile} (Ctrl-C again to quit at once)");
    }
}

/// Whether a stop was asked for.
pub(crate) fn stop_requested() -> bool {
    STOPPED_BY.load(Ordering::SeqCst) > 0
}

/// 128 and the signal's number, as shells have it.
pub(crate) fn exit_code() -> u8 {
    match STOPPED_BY.load(Ordering::SeqCst) {
        0 => 128 + INTERRUPT,
        signal => 128 + signal,
    }
}
