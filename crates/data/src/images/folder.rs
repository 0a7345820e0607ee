//! Images in folders: one sub-folder for each class, perhaps below `train/` and `test/`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::options::{DatasetPart, ImageOptions};
use super::parts::Parts;
use super::problem::ImageProblem;
use crate::error::{DataError, Notice, Problem};
use crate::io::compression::Codec;
use crate::io::input::read_problem;
use crate::schema::natural_order::natural_order;

const EXTENSIONS: [&str; 8] = ["png", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff"];
const TRAIN: [&str; 2] = ["train", "training"];
const TEST: [&str; 2] = ["test", "testing"];
const VALIDATION: [&str; 3] = ["val", "valid", "validation"];

/// Images and their classes.
#[derive(Debug, Default)]
pub(crate) struct ImageFiles {
    pub(crate) files: Vec<PathBuf>,
    /// For each file a position in `classes`, if there are classes.
    pub(crate) labels: Option<Vec<u32>>,
    pub(crate) classes: Vec<String>,
}

/// What stands directly in a folder, sorted by name; hidden entries are passed over.
struct Entries {
    folders: Vec<PathBuf>,
    images: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

/// Whether the name ends like that of an image.
pub(crate) fn is_image(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// All images of a folder, of the part that is asked for if it has parts.
pub(crate) fn find(
    root: &Path,
    options: &ImageOptions,
    notices: &mut Vec<Notice>,
) -> Result<ImageFiles, DataError> {
    let name = root.display().to_string();
    let entries = Entries::read(root)?;
    let named =
        |folder: &Path, names: &[&str]| names.iter().any(|name| base_name(folder).eq_ignore_ascii_case(name));
    let parts_alone =
        entries.folders.iter().all(|f| [&TRAIN[..], &TEST, &VALIDATION].iter().any(|n| named(f, n)));
    let part = |names: &[&str]| {
        // Among other folders, one of images of trains is a class; one with sub-folders is a part.
        let divided = |folder: &Path| Entries::read(folder).is_ok_and(|inside| !inside.folders.is_empty());
        entries.folders.iter().find(|f| named(f, names) && (parts_alone || divided(f))).cloned()
    };
    let (train, test, validation) = (part(&TRAIN), part(&TEST), part(&VALIDATION));
    let mut parts = Parts { train, test, called: ["a folder `train`", "a folder `test`"] };
    if parts.train.is_some() {
        match validation {
            Some(folder) if parts.test.is_none() => parts.test = Some(folder),
            Some(folder) if options.part != DatasetPart::Test => {
                notices.push(Notice::FolderNotUsed { folder: folder.display().to_string() });
            }
            _ => {}
        }
    }
    let roots = if parts.is_empty() { vec![root.to_owned()] } else { parts.choose(options.part, &name)? };
    let mut others = Vec::new();
    let mut flat = Vec::new();
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for root in &roots {
        let entries = Entries::read(root)?;
        if entries.folders.is_empty() {
            flat.extend(undivided(root, entries, options.need_labels)?);
            continue;
        }
        others.extend(entries.images.into_iter().chain(entries.others));
        for folder in &entries.folders {
            let before = found.len();
            walk(folder, &mut |path| found.push((base_name(folder), path)), &mut others)?;
            if found.len() == before {
                notices.push(Notice::EmptyClassFolder { folder: folder.display().to_string() });
            }
        }
    }
    if found.is_empty() && flat.is_empty() {
        return Err(DataError::new(name, Problem::Image(ImageProblem::NoImages)));
    }
    if let Some(first) = others.first() {
        let first = first.display().to_string();
        notices.push(Notice::OtherFilesIgnored { count: others.len(), first });
    }
    if flat.is_empty() {
        return Ok(labelled(found));
    }
    let files = found.into_iter().map(|(_, path)| path).chain(flat).collect();
    Ok(ImageFiles { files, ..ImageFiles::default() })
}

/// The images of a folder without sub-folders.
fn undivided(root: &Path, entries: Entries, need_labels: bool) -> Result<Vec<PathBuf>, DataError> {
    let problem = match entries {
        Entries { images, others, .. } if images.is_empty() && others.is_empty() => ImageProblem::EmptyFolder,
        Entries { images, .. } if images.is_empty() => ImageProblem::NoImages,
        Entries { images, .. } if need_labels => ImageProblem::NoClassFolders { images: images.len() },
        Entries { images, .. } => return Ok(images),
    };
    Err(DataError::new(root.display().to_string(), Problem::Image(problem)))
}

fn labelled(found: Vec<(String, PathBuf)>) -> ImageFiles {
    let mut names: Vec<&str> = found.iter().map(|(class, _)| class.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let classes: Vec<String> = natural_order(&names).into_iter().map(|at| names[at].to_owned()).collect();
    let label: HashMap<&String, u32> = classes.iter().zip(0..).collect();
    let labels = Some(found.iter().map(|(class, _)| label[class]).collect());
    ImageFiles { files: found.into_iter().map(|(_, path)| path).collect(), labels, classes }
}

/// Visits the images of a folder and of all folders below it.
fn walk(folder: &Path, visit: &mut dyn FnMut(PathBuf), others: &mut Vec<PathBuf>) -> Result<(), DataError> {
    let entries = Entries::read(folder)?;
    entries.images.into_iter().for_each(&mut *visit);
    others.extend(entries.others);
    // A link to a folder could lead back here.
    entries
        .folders
        .iter()
        .filter(|below| !below.is_symlink())
        .try_for_each(|below| walk(below, visit, others))
}

impl Entries {
    fn read(folder: &Path) -> Result<Self, DataError> {
        let failed = |error| DataError::new(folder.display().to_string(), read_problem(&error, Codec::Plain));
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                paths.push(entry.path());
            }
        }
        paths.sort_unstable();
        let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
        let (images, others) = files.into_iter().partition(|path| is_image(path));
        Ok(Entries { folders, images, others })
    }
}

fn base_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
