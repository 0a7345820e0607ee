//! Layers of a configuration: preset, file, single keys.

use crate::fixture;
use inducing::config::{Config, KernelFamily, ProblemKind, Settings, StopOn};
use inducing::{Dataset, Error, Trainer};
use proptest::prelude::*;

/// A preset, a file and single keys, as far as there are any.
fn resolve(preset: Option<&str>, file: Option<&str>, keys: &[String]) -> Result<Config, Error> {
    let start = preset.map_or(Settings::default(), |preset| Settings::default().preset(preset));
    let start = file.map_or(start.clone(), |file| start.toml("run.toml", file));
    keys.iter().fold(start, |all, key| all.set(key.as_str())).resolve(ProblemKind::Regression)
}

#[track_caller]
fn resolved(preset: Option<&str>, file: Option<&str>, keys: &[String]) -> Config {
    resolve(preset, file, keys).expect("valid")
}

#[test]
fn both_presets_resolve_and_naming_the_default_changes_nothing() {
    let default = resolved(None, None, &[]);
    assert_eq!(resolved(Some("default"), None, &[]), default);
    let paper = resolved(Some("paper"), None, &[]);
    assert_ne!(default, paper);
    assert_eq!(resolved(None, Some("preset = \"paper\""), &[]), paper);
    let both = resolved(Some("paper"), Some("preset = \"default\""), &[]);
    assert_eq!(both, paper, "what the caller names counts over the file");
}

#[test]
fn a_resolved_configuration_resolves_to_itself() {
    for preset in ["default", "paper"] {
        let config = resolved(Some(preset), None, &["data.target=[\"y\"]".into()]);
        let text = toml::to_string(&config).expect("plain data");
        assert_eq!(resolved(None, Some(&text), &[]), config);
        assert_eq!(
            resolved(Some("paper"), Some(&text), &[]),
            config,
            "a whole file leaves nothing to a preset"
        );
    }
}

/// A layer's value of each of four keys, or none.
type Layer = (Option<u32>, Option<u32>, Option<bool>, Option<f64>);

fn layer() -> impl Strategy<Value = Layer> {
    use prop::option::of;
    (of(0..1000_u32), of(1..2000_u32), of(any::<bool>()), of(1e-6..1.0_f64))
}

fn text(layer: &Layer) -> [(&'static str, &'static str, Option<String>); 4] {
    [
        ("train", "epochs", layer.0.map(|x| x.to_string())),
        ("gp", "inducing", layer.1.map(|x| x.to_string())),
        ("encoder", "skip", layer.2.map(|x| x.to_string())),
        ("train", "learning_rate", layer.3.map(|x| format!("{x:e}"))),
    ]
}

proptest! {
    #[test]
    fn a_single_key_beats_the_file_and_the_file_beats_the_preset(file in layer(), single in layer(), paper: bool) {
        let preset = if paper { "paper" } else { "default" };
        let below = resolved(Some(preset), None, &[]);
        let mut toml = toml::Table::new();
        for (section, key, value) in text(&file) {
            if let Some(value) = value {
                let section = toml.entry(section).or_insert_with(|| toml::Table::new().into());
                let value = format!("v = {value}").parse::<toml::Table>().expect("a value")["v"].clone();
                section.as_table_mut().expect("a table").insert(key.into(), value);
            }
        }
        let overrides: Vec<String> = text(&single)
            .into_iter()
            .filter_map(|(section, key, value)| value.map(|value| format!("{section}.{key}={value}")))
            .collect();
        let config = resolved(Some(preset), Some(&toml.to_string()), &overrides);
        let expected = (
            single.0.or(file.0).map_or(below.train.epochs, |x| x as usize),
            single.1.or(file.1).map_or(below.gp.inducing.get(), |x| x as usize),
            single.2.or(file.2).unwrap_or(below.encoder.skip),
            single.3.or(file.3).unwrap_or(below.train.learning_rate.get()),
        );
        let got = (
            config.train.epochs,
            config.gp.inducing.get(),
            config.encoder.skip,
            config.train.learning_rate.get(),
        );
        prop_assert_eq!(got, expected);
        // What no layer names stays the preset's.
        prop_assert_eq!((config.seed, config.gp.kernel, config.train.stop_on), (below.seed, below.gp.kernel, below.train.stop_on));
    }

    #[test]
    fn no_key_outside_the_configuration_is_taken(section in "(data|encoder|gp|train)", key in "[a-z]{1,9}_x") {
        let error = resolve(None, None, &[format!("{section}.{key}=1")]).expect_err("no such key");
        prop_assert!(error.to_string().contains(&key), "{}", error);
    }
}

