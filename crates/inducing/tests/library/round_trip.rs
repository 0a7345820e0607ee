//! A model and its file.

use crate::fixture::{encoded, linear, model, predict, prepared, tiny};
use inducing::Model;

#[test]
fn a_loaded_model_predicts_the_same_bits_as_the_one_that_was_saved() {
    let table = linear(300, 0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for more in [
        &[][..],
        &["gp.precision=f32", "gp.jitter=1e-3"],
        &["gp.kernel=matern32"],
        &["gp.kernel=linear"],
        &["encoder.members=2"],
        &["encoder.skip=false"],
    ] {
        let before = model(&table, &tiny(more));
        let path = folder.path().join("m.ign");
        before.save(&path).expect("a temporary folder is writable");
        let after = Model::load(&path).expect("what was saved can be loaded");
        assert_eq!(before.header(), after.header());
        assert!(before.heads().eq(after.heads()));
        let x = encoded(&before, &table);
        assert_eq!(predict(&before, &x), predict(&after, &x), "{more:?}");
        let features = |model: &Model| model.encode(&x, &[0, 7]).expect("rows of the model");
        assert_eq!(features(&before), features(&after));
        // And the loaded one is saved as the same bytes.
        let again = folder.path().join("again.ign");
        after.save(&again).expect("a temporary folder is writable");
        assert_eq!(std::fs::read(&path).expect("there"), std::fs::read(&again).expect("there"));
    }
}

#[test]
fn several_targets_with_names_of_any_letters_survive() {
    let table = linear(200, 0);
    let columns = ["a", "größe \"in\" \\ m²", "y,\n z"].into_iter().zip(table.columns());
    let table = data::Table::new("memory", columns.map(|(n, c)| (n.to_owned(), c.clone())).collect())
        .expect("a table");
    let mut config = tiny(&[]);
    config.data.target = vec![table.names()[1].clone(), table.names()[2].clone()];
    let before = model(&table, &config);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("m.ign");
    before.save(&path).expect("a temporary folder is writable");
    let after = Model::load(&path).expect("what was saved can be loaded");
    assert_eq!(before.header(), after.header());
    let x = encoded(&before, &table);
    assert_eq!(predict(&before, &x), predict(&after, &x));
}

#[test]
fn a_checkpoint_resumes_to_the_same_bytes_from_any_epoch() {
    use inducing::train::{Checkpoint, Event, Fit};
    let (table, config) = (linear(200, 0), tiny(&["train.epochs=3"]));
    let prepared = prepared(&table, &config).expect("a table to learn from");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("checkpoint");
    let bytes = |fit: Fit| match fit {
        Fit::Finished(model) => {
            model.save(folder.path().join("m.ign")).expect("a temporary folder is writable");
            std::fs::read(folder.path().join("m.ign")).expect("just written")
        }
        Fit::Interrupted(_) => panic!("not asked to stop"),
    };
    let whole = bytes(prepared.fit(&config, 1, None, &mut |_| true).expect("this run succeeds"));
    // Two batches of pretraining and two of the likelihood an epoch: stop after every single step.
    let mut steps = 0;
    prepared
        .fit(&config, 1, None, &mut |event| {
            steps += usize::from(matches!(event, Event::Step { .. }));
            true
        })
        .expect("this run succeeds");
    for stop in 0..steps {
        let mut seen = 0;
        let fit = prepared.fit(&config, 1, None, &mut |event| {
            seen += usize::from(matches!(event, Event::Step { .. }));
            seen <= stop
        });
        let Ok(Fit::Interrupted(state)) = fit else { panic!("step {stop}: not interrupted") };
        state.save(&path, &config, &prepared.fingerprint()).expect("a temporary folder is writable");
        let loaded = Checkpoint::load(&path, &config, &prepared.fingerprint()).expect("just written");
        assert_eq!(state, loaded);
        let resumed =
            bytes(prepared.fit(&config, 1, Some(loaded), &mut |_| true).expect("this run succeeds"));
        assert!(resumed == whole, "stopped after step {stop}, the run arrived at other bytes");
    }
    let error = Checkpoint::load(&path, &tiny(&["seed=1", "train.epochs=3"]), &prepared.fingerprint())
        .expect_err("another seed");
    assert!(error.to_string().contains("configuration"), "{error}");
}
