//! The interface as users meet it: data set, trainer, model, predictions.

use crate::fixture::{bytes, classes, encoded_data, linear, numbers, on_threads, stripes, table};
use data::{Column, RowWriter, Table};
use inducing::model::{ClassificationBatch, RegressionBatch, TargetUse};
use inducing::train::{Checkpoint, Event};
use inducing::{Dataset, Error, Model, Prediction, Trainer};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Settings with which a few hundred rows are learned in milliseconds.
fn short(data: &Dataset) -> Trainer<'_> {
    crate::fixture::TINY.into_iter().fold(Trainer::new(data), Trainer::set)
}

/// The table as text.
fn csv(table: &Table) -> String {
    let mut text = table.names().join(",") + "\n";
    for row in 0..table.columns()[0].len() {
        let cells: Vec<String> = table.columns().iter().map(|column| column.text(row)).collect();
        writeln!(text, "{}", cells.join(",")).expect("memory");
    }
    text
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a temporary folder is writable");
    path
}

fn regression(row: &Prediction) -> &inducing::model::Regression {
    match row {
        Prediction::Regression(numbers) => numbers,
        other => panic!("{other:?}"),
    }
}

fn classification(row: &Prediction) -> &inducing::model::Classification {
    match row {
        Prediction::Classification(class) => class,
        other => panic!("{other:?}"),
    }
}

#[test]
fn three_lines_learn_and_predict_a_number() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [path, new] = [("train.csv", 300, 0), ("new.csv", 50, 1)]
        .map(|(name, rows, seed)| written(folder.path(), name, &csv(&linear(rows, seed))));

    let data = Dataset::read(&path).and_then(|data| data.target("y")).expect("a table with a column `y`");
    let model = short(&data).fit().expect("a table to learn from");
    let rows = model.predict(&Dataset::read(&new).expect("a table")).expect("the same columns");

    let truth = linear(50, 1);
    let mut covered = 0;
    for (row, y) in rows.iter().zip(numbers(&truth, "y")) {
        let price = regression(&row);
        let [target] = price.targets() else { panic!("{price:?}") };
        assert_eq!((&*target.name, target.mean, target.std), ("y", price.mean(), price.std()));
        assert!(target.std_latent >= 0.0 && target.std_latent <= target.std);
        let (low, high) = price.interval(0.95);
        // 0.5 − 0.95/2 is not 0.025 to the last bit.
        assert!((low - price.quantile(0.025)).abs() < 1e-12 && (high - price.quantile(0.975)).abs() < 1e-12);
        assert!(low < price.mean() && price.mean() < high);
        covered += usize::from((low..=high).contains(y));
    }
    // 0.95 of 50 rows are 47.5 ± 1.5, the ends being fixed by 36 rows; half as many would be no interval of 95 %.
    assert!(covered >= 40, "{covered} of 50");
}

#[test]
fn three_lines_learn_and_predict_a_class() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = ["low", "middle", "top"];
    let [path, new] = [("train.csv", 300, 0), ("new.csv", 50, 1)]
        .map(|(name, rows, seed)| written(folder.path(), name, &csv(&classes(rows, &names, seed))));

    let data = Dataset::read(&path).and_then(|data| data.target("y")).expect("a table with a column `y`");
    let model = short(&data).fit().expect("a table to learn from");
    let rows = model.predict(&Dataset::read(&new).expect("a table")).expect("the same columns");

    let truth = classes(50, &names, 1);
    let Column::Category { codes, .. } = truth.column("y").expect("a column") else { panic!("classes") };
    let mut right = 0;
    for (row, code) in rows.into_iter().zip(codes) {
        let class = classification(&row);
        let (best, p) = class.probabilities().max_by(|a, b| a.1.total_cmp(&b.1)).expect("three classes");
        assert_eq!((class.label(), class.probability()), (best, p));
        assert!(class.entropy() >= 0.0 && class.latent().all(|(f, std)| f.is_finite() && std > 0.0));
        right += usize::from(code.is_some_and(|code| names[code as usize] == class.label()));
    }
    assert!(right > 30, "{right} of 50; guessing gives 17 to 30"); // the middle third of a normal has half of the rows
}

