//! Where encoded bytes go: a staged file or a stream, through gzip or plainly.

use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::io::atomic::Staged;

/// Bytes on their way out, compressed or not.
pub(crate) enum Compressed {
    Plain(Output),
    Gzip(Box<GzEncoder<Output>>),
}

/// A file in the making or an open stream.
pub(crate) enum Output {
    File(Staged),
    Stream(BufWriter<Box<dyn Write + Send>>),
}

impl Compressed {
    pub(crate) fn new(output: Output, gzip: bool) -> Self {
        if gzip {
            Compressed::Gzip(Box::new(GzEncoder::new(output, Compression::default())))
        } else {
            Compressed::Plain(output)
        }
    }

    /// Completes the compressed data and, for a file, moves it into its place.
    pub(crate) fn finish(self) -> io::Result<()> {
        let output = match self {
            Compressed::Plain(output) => output,
            Compressed::Gzip(encoder) => encoder.finish()?,
        };
        match output {
            Output::File(staged) => staged.commit(),
            Output::Stream(mut stream) => stream.flush(),
        }
    }
}

impl Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Compressed::Plain(output) => output.write(bytes),
            Compressed::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressed::Plain(output) => output.flush(),
            Compressed::Gzip(encoder) => encoder.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::File(staged) => staged.write(bytes),
            Output::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::File(staged) => staged.flush(),
            Output::Stream(stream) => stream.flush(),
        }
    }
}
