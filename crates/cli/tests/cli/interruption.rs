//! Ctrl-C, checkpoints and `--resume`.

use crate::folder::{Folder, TINY};
use crate::tables::linear;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough to be interrupted, short enough to wait for.
const LONG: &str =
    "--set train.pretrain_epochs=600 --set train.epochs=400 --set train.patience=1000 --set gp.inducing=48";

/// A running command whose standard error is read line by line.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) seen: String,
}

impl Running {
    pub(crate) fn new(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { child, stderr, seen: String::new() }
    }

    /// Reads standard error up to a line with this text.
    pub(crate) fn wait_for(&mut self, text: &str) {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).expect("text");
            assert!(read > 0, "no `{text}` in:\n{}", self.seen);
            self.seen += &line;
            if line.contains(text) {
                return;
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.expect("`kill` exists").success());
    }

    /// Waits for the end; the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        self.stderr.read_to_string(&mut self.seen).expect("text");
        self.child.wait().expect("the program ends").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill(); // only a failed test leaves one running
        let _ = self.child.wait();
    }
}

fn long_run(folder: &Folder, out: &str, more: &str) -> Running {
    Running::new(folder.command(&format!("train t.csv --target y -o {out} {TINY} {LONG} {more}")))
}

fn with_table() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", linear(400));
    folder
}

/// Interrupts a run at its first progress line and expects a checkpoint and nothing else.
fn interrupted() -> Folder {
    let folder = with_table();
    let mut run = long_run(&folder, "m.ign", "");
    run.wait_for("pretraining epoch 1");
    run.signal("INT");
    assert_eq!(run.end(), Some(130), "{}", run.seen);
    assert!(run.seen.contains("--resume") && run.seen.contains("m.ign.checkpoint"), "{}", run.seen);
    assert_eq!(
        folder.names(),
        ["m.ign.checkpoint", "m.ign.times.jsonl", "t.csv"],
        "no model, no temporary file"
    );
    folder
}

#[test]
fn an_interrupted_run_goes_on_to_the_bytes_of_an_uninterrupted_one() {
    let folder = interrupted();
    // Once more, in the other phase.
    let mut run = long_run(&folder, "m.ign", "--resume");
    run.wait_for("likelihood epoch 3:");
    run.signal("INT");
    assert_eq!(run.end(), Some(130), "{}", run.seen);
    assert!(!run.seen.contains("pretraining epoch 1:"), "it goes on, it does not start over: {}", run.seen);
    assert_eq!(folder.names(), ["m.ign.checkpoint", "m.ign.times.jsonl", "t.csv"]);
    let mut run = long_run(&folder, "m.ign", "--resume");
    assert_eq!(run.end(), Some(0), "{}", run.seen);
    assert!(!run.seen.contains("pretraining"), "{}", run.seen);
    assert_eq!(
        folder.names(),
        ["m.ign", "m.ign.times.jsonl", "m.report.html", "t.csv"],
        "the checkpoint is removed at the end"
    );
    assert_eq!(long_run(&folder, "whole.ign", "--quiet").end(), Some(0));
    assert!(folder.read("m.ign") == folder.read("whole.ign"), "the resumed run wrote other bytes");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = interrupted();
    let command = format!("train t.csv --target y -o m.ign {TINY} {LONG} --resume");
    folder.refuses(&format!("{command} --seed 1"), &["another configuration", "--resume"]);
    folder.refuses(&format!("{command} --set train.learning_rate=0.002"), &["another configuration"]);
    folder.write("t.csv", linear(401));
    folder.refuses(&command, &["other data"]);
    let changed = linear(400).replacen("0.", "0.9", 1);
    folder.write("t.csv", changed);
    folder.refuses(&command, &["other data"]);
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let folder = interrupted();
    let bytes = folder.read("m.ign.checkpoint");
    let command = format!("train t.csv --target y -o m.ign {TINY} {LONG} --resume");
    folder.write("m.ign.checkpoint", &bytes[..bytes.len() / 2]);
    folder.refuses(&command, &["m.ign.checkpoint"]);
    let mut flipped = bytes.clone();
    *flipped.last_mut().expect("not empty") ^= 1;
    folder.write("m.ign.checkpoint", &flipped);
    folder.refuses(&command, &["m.ign.checkpoint", "damaged"]);
    folder.write("m.ign.checkpoint", "");
    folder.refuses(&command, &["m.ign.checkpoint"]);
    folder.write("m.ign", bytes);
    folder.refuses("info m.ign", &["m.ign"]);
}

#[test]
fn a_resume_without_a_checkpoint_says_so() {
    let folder = with_table();
    folder.refuses_to_train("t.csv --target y -o m.ign --resume", &["m.ign.checkpoint"]);
}

#[test]
fn a_termination_request_saves_a_checkpoint_too_and_has_its_own_exit_code() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let folder = with_table();
        let mut run = long_run(&folder, "m.ign", "");
        run.wait_for("pretraining epoch 1");
        run.signal(signal);
        assert_eq!(run.end(), Some(code), "{}", run.seen);
        assert_eq!(folder.names(), ["m.ign.checkpoint", "m.ign.times.jsonl", "t.csv"]);
    }
}