#[test]
fn predictions_by_columns_are_those_row_by_row() {
    let data = Dataset::from_table(linear(200, 0)).with_targets(&["y".into(), "b".into()]).expect("columns");
    let model = short(&data).fit().expect("a table to learn from");
    let rows = model.predict(&data).expect("its own table");
    let batch = rows.as_regression().expect("numbers").clone();
    assert!(rows.as_classification().is_none() && rows.len() == 200 && !rows.is_empty());
    assert_eq!(rows.get(200), None);
    assert!(rows.iter().eq(rows.clone()));
    for (i, row) in rows.into_iter().enumerate() {
        for (j, target) in regression(&row).targets().iter().enumerate() {
            let at = 2 * i + j;
            assert_eq!(&*target.name, ["y", "b"][j]);
            assert_eq!(
                [target.mean, target.std, target.std_latent],
                [batch.mean[at], batch.std[at], batch.std_latent[at]]
            );
        }
    }
}

/// What a batch says of some rows.
fn part(batch: &RegressionBatch, rows: std::ops::Range<usize>) -> RegressionBatch {
    let of = |values: &[f64]| values[rows.clone()].to_vec();
    RegressionBatch {
        mean: of(&batch.mean),
        std: of(&batch.std),
        std_latent: of(&batch.std_latent),
        density: batch.density[rows.clone()].to_vec(),
        familiarity: batch.familiarity.get(rows).unwrap_or_default().to_vec(),
    }
}

/// A stream has blocks of 8,192 rows, `predict` has all at once: whatever the blocks, a row has one prediction.
#[test]
fn a_stream_predicts_every_row_as_predict_does_to_the_last_bit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (whole, train) = (linear(20_000, 3), linear(300, 0));
    let path = written(folder.path(), "new.csv", &csv(&whole));
    let data = Dataset::from_table(train).target("y").expect("a column");
    let model = short(&data).fit().expect("a table to learn from");
    let data = Dataset::read(&path).expect("a table");
    let expected = model.predict(&data).expect("the same columns");
    let expected = expected.as_regression().expect("numbers");
    let (mut start, mut sizes) = (0, Vec::new());
    for block in model.stream(&data, &["y".into()]).expect("a table in a file") {
        let block = block.expect("readable");
        let n = block.predictions.len();
        assert_eq!(block.passthrough.num_rows(), n);
        assert_eq!(
            block.predictions.as_regression(),
            Some(&part(expected, start..start + n)),
            "from row {start}"
        );
        start += n;
        sizes.push(n);
    }
    assert!(start == 20_000 && sizes.len() > 1, "{sizes:?}");
}

#[test]
fn a_stream_of_classes_predicts_every_row_as_predict_does_and_says_what_it_did_not_know() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let colours =
        |row: usize, strange: bool| if strange && row % 100 == 7 { "grey" } else { ["red", "blue"][row % 2] };
    let text = |rows: usize, strange: bool| {
        let numbers = linear(rows, 5);
        let (a, y) = (crate::fixture::numbers(&numbers, "a"), crate::fixture::numbers(&numbers, "y"));
        let mut text = "id,a,colour,sign\n".to_owned();
        for row in 0..rows {
            let sign = if y[row] + (row % 2) as f64 > 0.5 { "plus" } else { "minus" };
            writeln!(text, "{row},{},{},{sign}", a[row], colours(row, strange)).expect("memory");
        }
        text
    };
    let train = Dataset::read(written(folder.path(), "train.csv", &text(300, false))).expect("a table");
    let train = train.target("sign").expect("a column");
    let model = short(&train).set("data.ignore=[\"id\"]").fit().expect("a table to learn from");
    let data = Dataset::read(written(folder.path(), "new.csv", &text(9000, true))).expect("a table");
    let expected = model.predict(&data).expect("the same columns");
    let expected = expected.as_classification().expect("classes");
    let mut stream = model.stream(&data, &["id".into()]).expect("a table in a file");
    assert_eq!(stream.passthrough_schema().fields().len(), 1);
    let mut start = 0;
    for block in stream.by_ref() {
        let block = block.expect("readable");
        let of = |values: &[f64]| values[2 * start..2 * (start + block.predictions.len())].to_vec();
        let own = ClassificationBatch {
            classes: 2,
            p: of(&expected.p),
            latent_mean: of(&expected.latent_mean),
            latent_std: of(&expected.latent_std),
            familiarity: Vec::new(),
            decision: None,
        };
        assert_eq!(block.predictions.as_classification(), Some(&own), "from row {start}");
        start += block.predictions.len();
    }
    assert_eq!(start, 9000);
    assert_eq!(stream.notes(), ["column `colour`: 90 rows hold a category that was never seen in training"]);
}

