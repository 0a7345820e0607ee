//! A temporary folder in which `ign` is run, and what must hold of every run that is refused.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Settings with which a few hundred rows are learned in milliseconds.
pub(crate) const TINY: &str = "--set train.crossfit_folds=0 --set neighbours.count=0 --set train.pretrain_epochs=2 --set train.pretrain_min_steps=0 --set train.epochs=2 \
    --set gp.inducing=16 --set encoder.members=1 --set encoder.hidden=[16] --set encoder.features=8 \
    --set encoder.frequencies=4 --set encoder.embedding_width=4";

/// What makes a message more than a complaint: a hint, the way to the help, or the values that would do.
const REMEDIES: [&str; 8] = [
    "\nhint: ",
    "try '--help'",
    "expected ",
    " needs ",
    "at least zero",
    "above zero",
    "share in [0, 1)",
    "not a multiple of",
];

/// A temporary folder.
pub(crate) struct Folder(tempfile::TempDir);

/// What a command left behind besides files.
#[derive(Debug)]
pub(crate) struct Run {
    /// `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with the table `t.csv` (see [`crate::tables::linear`]) and the model `m.ign` of its `y`.
    pub(crate) fn with_model() -> Self {
        let folder = Self::new();
        folder.write("t.csv", crate::tables::linear(200));
        folder.train("t.csv --target y -o m.ign --quiet").succeeds();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a temporary folder is writable");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("a text file")
    }

    /// The same below folders that are made if need be.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("below the folder")).expect("writable");
        self.write(name, content);
    }

    /// Every file of the folder and below it, hidden ones too, with its content; `None` for a folder.
    pub(crate) fn files(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a temporary folder is readable") {
                let path = entry.expect("an entry").path();
                files.insert(self.name_of(&path), std::fs::read(&path).ok());
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        files
    }

    fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(self.0.path()).expect("below the folder").to_string_lossy().into_owned()
    }

    /// Names of all files.
    pub(crate) fn names(&self) -> Vec<String> {
        self.files().into_keys().collect()
    }

    /// The command with the folder as its current one; words are separated by blanks.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ign"));
        command.args(words.split_whitespace()).current_dir(self.0.path()).env_remove("RUST_BACKTRACE");
        command.env_remove("IGN_DATA"); // what the machine holds is not the test's business
        command
    }

    /// Runs a command.
    pub(crate) fn ign(&self, words: &str) -> Run {
        Run::of(self.command(words).stdin(Stdio::null()))
    }

    /// Runs `ign train` with tiny settings; what `words` set afterwards counts.
    pub(crate) fn train(&self, words: &str) -> Run {
        self.ign(&format!("train {TINY} {words}"))
    }

    /// Runs a command that reads `input`.
    pub(crate) fn ign_reading(&self, words: &str, input: &[u8]) -> Run {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        // In a thread of its own: neither side may wait for the other.
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("writing does not panic");
        Run::from(output)
    }

    /// Runs a shell script in which `$IGN` is the program.
    pub(crate) fn shell(&self, script: &str) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(self.0.path()).env_remove("RUST_BACKTRACE");
        Run::of(command.env("IGN", env!("CARGO_BIN_EXE_ign")).stdin(Stdio::null()))
    }

    /// Expects that a command is refused for a reason that the user can mend: exit code 2, every one of `words` in
    /// the message, a remedy, and not a byte of the folder changed.
    #[track_caller]
    pub(crate) fn refuses(&self, command: &str, words: &[&str]) {
        let before = self.files();
        let run = self.ign(command);
        run.is_refused(words);
        assert_eq!(before, self.files(), "`ign {command}` changed the folder");
    }

    /// The same of `ign train` with tiny settings.
    #[track_caller]
    pub(crate) fn refuses_to_train(&self, command: &str, words: &[&str]) {
        self.refuses(&format!("train {TINY} {command}"), words);
    }
}

impl From<std::process::Output> for Run {
    fn from(output: std::process::Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Run {
    fn of(command: &mut Command) -> Self {
        command.output().expect("the program starts").into()
    }

    /// Expects success; returns what was printed.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Expects exit code 2, every one of `words` in the message, and a remedy.
    #[track_caller]
    pub(crate) fn is_refused(&self, words: &[&str]) {
        assert_eq!(self.code, Some(2), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert!(self.stderr.contains("error: "), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in: {}", self.stderr);
        }
        assert!(REMEDIES.iter().any(|remedy| self.stderr.contains(remedy)), "no remedy in: {}", self.stderr);
    }

    /// The one JSON object that was printed.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.stdout.trim_end().lines().count(), 1, "{}", self.stdout);
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}
