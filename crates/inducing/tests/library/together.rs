//! Processes that train one model together: the bytes of one process, wherever they stop and go on. Threads stand for processes.

use crate::fixture::{TINY, bytes, linear};
use crate::streamed::shards;
use inducing::train::{Checkpoint, Event, Fit, on_threads};
use inducing::{Dataset, Error, Settings, Trainer};
use std::path::Path;
use std::sync::Arc;

fn settings(more: &[&str]) -> Settings {
    TINY.iter().chain(more).fold(Settings::default(), |all, setting| all.set(*setting))
}

fn in_memory() -> Dataset {
    Dataset::from_table(linear(400, 0)).target("y").expect("a target")
}

/// 9000 rows in six files, which take more memory than is given.
fn streamed(folder: &Path) -> Dataset {
    let name = shards(folder, 6, 1500);
    Dataset::read(&name).expect("readable").within_memory(200_000).target("y").expect("a target")
}

/// How each of so many processes ends; the last one asks for a stop after so many steps.
fn run(
    data: &Dataset,
    settings: &Settings,
    size: usize,
    resume: Option<&Checkpoint>,
    stop_after: usize,
) -> Vec<Result<Option<Fit>, Error>> {
    let (prepared, config) =
        Trainer::new(data).settings(settings.clone()).prepare().expect("rows to learn from");
    on_threads(size, |processes| {
        let mut steps = 0;
        let mut listen = |event: Event<'_>| {
            steps += usize::from(matches!(event, Event::Step { .. }));
            processes.rank() + 1 < size || steps < stop_after
        };
        prepared.fit_together(processes, &config, 1, resume.cloned(), &mut listen)
    })
}

/// The model's bytes, which the first process has and no other.
fn model(ends: Vec<Result<Option<Fit>, Error>>) -> Vec<u8> {
    let mut models = Vec::new();
    for (rank, end) in ends.into_iter().enumerate() {
        match end.expect("trains") {
            Some(Fit::Finished(model)) if rank == 0 => models.push(bytes(&model)),
            None if rank > 0 => {}
            other => panic!("process {rank} ended with {other:?}"),
        }
    }
    models.swap_remove(0)
}

fn trained(data: &Dataset, settings: &Settings, size: usize) -> Vec<u8> {
    model(run(data, settings, size, None, usize::MAX))
}

/// All that the processes of a stopped run know of where it stands.
fn stopped(ends: Vec<Result<Option<Fit>, Error>>) -> Checkpoint {
    let checkpoints = ends.into_iter().map(|end| match end.expect("stops") {
        Some(Fit::Interrupted(checkpoint)) => checkpoint,
        other => panic!("{other:?}"),
    });
    checkpoints.reduce(Checkpoint::merged).expect("a process")
}

/// Settings under which one network's steps have several batches.
const SHARED: [&str; 2] = ["train.accumulate_batches=3", "train.batch_size=32"];
/// The same with epochs of more than 500 steps.
const LONG: [&str; 3] = ["train.accumulate_batches=3", "train.pretrain_batch_size=2", "train.epochs=1"];

#[test]
fn a_network_has_the_same_bytes_from_any_number_of_processes() {
    let data = in_memory();
    let alone = trained(&data, &settings(&SHARED), 1);
    for size in [2, 3, 4] {
        assert!(trained(&data, &settings(&SHARED), size) == alone, "{size} processes");
    }
    assert!(trained(&data, &settings(&SHARED[1..]), 1) != alone, "one batch is not three");
}

#[test]
fn processes_without_a_batch_change_nothing() {
    let data = in_memory();
    let alone = trained(&data, &settings(&[]), 1);
    for size in [2, 3] {
        assert!(trained(&data, &settings(&[]), size) == alone, "{size} processes");
    }
    let members = settings(&["train.crossfit_folds=2"]);
    assert!(trained(&data, &members, 7) == trained(&data, &members, 1));
}