#[test]
fn a_stream_ends_when_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = Dataset::from_table(linear(100, 0)).target("y").expect("a column");
    let model = short(&data).fit().expect("a table to learn from");
    let data = Dataset::read(written(folder.path(), "new.csv", &csv(&linear(10, 0)))).expect("a table");
    let mut stream = model.stream(&data, &[]).expect("a table in a file").stop_when(|| true);
    assert!(matches!(stream.next(), Some(Err(Error::Interrupted))));
}

/// f32 arithmetic in blocks of 64 and 2,048 rows must not show.
#[test]
fn equal_rows_have_one_prediction() {
    let data = Dataset::from_table(linear(300, 0)).target("y").expect("a column");
    let model = short(&data).set("encoder.members=2").set("encoder.hidden=[33,17]").fit().expect("a table");
    let alike = table([("a", vec![0.3; 2049]), ("b", vec![-1.1; 2049])]);
    let rows = model.predict(&Dataset::from_table(alike)).expect("the same columns");
    let first = rows.get(0).expect("there are rows");
    for (i, row) in rows.into_iter().enumerate() {
        assert_eq!(row, first, "row {i}");
    }
}

#[test]
fn a_model_of_numbers_asked_for_classes_is_an_error_and_the_other_way_round() {
    let data = Dataset::from_table(linear(100, 0)).target("y").expect("a column");
    let numbers = short(&data).fit().expect("a table to learn from");
    let inputs = encoded_data(&numbers, &data);
    assert!(matches!(numbers.predict_classes(&inputs, &[0]), Err(Error::Inputs { .. })));
    assert!(numbers.predict_numbers(&inputs, &[0]).is_ok());
    assert!(numbers.predict(&data).expect("its own table").as_classification().is_none());
    let data = Dataset::from_table(classes(100, &["no", "yes"], 0)).target("y").expect("a column");
    let classes = short(&data).fit().expect("a table to learn from");
    let inputs = encoded_data(&classes, &data);
    assert!(matches!(classes.predict_numbers(&inputs, &[0]), Err(Error::Inputs { .. })));
    assert!(classes.predict_classes(&inputs, &[0]).is_ok());
    assert!(classes.predict(&data).expect("its own table").as_regression().is_none());
    // What was observed is of the other kind.
    assert!(classes.score_classes(&inputs, &[0, 1], &[0, 1]).is_ok());
    let wrong =
        numbers.score_classes(&encoded_data(&numbers, &Dataset::from_table(linear(9, 0))), &[0, 1], &[0, 1]);
    assert!(matches!(wrong, Err(Error::Inputs { .. })), "{wrong:?}");
}

