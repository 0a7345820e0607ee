//! Runs that learn classes arrive at the same bytes: with the same seed, on any number of threads, after any stop.

use crate::fixture::{
    bytes, classes, on_threads, prepared, prepared_images, stripes, tiny_classes, tiny_images, trained,
};
use inducing::Config;
use inducing::dataset::Prepared;
use inducing::train::{Checkpoint, Event, Fit};

const THREE: [&str; 3] = ["low", "middle", "top"];

/// All kinds of runs, each with what it trains on.
fn runs() -> Vec<(&'static str, Prepared, Config)> {
    let of_table = |more: &[&str]| {
        let config = tiny_classes(more);
        (prepared(&classes(150, &THREE, 0), &config).expect("a table to learn from"), config)
    };
    let of_images = |more: &[&str]| {
        let config = tiny_images(more);
        (prepared_images(&stripes(90, 3, 0), &config).expect("images to learn from"), config)
    };
    let named = |name, (prepared, config)| (name, prepared, config);
    vec![
        named("shared", of_table(&[])),
        named("independent", of_table(&["gp.multiclass=independent"])),
        named("softmax", of_table(&["head=softmax", "train.pretrain_epochs=4"])),
        named("laplace", of_table(&["gp.link=probit", "gp.coupling=batch"])),
        named(
            "images",
            of_images(&["encoder.augment=true", "train.batch_size=32", "train.pretrain_batch_size=32"]),
        ),
        named("convolutions", of_images(&["encoder.kind=cnn", "encoder.stem=8", "encoder.blocks=[8]"])),
        named("independent images", of_images(&["gp.multiclass=independent"])),
    ]
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    for (name, prepared, config) in runs() {
        let first = bytes(&trained(&prepared, &config, 1));
        assert!(first == bytes(&trained(&prepared, &config, 1)), "{name}");
        let other = Config { seed: 1, ..config };
        assert!(first != bytes(&trained(&prepared, &other, 1)), "{name}: the seed is not used");
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    for (name, prepared, config) in runs() {
        let one = bytes(&trained(&prepared, &config, 1));
        for threads in [2, 3] {
            assert!(one == bytes(&trained(&prepared, &config, threads)), "{name}: {threads} threads");
        }
    }
}

/// Sizes at which the work of one network is cut into parts.
#[test]
fn the_number_of_threads_changes_no_byte_of_a_larger_network() {
    for more in [&[][..], &["gp.link=probit", "gp.coupling=batch"]] {
        let large = ["gp.inducing=200", "encoder.hidden=[64]", "encoder.features=32", "encoder.members=4"];
        let config = tiny_classes(&[&large[..], more].concat());
        let prepared = prepared(&classes(400, &THREE, 0), &config).expect("a table to learn from");
        let one = bytes(&trained(&prepared, &config, 1));
        for threads in [2, 3] {
            assert!(one == bytes(&trained(&prepared, &config, threads)), "{more:?}: {threads} threads");
        }
    }
}

/// Stops after `stop` steps; `None` when the run is over before.
fn stopped(prepared: &Prepared, config: &Config, threads: usize, stop: usize) -> Option<Checkpoint> {
    let mut seen = 0;
    let mut listener = |event: Event<'_>| {
        seen += usize::from(matches!(event, Event::Step { .. }));
        seen <= stop
    };
    let fit = on_threads(threads, || prepared.fit(config, threads, None, &mut listener));
    match fit.expect("this run succeeds") {
        Fit::Interrupted(standing) => Some(standing),
        Fit::Finished(_) => None,
    }
}

#[test]
fn a_stop_after_any_step_and_a_checkpoint_lead_to_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("checkpoint");
    for (name, prepared, config) in runs() {
        let whole = bytes(&trained(&prepared, &config, 1));
        let mut stops = 0;
        for stop in 0.. {
            let Some(standing) = stopped(&prepared, &config, 1, stop) else { break };
            stops += 1;
            let fingerprint = prepared.fingerprint();
            standing.save(&path, &config, &fingerprint).expect("a temporary folder is writable");
            let loaded = Checkpoint::load(&path, &config, &fingerprint).expect("just written");
            assert_eq!(standing, loaded, "{name}");
            let fit = prepared.fit(&config, 1, Some(loaded), &mut |_| true).expect("this run succeeds");
            let Fit::Finished(resumed) = fit else { panic!("{name}: not asked to stop") };
            assert!(
                bytes(&resumed) == whole,
                "{name}: stopped after step {stop}, the run arrived at other bytes"
            );
        }
        assert!(stops >= 4, "{name}: the test needs several steps, not {stops}");
    }
}

/// Networks that train side by side stand at different epochs when a stop meets them.
#[test]
fn a_stop_of_networks_side_by_side_leads_to_the_same_bytes() {
    let config = tiny_classes(&["gp.multiclass=independent", "train.epochs=6"]);
    let prepared = prepared(&classes(150, &THREE, 0), &config).expect("a table to learn from");
    let whole = bytes(&trained(&prepared, &config, 1));
    for stop in [0, 3, 8, 13, 19] {
        let standing = stopped(&prepared, &config, 2, stop).expect("stopped before the end");
        assert_eq!(standing.networks.len(), 3);
        for threads in [1, 3] {
            let resume = Some(standing.clone());
            let fit = on_threads(threads, || prepared.fit(&config, threads, resume, &mut |_| true));
            let Ok(Fit::Finished(resumed)) = fit else { panic!("step {stop}: {fit:?}") };
            assert!(bytes(&resumed) == whole, "stopped after step {stop}, resumed on {threads} threads");
        }
    }
}

#[test]
fn where_another_run_stands_is_refused() {
    let (shared, independent) = (tiny_classes(&[]), tiny_classes(&["gp.multiclass=independent"]));
    let table = classes(150, &THREE, 0);
    let prepared = prepared(&table, &shared).expect("a table to learn from");
    let standing = stopped(&prepared, &shared, 1, 1).expect("stopped before the end");
    let error =
        prepared.fit(&independent, 1, Some(standing), &mut |_| true).expect_err("one network of three");
    assert!(error.to_string().contains("it holds 1 networks, the run has 3"), "{error}");
    let softmax = tiny_classes(&["head=softmax"]);
    let likelihood = stopped(&prepared, &shared, 1, 5).expect("stopped before the end");
    let error = prepared.fit(&softmax, 1, Some(likelihood), &mut |_| true);
    assert!(error.is_err(), "a softmax layer has no inducing points to go on with");
}