#[test]
fn members_and_their_batches_are_parted_among_more_processes_than_members() {
    let data = in_memory();
    let settings = settings(&["train.crossfit_folds=2", "train.accumulate_batches=2"]);
    let alone = trained(&data, &settings, 1);
    for size in [2, 3, 5, 9] {
        assert!(trained(&data, &settings, size) == alone, "{size} processes");
    }
}

#[test]
fn classes_have_the_same_bytes_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 4, 1500);
    let data = Dataset::read(&name).expect("readable").within_memory(200_000).target("c").expect("a target");
    let settings = settings(&["train.accumulate_batches=2", "train.max_steps=20", "data.ignore=[\"y\"]"]);
    assert!(trained(&data, &settings, 2) == trained(&data, &settings, 1));
}

#[test]
fn files_are_shared_and_a_run_that_stops_within_an_epoch_goes_on_with_other_processes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = streamed(folder.path());
    let settings = settings(&LONG);
    let alone = trained(&data, &settings, 1);
    assert!(trained(&data, &settings, 3) == alone, "three processes");
    for (before, after, steps) in [(2, 1, 700), (1, 3, 1100), (3, 2, 1900)] {
        let checkpoint = stopped(run(&data, &settings, before, None, steps));
        let ended = run(&data, &settings, after, Some(&checkpoint), usize::MAX);
        assert!(model(ended) == alone, "{before}, then {after} processes");
    }
}

/// What each of so many processes makes of its own look at the files, which may be other files.
fn read_and_trained(names: &[&str], target: &str, settings: &Settings) -> Vec<Result<Option<Fit>, Error>> {
    on_threads(names.len(), |processes| {
        let readers = Arc::from(processes.split(0)?);
        let memory = 200_000 + 10_000 * processes.rank() as u64;
        let data = Dataset::read(names[processes.rank()])?
            .within_memory(memory)
            .shared_by(readers)
            .target(target)?;
        let (prepared, config) = Trainer::new(&data).settings(settings.clone()).prepare()?;
        prepared.fit_together(processes, &config, 1, None, &mut |_| true)
    })
}

#[test]
fn each_process_reads_some_of_the_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = streamed(folder.path());
    let (name, settings) = (folder.path().display().to_string(), settings(&LONG));
    let alone = trained(&data, &settings, 1);
    for size in [2, 3, 8] {
        assert!(model(read_and_trained(&vec![&name[..]; size], "y", &settings)) == alone, "{size} processes");
    }
    let other = tempfile::tempdir().expect("a temporary folder");
    shards(other.path(), 6, 1499);
    let names = [&name[..], &other.path().display().to_string()];
    for end in read_and_trained(&names, "y", &settings) {
        let reason = end.expect_err("refused").to_string();
        assert!(reason.contains("processes read different files: `00.csv` has 54"), "{reason}");
    }
    std::fs::write(folder.path().join("04.csv"), "x,z,colour,w,y,c\n1,2,red,1,3\n").expect("writable");
    for end in read_and_trained(&[&name[..]; 3], "y", &settings) {
        let reason = end.expect_err("refused").to_string();
        assert!(reason.contains("04.csv:2"), "{reason}");
    }
}

#[test]
fn a_file_without_a_row_to_learn_from_is_no_obstacle() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 3, 3000);
    std::fs::write(folder.path().join("empty.csv"), "").expect("writable");
    std::fs::write(folder.path().join("header.csv"), "x,z,colour,w,y,c\n").expect("writable");
    std::fs::write(folder.path().join("unknown.csv"), "x,z,colour,w,y,c\n1,2,red,1,,low\n")
        .expect("writable");
    let data = Dataset::read(&name).expect("readable").within_memory(200_000).target("y").expect("a target");
    let settings = settings(&["train.accumulate_batches=6", "train.max_steps=20"]);
    assert!(trained(&data, &settings, 4) == trained(&data, &settings, 1));
}

