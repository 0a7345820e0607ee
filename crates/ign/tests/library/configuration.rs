//! Layers of a configuration: preset, file, single keys.

use ign::{Config, Kind};
use proptest::prelude::*;

fn resolve(
    preset: Option<&str>,
    file: &str,
    overrides: &[String],
) -> Result<Config, ign::config::ConfigError> {
    Config::resolve(Kind::Numbers, preset, Some(("run.toml", file)), overrides)
}

#[test]
fn both_presets_resolve_and_naming_the_default_changes_nothing() {
    let default = Config::resolve(Kind::Numbers, None, None, &[]).expect("the default is valid");
    assert_eq!(Config::resolve(Kind::Numbers, Some("default"), None, &[]), Ok(default.clone()));
    let paper = Config::resolve(Kind::Numbers, Some("paper"), None, &[]).expect("the paper's is valid");
    assert_ne!(default, paper);
    assert_eq!(resolve(None, "preset = \"paper\"", &[]), Ok(paper.clone()));
    assert_eq!(
        resolve(Some("paper"), "preset = \"default\"", &[]),
        Ok(paper),
        "the command line counts over the file"
    );
}

#[test]
fn a_resolved_configuration_resolves_to_itself() {
    for preset in ["default", "paper"] {
        let config = Config::resolve(Kind::Numbers, Some(preset), None, &["data.target=[\"y\"]".into()])
            .expect("valid");
        let text = toml::to_string(&config).expect("plain data");
        assert_eq!(resolve(None, &text, &[]), Ok(config.clone()));
        assert_eq!(resolve(Some("paper"), &text, &[]), Ok(config), "a whole file leaves nothing to a preset");
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
        let below = Config::resolve(Kind::Numbers, Some(preset), None, &[]).expect("valid");
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
        let config = resolve(Some(preset), &toml.to_string(), &overrides).expect("valid");
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
        let error = Config::resolve(Kind::Numbers, None, None, &[format!("{section}.{key}=1")]).expect_err("no such key");
        prop_assert!(error.to_string().contains(&key), "{}", error);
    }
}

#[test]
fn later_overrides_count_over_earlier_ones_and_bare_words_are_strings() {
    let overrides = ["gp.kernel=linear", "gp.kernel=matern52", "train.stop_on=\"nll\""].map(String::from);
    let config = Config::resolve(Kind::Numbers, None, None, &overrides).expect("valid");
    assert_eq!(config.gp.kernel, ign::config::KernelFamily::Matern52);
    assert_eq!(config.train.stop_on, ign::config::StopOn::Nll);
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
        let error = Config::resolve(Kind::Numbers, None, None, &[bad.into()]).expect_err(bad);
        let key = bad.split_once('=').expect("key and value").0;
        assert!(error.to_string().contains(key), "{bad}: {error}");
    }
}

#[test]
fn what_dense_networks_of_pictures_have_otherwise_is_theirs_alone() {
    let resolved = |preset: &str, more: &[&str]| {
        let more: Vec<String> = more.iter().map(|s| (*s).into()).collect();
        Config::resolve(Kind::Images, Some(preset), None, &more).expect("a preset")
    };
    for more in [&[][..], &["encoder.kind=mlp"]] {
        let config = resolved("default", more);
        assert!(config.train.refit && config.train.encoder_rate == 0.0);
    }
    for more in ["encoder.kind=cnn", "encoder.kind=identity"] {
        let config = resolved("default", &[more]);
        assert!(!config.train.refit && config.train.encoder_rate == 0.1, "{more}");
    }
    let config = resolved("paper", &["encoder.kind=cnn"]);
    assert!(!config.train.refit && config.train.encoder_rate == 1.0);
    assert_eq!(config.gp.gamma, resolved("paper", &[]).gp.gamma);
}

#[test]
fn a_preset_that_is_no_name_is_refused() {
    let error = resolve(None, "preset = 3", &[]).expect_err("a number is no preset");
    assert!(error.to_string().contains("preset"), "{error}");
}
