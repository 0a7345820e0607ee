//! The model file and the checkpoint: safetensors with one JSON document in the header (docs/model-file.md).
//!
//! Written to a temporary file and renamed; read with every size, name, value and a checksum verified before
//! anything is built from it.

use super::{Calibration, Ensemble, Model, ModelHeader};
use crate::config::{Config, HeadKind};
use crate::dataset::EncoderFactory;
use crate::error::Error;
use crate::head::{FeatureScale, FittedHead, HeadParameters};
use crate::neighbours::{KeptRows, Reconstruction};
use crate::nn::{CustomEncoder, EncoderShape};
use crate::train::{Checkpoint, NetworkState, NetworkStateHeader};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Version of the layout that this program writes; it reads this one and all earlier ones.
pub const FORMAT_VERSION: u32 = 7;
/// The one metadata key.
const KEY: &str = "ign";
/// What stands in errors in a file's place.
const IN_MEMORY: &str = "the model's bytes";
/// A model is megabytes; nothing near this size is one.
const LARGEST_FILE: u64 = 4 << 30;

/// A file that cannot be used as a model or checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is something else.
    #[error("{file} is not an ign {kind} file: {reason}\nhint: {kind} files are made by `ign train`")]
    Foreign {
        /// Which file.
        file: String,
        /// `model` or `checkpoint`.
        kind: &'static str,
        /// What gave it away.
        reason: String,
    },
    /// It was damaged.
    #[error("{file} is damaged: {reason}\nhint: copy it again from where it was made, or train anew")]
    Damaged {
        /// Which file.
        file: String,
        /// What does not fit.
        reason: String,
    },
    /// Its encoder is of another program.
    #[error("{file} cannot be used here: {reason}\nhint: use the program that made it")]
    Outside {
        /// Which file.
        file: String,
        /// What is missing.
        reason: String,
    },
    /// It would be no model that anybody can read.
    #[error(
        "{file} was not written, for it could not be read again: {reason}\nhint: look for extreme values in the targets and inputs"
    )]
    Unusable {
        /// Which file.
        file: String,
        /// What a reader would say.
        reason: String,
    },
    /// It is from the future.
    #[error(
        "{file} has format version {found}, this program reads up to {FORMAT_VERSION}\nhint: use ign {written_by} or later"
    )]
    Newer {
        /// Which file.
        file: String,
        /// Its version.
        found: u64,
        /// The program that wrote it.
        written_by: String,
    },
}

/// Header of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointHeader {
    format_version: u32,
    ign_version: String,
    config: Config,
    data: String,
    states: Vec<Option<NetworkStateHeader>>,
}

/// A named tensor in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor<'a> {
    /// Its name in the model file.
    pub name: String,
    /// Its sizes.
    pub shape: Vec<usize>,
    /// Its numbers, row-major.
    pub values: &'a [f32],
}

