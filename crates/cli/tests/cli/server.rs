//! A tiny server on loopback that answers as servers do, well or badly, and archives for it to serve.
//!
//! For the tests of the command and for those inside it, neither of which need all of it.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is said to whoever asks for a file.
#[derive(Clone)]
pub(crate) enum Answer {
    /// The file.
    File(Vec<u8>),
    /// The file without its length.
    Unmeasured(Vec<u8>),
    /// A length of so many bytes more than come.
    Truncated(Vec<u8>, usize),
    /// Another place.
    Redirect(&'static str),
    /// A length, and then nothing.
    Silent,
    /// The file in so many pieces with pauses of 0.3 s.
    Slow(Vec<u8>, usize),
    /// Bytes without end.
    Endless,
}

/// Serves until it is dropped; what it does not know is 404.
pub(crate) struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

impl Server {
    /// Answers by the last part of the path.
    pub(crate) fn new(answers: Vec<(&'static str, Answer)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let port = listener.local_addr().expect("bound").port();
        let (asked, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (asks, end) = (asked.clone(), over.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                let (answers, asks, end) = (answers.clone(), asks.clone(), end.clone());
                std::thread::spawn(move || {
                    let Some(name) = name_asked_for(&stream) else { return };
                    asks.lock().expect("no panic").push(name.clone());
                    let answer = answers.into_iter().find(|(known, _)| *known == name);
                    // A client that goes away is its own business.
                    let _ = say(stream, answer.map(|(_, answer)| answer), &end);
                });
            }
        });
        Self { port, asked, over }
    }

    /// Where it is, with a folder, as a mirror has it.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/some/folder/", self.port)
    }

    /// The files that were asked for, in this order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the thread that listens
    }
}

fn name_asked_for(stream: &TcpStream) -> Option<String> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
    Some(first.split(' ').nth(1)?.rsplit('/').next()?.to_owned())
}

fn say(mut to: TcpStream, answer: Option<Answer>, over: &AtomicBool) -> std::io::Result<()> {
    let ok =
        |length: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let unmeasured = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    match answer {
        None => to.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone"),
        Some(Answer::File(bytes)) => {
            to.write_all(ok(bytes.len()).as_bytes()).and_then(|()| to.write_all(&bytes))
        }
        Some(Answer::Unmeasured(bytes)) => to.write_all(unmeasured).and_then(|()| to.write_all(&bytes)),
        Some(Answer::Truncated(bytes, more)) => {
            to.write_all(ok(bytes.len() + more).as_bytes()).and_then(|()| to.write_all(&bytes))
        }
        Some(Answer::Redirect(place)) => {
            let head = format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\n");
            to.write_all(format!("{head}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
        }
        Some(Answer::Silent) => {
            to.write_all(ok(1000).as_bytes())?;
            while !over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        }
        Some(Answer::Slow(bytes, pieces)) => {
            to.write_all(ok(bytes.len()).as_bytes())?;
            for piece in bytes.chunks(bytes.len().div_ceil(pieces)) {
                to.write_all(piece)?;
                to.flush()?;
                std::thread::sleep(Duration::from_millis(300));
            }
            Ok(())
        }
        Some(Answer::Endless) => {
            to.write_all(unmeasured)?;
            while !over.load(Ordering::SeqCst) {
                to.write_all(&[b'x'; 1 << 16])?;
            }
            Ok(())
        }
    }
}

/// A zip archive of these members, whatever their names are.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).expect("memory");
        writer.write_all(content).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}