/// A checkpoint that cannot be written (a folder is in its place) costs a warning, not the training.
#[test]
fn a_failed_periodic_checkpoint_warns_and_the_training_goes_on() {
    let folder = with_table();
    std::fs::create_dir(folder.path("m.ign.checkpoint")).expect("writable");
    let train = "t.csv --target y -o m.ign --checkpoint-every 0";
    let run = folder.train(train).succeeds();
    assert!(run.stderr.contains("checkpoint not saved, training continues"), "{}", run.stderr);
    assert!(run.stderr.contains("m.ign.checkpoint"), "{}", run.stderr);
    let run = folder.train(&format!("{train} --quiet")).succeeds();
    assert!(run.stderr.starts_with("warning: checkpoint not saved"), "also when quiet: {}", run.stderr);
    folder.train("t.csv --target y -o plain.ign --quiet").succeeds();
    assert!(folder.read("m.ign") == folder.read("plain.ign"), "checkpoints change nothing");
}

#[test]
fn checkpoints_are_written_as_often_as_asked_and_removed_at_the_end() {
    let folder = with_table();
    let mut run = long_run(&folder, "m.ign", "--checkpoint-every 0");
    run.wait_for("pretraining epoch 10:");
    assert!(folder.path("m.ign.checkpoint").is_file());
    run.signal("KILL");
    assert_eq!(run.end(), None, "killed");
    let mut run = long_run(&folder, "m.ign", "--resume");
    assert_eq!(run.end(), Some(0), "{}", run.seen);
    assert!(!folder.path("m.ign.checkpoint").exists());
}

/// The old model stays what it was while a new one is trained in its place.
#[test]
fn an_interrupted_run_leaves_the_old_model_alone() {
    let folder = Folder::with_model();
    let before = folder.read("m.ign");
    let mut run = long_run(&folder, "m.ign", "");
    run.wait_for("pretraining epoch 1");
    run.signal("INT");
    assert_eq!(run.end(), Some(130));
    assert_eq!(folder.read("m.ign"), before);
}

/// Every class has its own network; some are done, some have begun and some have not when the stop comes.
#[test]
fn an_interrupted_run_of_several_networks_goes_on_to_the_same_bytes() {
    let folder = Folder::new();
    folder.write("t.csv", crate::tables::labelled(200, &["low", "mid", "top"]));
    let settings = "--set train.pretrain_epochs=150 --set train.epochs=40 --set train.patience=1000";
    let run = |out: &str, more: &str| {
        let command =
            format!("train t.csv --target y -o {out} {TINY} --multiclass independent {settings} {more}");
        Running::new(folder.command(&command))
    };
    let mut first = run("m.ign", "");
    first.wait_for("network 2 of 3, pretraining epoch 100:"); // by then the first has surely ended an epoch too
    first.signal("INT");
    assert_eq!(first.end(), Some(130), "{}", first.seen);
    assert_eq!(
        folder.names(),
        ["m.ign.checkpoint", "m.ign.times.jsonl", "t.csv"],
        "no model, no temporary file"
    );
    let mut second = run("m.ign", "--resume");
    assert_eq!(second.end(), Some(0), "{}", second.seen);
    assert!(!second.seen.contains("network 2 of 3, pretraining epoch 100:"), "it goes on: {}", second.seen);
    assert_eq!(run("whole.ign", "--quiet --threads 1").end(), Some(0));
    assert!(folder.read("m.ign") == folder.read("whole.ign"), "the resumed run wrote other bytes");
}

/// A step that takes a good part of a second: the first Ctrl-C waits for its end and then writes a checkpoint; that
/// there is none shows that the second one did not wait.
#[test]
fn a_second_interrupt_ends_the_run_at_once() {
    let folder = Folder::new();
    folder.write("t.csv", linear(3700));
    let slow = "--set gp.inducing=3600 --set train.batch_size=3600 --set train.epochs=40 --set train.pretrain_epochs=0";
    let mut run = Running::new(folder.command(&format!("train t.csv --target y -o m.ign {TINY} {slow}")));
    run.wait_for("likelihood epoch 0");
    std::thread::sleep(Duration::from_millis(300)); // until the step that follows, which lasts seconds, has begun
    run.signal("INT");
    run.wait_for("Ctrl-C again");
    let second = Instant::now();
    run.signal("INT");
    assert_eq!(run.end(), Some(130), "{}", run.seen);
    assert!(second.elapsed() < Duration::from_secs(5), "{:?}", second.elapsed()); // generous: a busy machine
    assert_eq!(folder.names(), ["t.csv"], "neither checkpoint nor temporary file");
}

/// A prediction waits for rows that never come; what it has begun to write must not stay.
#[test]
fn an_interrupted_prediction_leaves_no_file_behind() {
    let folder = Folder::with_model();
    let before = folder.names();
    let mut command = folder.command("predict m.ign - -o p.csv");
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, linear(20_000).as_bytes()).expect("it reads");
    let deadline = Instant::now() + Duration::from_secs(10);
    while folder.names() == before && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("`kill` exists").success());
    let ended = child.wait().expect("the program ends");
    assert!(!ended.success());
    drop(stdin);
    assert_eq!(folder.names(), before);
}