impl Model {
    /// Writes the model file; an old file of that name stays untouched until the new one is complete.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let bytes = self.checked_bytes(&path.display().to_string())?;
        data::write_atomically(path, |out| out.write_all(&bytes)).map_err(Error::from)
    }

    /// The model file as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.checked_bytes(IN_MEMORY)
    }

    /// CRC-32 of the model file: what tells one model from another.
    pub fn checksum(&self) -> Result<u32, Error> {
        Ok(crc32fast::hash(&self.to_bytes()?))
    }

    /// The file's bytes, which were read back: what cannot be read is not written.
    fn checked_bytes(&self, file: &str) -> Result<Vec<u8>, Error> {
        let bytes = bytes_of(self.header(), &self.tensors());
        let reason = match Reader::<ModelHeader>::new(file.to_owned(), "model", &bytes) {
            Ok(file) if is_consistent(&file.header) => return Ok(bytes),
            Ok(_) => "sizes or values of its header cannot be right".into(),
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        };
        Err(FileError::Unusable { file: file.to_owned(), reason }.into())
    }

    /// All tensors, as the model file has them.
    pub fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let c = latent_functions(self.header());
        let mut tensors = Vec::new();
        for (k, network) in self.networks().iter().enumerate() {
            let prefix = prefix(k);
            let mut push = |name: String, shape: Vec<usize>, values| {
                tensors.push(NamedTensor { name: format!("{prefix}{name}"), shape, values });
            };
            for slot in network.encoder.layout().slots() {
                push(format!("encoder.{}", slot.name), slot.shape.clone(), slot.param.of(&network.theta));
            }
            match &network.head {
                FittedHead::Process(head) => {
                    let d = head.w.len() / c;
                    push("inducing.z".into(), vec![head.z.len() / d, d], &head.z);
                    push("inducing.w".into(), vec![d, c], &head.w);
                    push("inducing.b".into(), vec![c], &head.b);
                    if !head.log_sigma.is_empty() {
                        push("noise.log_sigma".into(), vec![c], &head.log_sigma);
                    }
                    push("kernel.log_parameters".into(), vec![2], &head.log_kernel);
                }
                FittedHead::Softmax { w, b } => {
                    push("softmax.w".into(), vec![w.len() / c, c], w);
                    push("softmax.b".into(), vec![c], b);
                }
            }
        }
        if let Some(KeptRows { x, y, errors, folds, width }) = self.kept_rows() {
            let n = x.len() / width;
            let mut push = |name: &str, width, values| {
                tensors.push(NamedTensor {
                    name: format!("neighbours.{name}"),
                    shape: vec![n, width],
                    values,
                });
            };
            push("x", *width, x);
            push("y", y.len() / n, y);
            for (name, values) in [("errors", errors), ("folds", folds)] {
                if !values.is_empty() {
                    push(name, values.len() / n, values);
                }
            }
        }
        if let Some(Reconstruction { mean, components }) = self.reconstruction() {
            let d = mean.len();
            let name = |name: &str| format!("reconstruction.{name}");
            tensors.push(NamedTensor { name: name("mean"), shape: vec![d], values: mean });
            let shape = vec![components.len() / d, d];
            tensors.push(NamedTensor { name: name("components"), shape, values: components });
        }
        tensors
    }

    /// Reads and verifies a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_with(path.as_ref(), None)
    }

    /// Reads and verifies what [`to_bytes`](Self::to_bytes) made, or a model file that was read.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(IN_MEMORY.into(), bytes, None)
    }

    /// Reads and verifies a model file of a custom encoder.
    pub fn load_custom<E: CustomEncoder>(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_with(path.as_ref(), Some(&EncoderFactory::new::<E>()))
    }

    fn load_with(path: &Path, factory: Option<&EncoderFactory>) -> Result<Self, Error> {
        let bytes = read_bytes(path, "name a model file that `ign train` has written")?;
        Self::read(path.display().to_string(), &bytes, factory)
    }

    fn read(name: String, bytes: &[u8], factory: Option<&EncoderFactory>) -> Result<Self, Error> {
        let file = Reader::<ModelHeader>::new(name.clone(), "model", bytes)?;
        let header = &file.header;
        let damaged =
            |reason: &str| Error::from(FileError::Damaged { file: name.clone(), reason: reason.into() });
        if !is_consistent(header) {
            return Err(damaged("sizes or values in its header cannot be right"));
        }
        let count = 1 + header.others.len();
        let encoder = header.encoder.build(factory).map_err(|reason| match &header.encoder {
            EncoderShape::Custom(_) => FileError::Outside { file: name.clone(), reason }.into(),
            _ => damaged(&reason),
        })?;
        let layout = encoder.layout();
        let (c, d) = (latent_functions(header), header.encoder.features());
        let mut networks = Vec::new();
        let mut known = 0;
        for k in 0..count {
            let prefix = prefix(k);
            let mut tensor = |name: &str, shape: Option<&[usize]>| {
                known += 1;
                file.tensor(&format!("{prefix}{name}"), shape)
            };
            let mut theta = Vec::new();
            for slot in layout.slots() {
                theta.extend(tensor(&format!("encoder.{}", slot.name), Some(&slot.shape))?);
            }
            let head = if header.config.head == HeadKind::Softmax {
                FittedHead::Softmax {
                    w: tensor("softmax.w", Some(&[d, c]))?,
                    b: tensor("softmax.b", Some(&[c]))?,
                }
            } else {
                let z = tensor("inducing.z", None)?;
                if z.is_empty() || !z.len().is_multiple_of(d) {
                    return Err(damaged("`inducing.z` is not [M, D]"));
                }
                let log_kernel = tensor("kernel.log_parameters", Some(&[2]))?;
                let log_sigma = match header.schema.classes() {
                    Some(_) => Vec::new(),
                    None => tensor("noise.log_sigma", Some(&[c]))?,
                };
                FittedHead::Process(HeadParameters {
                    z,
                    w: tensor("inducing.w", Some(&[d, c]))?,
                    b: tensor("inducing.b", Some(&[c]))?,
                    log_sigma,
                    log_kernel: [log_kernel[0], log_kernel[1]],
                })
            };
            networks.push((theta, head));
        }
        let ensemble = header.ensemble.clone().unwrap_or_default();
        let kept = kept_rows(&file, &ensemble, count)?;
        let feature_stack = header.feature_stack.clone();
        let mut reconstruction = None;
        if let Some(images) = header
            .schema
            .images()
            .filter(|_| feature_stack.as_ref().is_some_and(|stack| stack.reconstruction.is_some()))
        {
            let d = images.height * images.width * images.channels;
            let mean = file.tensor("reconstruction.mean", Some(&[d]))?;
            let components = file.tensor("reconstruction.components", None)?;
            if components.is_empty() || !components.len().is_multiple_of(d) {
                return Err(damaged("`reconstruction.components` is not [p, d]"));
            }
            reconstruction = Some(Reconstruction { mean, components });
            known += 2;
        }
        known += kept
            .as_ref()
            .map_or(0, |kept| 2 + usize::from(!kept.errors.is_empty()) + usize::from(!kept.folds.is_empty()));
        if file.tensors.len() != known {
            return Err(damaged("it holds tensors that do not belong to the model"));
        }
        let mut model = Self::new(file.header, networks, factory, rayon::current_num_threads())?;
        match (kept, ensemble.class_stack, feature_stack) {
            (Some(kept), _, Some(stack)) => model.set_feature_neighbours(stack, kept, reconstruction),
            (Some(kept), Some(stack), None) => model.set_class_neighbours(stack, kept),
            (Some(kept), None, None) => model.set_neighbours(ensemble.stacks, kept)?,
            (None, ..) => {}
        }
        Ok(model)
    }
}