#[test]
fn later_overrides_count_over_earlier_ones_and_bare_words_are_strings() {
    let overrides = ["gp.kernel=linear", "gp.kernel=matern52", "train.stop_on=\"nll\""].map(String::from);
    let config = resolved(None, None, &overrides);
    assert_eq!(config.gp.kernel, KernelFamily::Matern52);
    assert_eq!(config.train.stop_on, StopOn::Nll);
}

#[test]
fn values_outside_their_range_cannot_be_built() {
    for bad in [
        "train.learning_rate=0",
        "train.learning_rate=nan",
        "gp.jitter=-1",
        "gp.inducing=0",
        "encoder.features=0",
        "encoder.hidden=[0]",
        "train.validation_share=1",
        "data.test_share=-0.1",
        "encoder.dropout=1",
        "train.weight_decay=-1",
        "gp.noise_floor=-1",
        "train.encoder_rate=inf",
        "train.batch_size=0",
        "seed=-1",
        "gp.precision=f16",
    ] {
        let error = resolve(None, None, &[bad.into()]).expect_err(bad);
        let key = bad.split_once('=').expect("key and value").0;
        assert!(error.to_string().contains(key), "{bad}: {error}");
    }
}

#[test]
fn what_dense_networks_of_images_have_otherwise_is_theirs_alone() {
    let resolved =
        |preset: &str, more: &[&str]| fixture::resolve(ProblemKind::Images, preset, more).expect("a preset");
    for more in [&[][..], &["encoder.kind=mlp"]] {
        let config = resolved("default", more);
        assert!(config.train.head_refit && config.train.encoder_rate == 0.0);
    }
    for more in ["encoder.kind=cnn", "encoder.kind=identity"] {
        let config = resolved("default", &[more]);
        assert!(!config.train.head_refit && config.train.encoder_rate == 0.1, "{more}");
    }
    let config = resolved("paper", &["encoder.kind=cnn"]);
    assert!(!config.train.head_refit && config.train.encoder_rate == 1.0);
    assert_eq!(config.gp.gamma, resolved("paper", &[]).gp.gamma);
}

#[test]
fn a_preset_that_is_no_name_is_refused() {
    let error = resolve(None, Some("preset = 3"), &[]).expect_err("a number is no preset");
    assert!(error.to_string().contains("preset"), "{error}");
}

#[test]
fn settings_that_do_not_exist_are_an_error_of_the_run() {
    let data = Dataset::from_table(fixture::linear(60, 0)).target("y").expect("a column of this name");
    for (settings, word) in [
        (Settings::default().preset("papers"), "papers"),
        (Settings::default().toml("run.toml", "epochs = 1"), "epochs"),
        (Settings::default().toml("run.toml", "[train"), "run.toml"),
        (Settings::default().set("train.epochs"), "key=value"),
        (Settings::default().set("train.epochs=-1"), "train.epochs"),
    ] {
        let error = Trainer::new(&data).settings(settings).fit().expect_err(word);
        assert!(matches!(error, Error::Config(_)) && error.to_string().contains(word), "{error}");
    }
}

#[test]
fn the_data_set_says_what_is_predicted_and_the_kind_of_problem_follows() {
    let numbers = Dataset::from_table(fixture::linear(60, 0)).target("y").expect("a column of this name");
    let config = Trainer::new(&numbers).resolve().expect("valid");
    assert_eq!(config.data.target, ["y"]);
    let classes = Dataset::from_table(fixture::classes(60, &["a", "b"], 0)).target("y").expect("a column");
    let plain = |kind| fixture::resolve(kind, "default", &["data.target=[\"y\"]"]).expect("valid");
    assert_eq!(config, plain(ProblemKind::Regression));
    let config = Trainer::new(&classes).resolve().expect("valid");
    assert_eq!(config, plain(ProblemKind::Classification));
    let images = Dataset::from_images(fixture::stripes(9, 1, 0));
    let config = Trainer::new(&images).seed(7).resolve().expect("valid");
    assert_eq!(config, fixture::resolve(ProblemKind::Images, "default", &["seed=7"]).expect("valid"));
}