#[test]
fn a_data_set_of_the_wrong_kind_is_an_error_that_says_so() {
    let data = Dataset::from_table(linear(100, 0)).target("y").expect("a column");
    let of_table = short(&data).fit().expect("a table to learn from");
    let images = Dataset::from_images(stripes(60, 1, 0));
    let of_images = short(&images).fit().expect("images to learn from");
    for (model, data, expected, found) in
        [(&of_table, &images, "rows of a table", "images"), (&of_images, &data, "images", "a table")]
    {
        for result in [
            model.predict(data).map(|_| ()),
            model.encode_data(data, TargetUse::Needed).map(|_| ()),
            model.encode_data(data, TargetUse::IfPresent).map(|_| ()),
        ] {
            let error = result.expect_err("another kind of data");
            assert!(matches!(error, Error::Inputs { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(expected) && text.contains(found) && text.contains("hint:"), "{text}");
        }
    }
    assert!(matches!(of_images.stream(&images, &[]), Err(Error::Inputs { .. })));
    assert!(matches!(of_table.stream(&images, &[]), Err(Error::Inputs { .. })));
    assert!(
        matches!(of_table.stream(&data, &[]), Err(Error::Inputs { .. })),
        "a table in memory has no blocks"
    );
    let other = Dataset::from_table(table([("c", vec![1.0])]));
    let error = of_table.predict(&other).expect_err("a column is missing").to_string();
    assert!(error.contains("`a`"), "{error}");
}

#[test]
fn rows_that_do_not_exist_are_an_error() {
    let data = Dataset::from_table(linear(100, 0)).target("y").expect("a column");
    let model = short(&data).fit().expect("a table to learn from");
    let inputs = encoded_data(&model, &data);
    for rows in [&[100][..], &[0, usize::MAX], &[3, 100]] {
        assert!(matches!(model.predict_inputs(&inputs, rows), Err(Error::Inputs { .. })), "{rows:?}");
        assert!(matches!(model.encode(&inputs, rows), Err(Error::Inputs { .. })), "{rows:?}");
    }
    assert!(model.predict_inputs(&inputs, &[]).expect("no row at all").is_empty());
}

#[test]
fn what_a_data_set_does_not_have_cannot_be_its_target() {
    let error = Dataset::from_table(linear(10, 0)).target("z").expect_err("no such column");
    assert!(error.to_string().contains("`z`"), "{error}");
    assert!(Dataset::read("/nowhere/at/all.csv").and_then(|data| data.target("y")).is_err());
    let nothing = Dataset::from_table(linear(100, 0));
    assert!(short(&nothing).fit().is_err(), "no target was named");
    let data = Dataset::from_table(linear(10, 0)).target("y").expect("a column");
    assert_eq!((data.name(), data.targets()), ("memory", &["y".to_owned()][..]));
    assert!(data.notices().is_empty() && data.table().is_some() && data.graphs().is_none());
}

/// Where the run stood when the listener said no.
fn stopped(data: &Dataset, after: usize) -> Option<(Checkpoint, usize)> {
    let (mut steps, mut events) = (0, 0);
    let listener = |event: Event<'_>| {
        steps += usize::from(matches!(event, Event::Step { .. }));
        events += 1;
        events <= after
    };
    match short(data).on_event(listener).fit() {
        Err(Error::Stopped { checkpoint }) => Some((*checkpoint, steps)),
        Ok(_) => None,
        Err(other) => panic!("{other}"),
    }
}

/// Events are the beginning of an epoch, a step, and an epoch's record: the run is stopped after every single one.
#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_bytes() {
    for data in [
        Dataset::from_table(linear(200, 0)).target("y").expect("a column"),
        Dataset::from_table(classes(120, &["a", "b", "c"], 0)).target("y").expect("a column"),
        Dataset::from_images(stripes(60, 1, 0)),
    ] {
        let whole = bytes(&short(&data).fit().expect("this run succeeds"));
        let mut stops = 0;
        for after in 0.. {
            let Some((checkpoint, steps)) = stopped(&data, after) else { break };
            let resumed = short(&data).resume(checkpoint).fit().expect("this run succeeds");
            assert!(bytes(&resumed) == whole, "stopped after {after} events and {steps} steps: other bytes");
            stops += 1;
        }
        assert!(stops >= 8, "the test needs several events, not {stops}");
    }
}