/// The rows that a model keeps, if its header has what joins them with `members`.
fn kept_rows(
    file: &Reader<ModelHeader>,
    ensemble: &Ensemble,
    members: usize,
) -> Result<Option<KeptRows>, Error> {
    let damaged =
        |reason: &str| Error::from(FileError::Damaged { file: file.file.clone(), reason: reason.into() });
    let features = file.header.feature_stack.as_ref();
    let of_classes = ensemble.class_stack.as_ref().or(features);
    let process = ensemble.stacks.first().map(|stack| &stack.process);
    let Some(process) = process.or(of_classes.map(|stack| &stack.process)) else { return Ok(None) };
    let classes = of_classes.filter(|_| file.header.schema.classes().is_some());
    let width = process.groups.len();
    let c = if classes.is_some() { 1 } else { file.header.schema.outputs() };
    let x = file.tensor("neighbours.x", None)?;
    let n = x.len() / width;
    if n == 0 || n * width != x.len() {
        return Err(damaged("`neighbours.x` is not [N, d]"));
    }
    let y = file.tensor("neighbours.y", Some(&[n, c]))?;
    if let Some(stack) = classes {
        let class = |&y: &f32| y.fract() == 0.0 && (0.0..stack.frequencies.len() as f32).contains(&y);
        if !y.iter().all(class) {
            return Err(damaged("`neighbours.y` holds what is no class"));
        }
    }
    let errors = match classes.or(features) {
        Some(_) => Vec::new(),
        None => file.tensor("neighbours.errors", Some(&[n, c]))?,
    };
    if errors.iter().any(|&error| error < 0.0) {
        return Err(damaged("`neighbours.errors` holds what is no square"));
    }
    // Models of classes had no folds before version 5.
    let folds = match file.header.format_version {
        ..=4 if classes.is_some() => Vec::new(),
        _ if features.is_some() => Vec::new(),
        _ => file.tensor("neighbours.folds", None)?,
    };
    let kept = KeptRows { x, y, errors, folds, width };
    if !kept.folds_are_sound(members) {
        return Err(damaged("`neighbours.folds` does not name members"));
    }
    Ok(Some(kept))
}