#[test]
fn a_class_of_few_rows_is_learned_from_a_table_that_does_not_fit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 4, 2500);
    // Three rows of the last file, of ten thousand: most likely, none is one of the two thousand that are drawn.
    let path = folder.path().join("03.csv");
    let text = std::fs::read_to_string(&path).expect("readable");
    let lines = text.lines().enumerate().map(|(i, line)| match i {
        700 | 1400 | 2100 => line.replace("high", "rare").replace("low", "rare"),
        _ => line.to_owned(),
    });
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).expect("writable");
    let data = Dataset::read(&name).expect("readable").within_memory(200_000).target("c").expect("a target");
    let model = Trainer::new(&data).settings(settings(&["data.ignore=[\"y\"]"])).fit().expect("trains");
    let classes = &model.header().schema.classes().expect("classes");
    assert!(classes.contains(&"rare".to_owned()), "{classes:?}");
}

#[test]
fn numbers_are_classes_only_if_they_are_in_the_whole_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 4, 2500);
    for file in 0..4 {
        let path = folder.path().join(format!("{file:02}.csv"));
        let text = std::fs::read_to_string(&path).expect("readable");
        let whole = |(i, line): (usize, &str)| match (i, file) {
            (0, _) => format!("{line},n"),
            (1234, 3) => format!("{line},0.5"),
            _ => format!("{line},{}", i % 2),
        };
        let lines: Vec<String> = text.lines().enumerate().map(whole).collect();
        std::fs::write(&path, lines.join("\n")).expect("writable");
    }
    let data = Dataset::read(&name).expect("readable").within_memory(200_000).target("n").expect("a target");
    let (prepared, _) = Trainer::new(&data).settings(settings(&[])).prepare().expect("rows to learn from");
    assert!(prepared.schema.classes().is_none());
}

#[test]
fn a_stop_of_one_process_ends_all() {
    let data = in_memory();
    for more in [&["train.crossfit_folds=3"][..], &SHARED] {
        let settings = settings(more);
        let alone = trained(&data, &settings, 1);
        let checkpoint = stopped(run(&data, &settings, 2, None, 3));
        assert!(model(run(&data, &settings, 1, Some(&checkpoint), usize::MAX)) == alone, "{more:?}");
    }
}

#[test]
fn a_file_that_one_process_cannot_read_ends_all_with_the_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = streamed(folder.path());
    std::fs::write(folder.path().join("03.csv"), "x,z,colour,w,y,c\n1,2,red,1,3,low\n").expect("writable");
    let ends = run(&data, &settings(&LONG), 3, None, usize::MAX);
    let reasons: Vec<String> = ends.into_iter().map(|end| end.expect_err("refused").to_string()).collect();
    assert!(reasons.iter().all(|reason| reason.contains("03.csv: the file changed")), "{reasons:?}");
}

/// The loss of each step.
fn losses(data: &Dataset, settings: Settings) -> Vec<f64> {
    let mut losses = Vec::new();
    let listen = |event: Event<'_>| {
        if let Event::Step { loss, .. } = event {
            losses.push(loss);
        }
        true
    };
    Trainer::new(data).settings(settings).on_event(listen).fit().expect("trains");
    losses
}

#[test]
fn batches_of_a_step_are_learned_from_as_one_batch_of_their_rows() {
    let data = in_memory();
    let one = losses(
        &data,
        settings(&["encoder.dropout=0", "train.pretrain_batch_size=64", "train.batch_size=64"]),
    );
    let parts = ["train.accumulate_batches=4", "train.pretrain_batch_size=16", "train.batch_size=16"];
    let four = losses(&data, settings(&[&["encoder.dropout=0"], &parts[..]].concat()));
    assert_eq!(one.len(), four.len());
    for (step, (a, b)) in one.iter().zip(&four).enumerate() {
        // The same numbers are added up in another order, in single precision, and Adam carries the difference on.
        assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "step {step}: {a} {b}");
    }
}