#[test]
fn the_seed_decides_every_byte_and_threads_none() {
    let data = Dataset::from_table(linear(200, 0)).target("y").expect("a column");
    let fit = |seed, threads| {
        on_threads(threads, || bytes(&short(&data).seed(seed).fit().expect("this run succeeds")))
    };
    let first = fit(3, 1);
    assert!(first == fit(3, 1) && first == fit(3, 2) && first == fit(3, 3) && first != fit(4, 1));
}

#[test]
fn a_table_in_memory_and_the_same_in_a_file_give_the_same_model() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = classes(200, &["no", "yes"], 0);
    let file = written(folder.path(), "t.csv", &csv(&table));
    let of =
        |data: Dataset| bytes(&short(&data.target("y").expect("a column")).fit().expect("this run succeeds"));
    assert!(of(Dataset::from_table(table)) == of(Dataset::read(file).expect("a table")));
}

/// The least latent deviation of rows like those of training, and those of some strange ones, or their errors.
fn latent_deviations(model: &Model, strange: &[[f64; 2]]) -> (f64, Vec<Result<f64, Error>>) {
    let deviation = |a: Vec<f64>, b: Vec<f64>| {
        let rows = model.predict(&Dataset::from_table(table([("a", a), ("b", b)])))?;
        Ok(rows.as_regression().expect("numbers").std_latent.iter().copied().fold(f64::INFINITY, f64::min))
    };
    let typical = linear(300, 9);
    let typical = deviation(numbers(&typical, "a").to_vec(), numbers(&typical, "b").to_vec());
    let strange = strange.iter().map(|&[a, b]| deviation(vec![a], vec![b]));
    (typical.expect("typical rows"), strange.collect())
}

/// Whatever stands in a row, the model never knows it better than the rows it has learned from, or says that it cannot
/// tell.
#[test]
fn extreme_values_never_make_a_model_surer_than_it_is_of_typical_rows() {
    let extreme = [1e3, -1e6, 1e12, 1e20, 1e38, -1e38, 1e300, f64::MAX, f64::NAN, f64::INFINITY];
    let strange: Vec<[f64; 2]> = extreme.iter().flat_map(|&x| [[x, 0.0], [0.0, x], [x, x]]).collect();
    for more in [&[][..], &["encoder.frequencies=0"], &["encoder.skip=false"], &["gp.kernel=matern32"]] {
        let data = Dataset::from_table(linear(300, 0)).target("y").expect("a column");
        let trainer = more.iter().fold(short(&data), |trainer, setting| trainer.set(*setting));
        let model = trainer.fit().expect("a table to learn from");
        let (typical, found) = latent_deviations(&model, &strange);
        for (row, deviation) in strange.iter().zip(found) {
            match deviation {
                // Up to the rounding of f32 features.
                Ok(deviation) => {
                    assert!(deviation >= 0.999 * typical, "{more:?} {row:?}: {deviation} < {typical}")
                }
                Err(error) => {
                    assert!(matches!(error, Error::NotFinite { row: 0 } | Error::Data(_)), "{row:?}: {error}")
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_written_by_a_stream_of_rows_is_read_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = Dataset::from_table(linear(100, 0)).target("y").expect("a column");
    let model = short(&data).fit().expect("a table to learn from");
    let new = Dataset::read(written(folder.path(), "new.csv", &csv(&linear(10, 0)))).expect("a table");
    let mut stream = model.stream(&new, &["a".into(), "b".into()]).expect("a table in a file");
    let out = folder.path().join("out.parquet");
    let sink = data::Sink::new(&out.to_string_lossy());
    let mut writer = RowWriter::create(&sink, None, stream.passthrough_schema()).expect("writable");
    writer.write(&stream.next().expect("one block").expect("readable").passthrough).expect("writable");
    writer.finish().expect("writable");
    let again = model.predict(&Dataset::read(&out).expect("a table")).expect("the same columns");
    assert_eq!(again.as_regression(), model.predict(&new).expect("the same columns").as_regression());
}