/// What stands before the names of a network's tensors.
fn prefix(network: usize) -> String {
    if network == 0 { String::new() } else { format!("{network}.") }
}

/// Latent functions of one network: all of them where networks are members, else a share.
fn latent_functions(header: &ModelHeader) -> usize {
    let share = if header.ensemble.is_some() { 1 } else { 1 + header.others.len() };
    header.schema.outputs() / share
}

/// Whether the header's sizes and values fit each other.
fn is_consistent(header: &ModelHeader) -> bool {
    let (schema, c, d) = (&header.schema, header.schema.outputs(), header.encoder.features());
    let scale_is_sound =
        |scale: &FeatureScale| scale.scale > 0.0 && scale.scale.is_finite() && scale.shift.len() == d;
    let calibrated = match schema.classes() {
        Some(classes) => {
            classes.len() >= 2
                && classes.iter().collect::<HashSet<_>>().len() == classes.len()
                && schema.class_counts().len() == classes.len()
                && header.calibration.is_empty()
                && header.class_calibration.is_none_or(|calibration| calibration.is_sound())
        }
        None => {
            header.calibration.len() == c
                && header.calibration.iter().all(Calibration::is_sound)
                && schema
                    .numbers()
                    .iter()
                    .all(|target| target.std > 0.0 && target.std.is_finite() && target.scale.is_sound())
                && header.config.head == HeadKind::Gp
        }
    };
    let images_are_sound = schema.images().is_none_or(|images| {
        let size = [images.height, images.width, images.channels];
        let numbers = size.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        matches!(images.channels, 1 | 3)
            && numbers.is_some_and(|numbers| numbers > 0)
            && images.mean.len() == images.channels
            && images.std.len() == images.channels
            && images.mean.iter().chain(&images.std).all(|x| x.is_finite())
            && images.std.iter().all(|&std| std > 0.0)
    });
    let inputs_are_sound = schema.table().is_none_or(|table| table.fault().is_none())
        && schema.graphs().is_none_or(|graphs| graphs.fault().is_none());
    images_are_sound
        && inputs_are_sound
        && c > 0
        && calibrated
        && (header.others.is_empty() || header.others.len() + 1 == c || header.ensemble.is_some())
        && header.ensemble.as_ref().is_none_or(|ensemble| {
            let width = schema.table().map_or(0, |table| table.numeric_width() + table.indicator_width());
            ensemble.stacks.is_empty()
                || ensemble.stacks.len() == c
                    && schema.classes().is_none()
                    && ensemble.stacks.iter().all(|stack| stack.is_sound(width, d))
        })
        && header.ensemble.as_ref().and_then(|ensemble| ensemble.class_stack.as_ref()).is_none_or(|stack| {
            let width = schema.table().map_or(0, |table| table.numeric_width() + table.indicator_width());
            schema.classes().is_some_and(|classes| stack.is_sound(width, classes.len()))
        })
        && header.ensemble.as_ref().and_then(|ensemble| ensemble.linear_classes.as_ref()).is_none_or(
            |linear| {
                let width = schema.table().map_or(0, |table| table.numeric_width() + table.indicator_width());
                schema.classes().is_some_and(|classes| linear.is_sound(width, classes.len()))
            },
        )
        && header
            .decision
            .as_ref()
            .is_none_or(|decision| schema.classes().is_some_and(|classes| decision.is_sound(classes.len())))
        && header.feature_stack.as_ref().is_none_or(|stack| {
            let classes = schema.classes().map_or(0, <[String]>::len);
            header.ensemble.is_none()
                && header.others.is_empty()
                && stack.is_sound(d + c, classes)
                && (stack.reconstruction.is_none() || schema.images().is_some())
        })
        && scale_is_sound(&header.feature_scale)
        && header.others.iter().all(|other| scale_is_sound(&other.feature_scale))
        && header.encoder.fits(schema)
}

