//! One file from a server, or from a folder, into a nameless temporary file.
//!
//! Another thread listens to the server, so that a signal or a silent server ends the wait.

use super::copy::{CopyError, copy};
use super::origin::Address;
use crate::signals::stop_requested;
use crate::ui::bar::Bar;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// A chain of redirects longer than this is a circle.
const MOST_REDIRECTS: u32 = 5;
/// How often Ctrl-C is looked for while nothing comes.
const GLANCE: Duration = Duration::from_millis(50);

/// Why there is no file.
#[derive(Debug)]
pub(crate) enum DownloadError {
    /// In words.
    Unreachable(String),
    /// As copying has it.
    Copy(CopyError),
}

/// What the thread that listens says.
enum News {
    /// How long the file will be.
    Length(u64),
    Bytes(Vec<u8>),
    End,
    Failed(String),
}

/// Fetches at most `limit` bytes; a server may be silent for as long as `patience`.
pub(crate) fn download(
    address: &Address,
    limit: u64,
    patience: Duration,
    into: &mut File,
) -> Result<(), DownloadError> {
    let bar = Bar::new();
    let fetched = match address {
        Address::File(path) => match File::open(path) {
            Ok(mut file) => copy(&mut file, into, limit).map(|_| ()).map_err(DownloadError::Copy),
            Err(error) => Err(DownloadError::Unreachable(error.to_string())),
        },
        Address::Url(url) => {
            let (sender, news) = sync_channel(16);
            let url = url.clone();
            std::thread::spawn(move || {
                let last = listen(&url, patience, &sender).map_or_else(News::Failed, |()| News::End);
                let _ = sender.send(last); // nobody waits any more: then nobody needs it
            });
            receive(&news, limit, patience, into, &bar)
        }
    };
    bar.clear();
    fetched
}

fn receive(
    news: &Receiver<News>,
    limit: u64,
    patience: Duration,
    into: &mut File,
    bar: &Bar,
) -> Result<(), DownloadError> {
    let unreachable = |words: String| Err(DownloadError::Unreachable(words));
    let (mut promised, mut got) = (None, 0);
    let mut last = Instant::now();
    loop {
        if stop_requested() {
            return Err(DownloadError::Copy(CopyError::Interrupted));
        }
        match news.recv_timeout(GLANCE) {
            Ok(News::Length(length)) if length > limit => {
                return Err(DownloadError::Copy(CopyError::TooLarge));
            }
            Ok(News::Length(length)) => promised = Some(length),
            Ok(News::Bytes(bytes)) => {
                got += bytes.len() as u64;
                if got > limit {
                    return Err(DownloadError::Copy(CopyError::TooLarge));
                }
                into.write_all(&bytes).map_err(|error| DownloadError::Copy(CopyError::Write(error)))?;
                let mega = |bytes: u64| bytes as f64 / 1e6;
                let share = promised.map_or(0.0, |length| got as f64 / length.max(1) as f64);
                let total = promised.map_or(String::new(), |length| format!(" of {:.1}", mega(length)));
                bar.draw(share, &format!("{:.1}{total} MB  {}", mega(got), bar.times(share)));
            }
            Ok(News::End) if promised.is_some_and(|promised| promised != got) => {
                return unreachable(format!("cut off after {got} of {} bytes", promised.unwrap_or(0)));
            }
            Ok(News::End) => return Ok(()),
            Ok(News::Failed(words)) if got > 0 => {
                return unreachable(format!("cut off after {got} bytes: {words}"));
            }
            Ok(News::Failed(words)) => return unreachable(words),
            Err(RecvTimeoutError::Timeout) if last.elapsed() < patience => continue,
            Err(RecvTimeoutError::Timeout) => {
                return unreachable(format!("no byte came within {} s", patience.as_secs_f64()));
            }
            Err(RecvTimeoutError::Disconnected) => return unreachable("the connection broke down".into()),
        }
        last = Instant::now();
    }
}

/// Asks the server and passes on what it says.
fn listen(url: &str, patience: Duration, to: &SyncSender<News>) -> Result<(), String> {
    // The receiver gives up first and knows better what to say; this only ends the thread.
    let longest = Some(patience + Duration::from_secs(5));
    let config = ureq::Agent::config_builder()
        .user_agent(concat!("ign/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .max_redirects(MOST_REDIRECTS)
        .timeout_resolve(longest)
        .timeout_connect(longest)
        .timeout_recv_response(longest)
        .timeout_per_read(longest);
    // A server of this machine is not behind a proxy.
    let config = if url.starts_with("http://127.0.0.1") { config.proxy(None) } else { config };
    let response =
        ureq::Agent::new_with_config(config.build()).get(url).call().map_err(|error| words(&error))?;
    let body = response.into_body();
    if let Some(length) = body.content_length()
        && to.send(News::Length(length)).is_err()
    {
        return Ok(());
    }
    let mut reader = body.into_reader();
    loop {
        let mut bytes = vec![0; 1 << 16];
        let read = reader.read(&mut bytes).map_err(|error| error.to_string())?;
        bytes.truncate(read);
        if read == 0 || to.send(News::Bytes(bytes)).is_err() {
            return Ok(());
        }
    }
}

/// What a failed request means to the user.
fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::StatusCode(code) => format!("the server answers with status {code}"),
        ureq::Error::HostNotFound => "the host is not found; is there a network?".into(),
        ureq::Error::ConnectionFailed => "the server cannot be reached; is there a network?".into(),
        ureq::Error::TooManyRedirects => format!("more than {MOST_REDIRECTS} redirects"),
        ureq::Error::Timeout(_) => "the server does not answer in time".into(),
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}