impl Checkpoint {
    /// Writes the checkpoint of a run with this configuration; `data` names what it trains on, as
    /// [`Prepared::fingerprint`](crate::dataset::Prepared::fingerprint) does.
    pub fn save(&self, path: &Path, config: &Config, data: &str) -> Result<(), Error> {
        let bytes = self.to_bytes(config, data);
        data::write_atomically(path, |out| out.write_all(&bytes)).map_err(Error::from)
    }

    /// What [`Checkpoint::save`] writes.
    pub(crate) fn to_bytes(&self, config: &Config, data: &str) -> Vec<u8> {
        let (mut states, mut tensors) = (Vec::new(), Vec::new());
        for (k, state) in self.networks.iter().enumerate() {
            let parts = state.as_ref().map(NetworkState::to_parts);
            let (header, vectors) =
                parts.map_or((None, Vec::new()), |(header, vectors)| (Some(header), vectors));
            states.push(header);
            tensors.extend(vectors.into_iter().map(|(name, values)| NamedTensor {
                name: format!("{}{name}", prefix(k)),
                shape: vec![values.len()],
                values,
            }));
        }
        let header = CheckpointHeader {
            format_version: FORMAT_VERSION,
            ign_version: env!("CARGO_PKG_VERSION").into(),
            config: config.clone(),
            data: data.into(),
            states,
        };
        bytes_of(&header, &tensors)
    }

    /// Reads the checkpoint of a run; `config` and `data` must be those that it was written with.
    pub fn load(path: &Path, config: &Config, data: &str) -> Result<Self, Error> {
        let bytes =
            read_bytes(path, "start anew without `--resume`; only an interrupted run leaves a checkpoint")?;
        Self::from_bytes(&path.display().to_string(), &bytes, config, data)
    }

    /// What [`Checkpoint::load`] reads; `name` is for error messages.
    pub(crate) fn from_bytes(name: &str, bytes: &[u8], config: &Config, data: &str) -> Result<Self, Error> {
        let Reader { header, tensors, file, .. } =
            Reader::<CheckpointHeader>::new(name.into(), "checkpoint", bytes)?;
        let other =
            |reason: &str| Error::from(crate::train::TrainError::Checkpoint { reason: reason.into() });
        if header.config != *config {
            return Err(other("it was made with another configuration"));
        }
        if header.data != data {
            return Err(other("it was made from other data"));
        }
        let mut networks = Vec::new();
        for (k, state) in header.states.into_iter().enumerate() {
            let vector =
                |name: &str| tensors.get(&format!("{}{name}", prefix(k))).map(|(_, values)| values.clone());
            let missing = || FileError::Damaged { file: file.clone(), reason: "a tensor is missing".into() };
            let state = state.map(|state| NetworkState::from_parts(state, vector).ok_or_else(missing));
            networks.push(state.transpose()?);
        }
        Ok(Self { networks })
    }
}

/// The bytes of a file.
fn bytes_of(header: &impl Serialize, tensors: &[NamedTensor<'_>]) -> Vec<u8> {
    let json = serde_json::to_string(header).expect("headers are plain data");
    let views = tensors.iter().map(|t| {
        let bytes: &[u8] = bytemuck::cast_slice(t.values);
        (
            t.name.clone(),
            TensorView::new(Dtype::F32, t.shape.clone(), bytes).expect("the shape is the values'"),
        )
    });
    let mut sorted: Vec<(&str, &[usize], &[u8])> =
        tensors.iter().map(|t| (t.name.as_str(), &t.shape[..], bytemuck::cast_slice(t.values))).collect();
    sorted.sort_by_key(|(name, ..)| *name);
    // One key: the order of several would be random, and the same run must write the same bytes.
    let metadata = HashMap::from([(KEY.to_owned(), format!("{:08x} {json}", checksum(&json, &sorted)))]);
    safetensors::serialize(views, Some(metadata)).expect("names are distinct and shapes are checked")
}

/// CRC-32 over the document and every tensor with its name and shape.
fn checksum(json: &str, tensors: &[(&str, &[usize], &[u8])]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(json.as_bytes());
    for (name, shape, bytes) in tensors {
        hasher.update(format!("{name}{shape:?}").as_bytes());
        hasher.update(bytes);
    }
    hasher.finalize()
}

fn read_bytes(path: &Path, hint: &'static str) -> Result<Vec<u8>, Error> {
    let io = |source| Error::Io { action: "read", path: path.to_owned(), source, hint };
    let foreign = |reason: String| {
        Error::from(FileError::Foreign { file: path.display().to_string(), kind: "model", reason })
    };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        return Err(foreign("it is not a regular file".into()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(foreign(format!("{} bytes are more than any model has", metadata.len())));
    }
    std::fs::read(path).map_err(io)
}

/// A verified file.
struct Reader<H> {
    file: String,
    header: H,
    tensors: HashMap<String, (Vec<usize>, Vec<f32>)>,
}

impl<H: DeserializeOwned> Reader<H> {
    fn new(file: String, kind: &'static str, bytes: &[u8]) -> Result<Self, Error> {
        let foreign = |reason: String| FileError::Foreign { file: file.clone(), kind, reason };
        let damaged = |reason: String| FileError::Damaged { file: file.clone(), reason };
        let starts_like_one = bytes.len() > 16
            && bytes[8] == b'{'
            && bytes[..400.min(bytes.len())].windows(5).any(|w| w == b"\"ign\"");
        let container = SafeTensors::deserialize(bytes).map_err(|e| {
            if starts_like_one {
                damaged(format!("{e:?}"))
            } else {
                foreign("it is not in the safetensors format".into())
            }
        })?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| damaged(format!("{e:?}")))?;
        let document = metadata
            .metadata()
            .as_ref()
            .and_then(|m| m.get(KEY))
            .ok_or_else(|| foreign(format!("its header has no `{KEY}` document")))?;
        let (sum, json) =
            document.split_once(' ').ok_or_else(|| damaged("its document has no checksum".into()))?;
        let mut views: Vec<(String, TensorView<'_>)> = container.tensors();
        views.sort_by(|a, b| a.0.cmp(&b.0));
        let parts: Vec<(&str, &[usize], &[u8])> =
            views.iter().map(|(n, v)| (n.as_str(), v.shape(), v.data())).collect();
        // The version first: a later layout may have another checksum.
        let peek: serde_json::Value =
            serde_json::from_str(json).map_err(|e| damaged(format!("its header is not JSON: {e}")))?;
        let found = peek["format_version"].as_u64().unwrap_or(0);
        if sum != format!("{:08x}", checksum(json, &parts)) && found <= u64::from(FORMAT_VERSION) {
            return Err(damaged("its checksum does not fit its contents".into()).into());
        }
        if found > u64::from(FORMAT_VERSION) {
            let written_by = peek["ign_version"].as_str().unwrap_or("of that time").to_owned();
            return Err(FileError::Newer { file, found, written_by }.into());
        }
        let header = serde_json::from_str(json)
            .map_err(|e| foreign(format!("its header does not describe one: {e}")))?;
        let mut tensors = HashMap::new();
        for (name, view) in views {
            if view.dtype() != Dtype::F32 {
                return Err(damaged(format!("tensor `{name}` is not f32")).into());
            }
            // Copied: the file's bytes need not be aligned.
            let values: Vec<f32> =
                view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            if let Some(value) = values.iter().find(|x| !x.is_finite()) {
                return Err(damaged(format!("tensor `{name}` holds {value}")).into());
            }
            tensors.insert(name, (view.shape().to_vec(), values));
        }
        Ok(Self { file, header, tensors })
    }
}

impl<H> Reader<H> {
    /// A tensor, of the given shape where one is known.
    fn tensor(&self, name: &str, shape: Option<&[usize]>) -> Result<Vec<f32>, Error> {
        let damaged = |reason: String| Error::from(FileError::Damaged { file: self.file.clone(), reason });
        let (found, values) =
            self.tensors.get(name).ok_or_else(|| damaged(format!("tensor `{name}` is missing")))?;
        match shape {
            Some(shape) if shape != &found[..] => {
                Err(damaged(format!("tensor `{name}` has shape {found:?} instead of {shape:?}")))
            }
            _ => Ok(values.clone()),
        }
    }
}
