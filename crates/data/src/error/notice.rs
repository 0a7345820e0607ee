//! What the user should know about the data, though it is no error.

use std::fmt;

use crate::error::counted::{counted, counted_rows};
use crate::error::hint::{listed, toml_key};
use crate::images::ImageSize;
use crate::table::number_format::Notation;

/// One line for the user each.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// An input that never changes.
    ConstantColumnDropped {
        /// Its name.
        column: String,
    },
    /// An input without any value in the training rows.
    AllMissingColumnDropped {
        /// Its name.
        column: String,
    },
    /// A text input where nearly every value is distinct.
    IdentifierLikeColumnDropped {
        /// Its name.
        column: String,
        /// Distinct values.
        distinct: usize,
        /// Rows with a value.
        rows: usize,
    },
    /// A column of integers that only counts the rows.
    RowNumberDropped {
        /// Its name.
        column: String,
        /// Whether the file is sorted by its target, so that the number says it.
        sorted: bool,
    },
    /// A column of integers that counts the rows, whose order says something of the target.
    SerialColumnKept {
        /// Its name.
        column: String,
    },
    /// An input that nearly determines the target alone.
    Leak {
        /// Its name.
        column: String,
        /// The target.
        target: String,
        /// The share of the target's variance that it explains.
        share: f64,
    },
    /// Inputs that each explain most of the target alone.
    DominantColumns {
        /// Each with the share of the target's variance that it explains, the largest first.
        columns: Vec<(String, f64)>,
        /// The target.
        target: String,
    },
    /// A target's range, which nobody declared.
    BoundsRecognised {
        /// Its name.
        column: String,
        /// No value is smaller.
        lower: Option<f64>,
        /// No value is larger.
        upper: Option<f64>,
    },
    /// A target is modelled on another scale, which nobody asked for.
    TransformChosen {
        /// Its name.
        column: String,
        /// The scale's name in the configuration.
        scale: String,
    },
    /// Two inputs with the same values.
    CopiedColumn {
        /// Its name.
        column: String,
        /// The other one.
        of: String,
    },
    /// A target that nearly always has the same value.
    TargetAlmostConstant {
        /// Its name.
        column: String,
        /// The share of rows with that value.
        share: f64,
    },
    /// Classes of few training rows.
    RareClasses {
        /// Each with its number of rows.
        classes: Vec<(String, usize)>,
    },
    /// Test rows that are trained on.
    TestRowsInTraining {
        /// How many.
        count: usize,
        /// Of how many.
        rows: usize,
    },
    /// Rows of groups of the test part, no later than what is trained on.
    EarlierRowsLeftOut {
        /// How many.
        count: usize,
        /// The column of groups.
        group: String,
        /// The column of times.
        time: String,
    },
    /// A table does not fit into the memory that it may take.
    SampleInMemory {
        /// Its rows.
        rows: usize,
        /// Rows in memory.
        sample: usize,
    },
    /// Rows have dates, and parts are made at random.
    RowsHaveDates {
        /// The column.
        column: String,
    },
    /// A text input is read word by word, which nobody asked for.
    TextRecognised {
        /// Its name.
        column: String,
        /// Words of a text on average.
        words: f64,
    },
    /// A text input in which no word is frequent enough to be known.
    NoKnownWords {
        /// Its name.
        column: String,
        /// How often a word has to stand in the training rows.
        min_count: usize,
    },
    /// One number so far away that all others look the same beside it.
    Outlier {
        /// Name of the column.
        column: String,
        /// The file, if it is one of several.
        file: Option<String>,
        /// Line of the file, if it has lines.
        line: Option<u64>,
        /// Row of the table, or of a file without lines, from 1.
        row: u64,
        /// The number.
        value: f64,
    },
    /// A text input of numbers in a notation that is not read.
    ForeignNotation {
        /// Name of the column.
        column: String,
        /// The notation.
        notation: Notation,
        /// One of the texts.
        example: String,
    },
    /// Rows that cannot be learned from; made by the caller of
    /// [`rows_with_targets`](crate::rows_with_targets).
    RowsWithoutTargetDropped {
        /// How many.
        count: usize,
    },
    /// Missing inputs that were filled in.
    MissingImputed {
        /// Name of the column.
        column: String,
        /// Training rows without a value.
        count: usize,
    },
    /// Rare levels of a category that share one indicator.
    RareLevelsMerged {
        /// Name of the column.
        column: String,
        /// Distinct levels.
        levels: usize,
        /// Levels with their own indicator.
        kept: usize,
    },
    /// A target of few whole numbers is learned as classes, which nobody asked for.
    NumbersAreClasses {
        /// Its name.
        column: String,
        /// Distinct values.
        classes: usize,
    },
    /// Classes that are trained on and never checked.
    SingleExamples {
        /// Name of the column, if it is a table.
        column: Option<String>,
        /// The classes.
        classes: Vec<String>,
    },
    /// Edges from a node to itself, which are left out.
    LoopsDropped {
        /// How many.
        count: usize,
    },
    /// Labels of nodes that are too rare for an indicator of their own.
    RareNodeLabels {
        /// Distinct labels.
        levels: usize,
        /// Labels with their own indicator.
        kept: usize,
    },
    /// Images of several sizes, or larger than is sensible, are resized.
    ImagesResized {
        /// Distinct sizes.
        sizes: usize,
        /// The most common one.
        common: ImageSize,
        /// The size of all images now.
        size: ImageSize,
    },
    /// Some images are in colour and some are grey; all are taken in colour.
    MixedColours {
        /// Images in colour.
        colour: usize,
        /// Grey images.
        grey: usize,
    },
    /// Animations, of which only the first frame is used.
    FirstFrames {
        /// How many.
        count: usize,
        /// The first file.
        first: String,
    },
    /// Images left out because they cannot be read.
    UnreadableSkipped {
        /// How many.
        count: usize,
        /// The first file.
        first: String,
        /// What is wrong with it.
        message: String,
    },
    /// Files among the images that are none, by their endings.
    OtherFilesIgnored {
        /// How many.
        count: usize,
        /// The first file.
        first: String,
    },
    /// A class's folder without images.
    EmptyClassFolder {
        /// The folder.
        folder: String,
    },
    /// A third part beside training and test.
    FolderNotUsed {
        /// The folder.
        folder: String,
    },
}

impl Notice {
    /// Whether something may be wrong with the data, in place of mere information on how they are read.
    #[must_use]
    pub fn is_caution(&self) -> bool {
        match self {
            Notice::IdentifierLikeColumnDropped { .. }
            | Notice::RowNumberDropped { .. }
            | Notice::Leak { .. }
            | Notice::DominantColumns { .. }
            | Notice::CopiedColumn { .. }
            | Notice::TargetAlmostConstant { .. }
            | Notice::RareClasses { .. }
            | Notice::TestRowsInTraining { .. }
            | Notice::NoKnownWords { .. }
            | Notice::Outlier { .. }
            | Notice::ForeignNotation { .. }
            | Notice::SingleExamples { .. }
            | Notice::UnreadableSkipped { .. } => true,
            Notice::ConstantColumnDropped { .. }
            | Notice::AllMissingColumnDropped { .. }
            | Notice::SerialColumnKept { .. }
            | Notice::BoundsRecognised { .. }
            | Notice::TransformChosen { .. }
            | Notice::EarlierRowsLeftOut { .. }
            | Notice::RowsHaveDates { .. }
            | Notice::SampleInMemory { .. }
            | Notice::TextRecognised { .. }
            | Notice::RowsWithoutTargetDropped { .. }
            | Notice::MissingImputed { .. }
            | Notice::RareLevelsMerged { .. }
            | Notice::NumbersAreClasses { .. }
            | Notice::LoopsDropped { .. }
            | Notice::RareNodeLabels { .. }
            | Notice::ImagesResized { .. }
            | Notice::MixedColours { .. }
            | Notice::FirstFrames { .. }
            | Notice::OtherFilesIgnored { .. }
            | Notice::EmptyClassFolder { .. }
            | Notice::FolderNotUsed { .. } => false,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::SampleInMemory { rows, sample } => write!(
                f,
                "{rows} rows do not fit into memory: networks read them from the files, and scores, calibration and neighbours \
                 are of a sample of {sample}"
            ),
            Notice::ConstantColumnDropped { column } => {
                write!(f, "column `{column}` is constant in the training rows and is not used")
            }
            Notice::AllMissingColumnDropped { column } => {
                write!(f, "column `{column}` has no value in the training rows and is not used")
            }
            Notice::IdentifierLikeColumnDropped { column, distinct, rows } => write!(
                f,
                "column `{column}` looks like an identifier ({distinct} distinct texts in {}) and is not used; `--set data.columns.{key}=category` uses it, `=text` reads its words",
                counted_rows(*rows),
                key = toml_key(column)
            ),
            Notice::TextRecognised { column, words } => write!(
                f,
                "column `{column}` is text ({words:.0} words on average) and is read word by word; `data.columns.{} = \"category\"` or \"ignore\" overrules it",
                toml_key(column)
            ),
            Notice::NoKnownWords { column, min_count } => write!(
                f,
                "column `{column}` has no word that stands {min_count} times in the training rows and is not used; a smaller `data.text.min_count` uses it"
            ),
            Notice::Outlier { column, file, line, row, value } => {
                let (kind, at) = line.map_or(("row", *row), |line| ("line", line));
                let of = file.as_ref().map_or(String::new(), |file| format!(" of {file}"));
                write!(
                    f,
                    "column `{column}`: {value:?} in {kind} {at}{of} is so far away that all other values look the same; correct it, list it under `data.missing_values`, or use `data.scaling = \"quantile\"`"
                )
            }
            Notice::ForeignNotation { column, notation, example } => write!(
                f,
                "column `{column}` holds {notation}, such as {example:?}, and is taken as text; {}",
                notation.remedy()
            ),
            Notice::EarlierRowsLeftOut { count, group, time } => write!(
                f,
                "{} not used: of a `{group}` of the test part, but no later in `{time}` than what is trained on",
                if *count == 1 { "1 row is".into() } else { format!("{count} rows are") }
            ),
            Notice::RowsWithoutTargetDropped { count: 1 } => f.write_str("1 row without target is not used"),
            Notice::RowsWithoutTargetDropped { count } => {
                write!(f, "{count} rows without target are not used")
            }
            Notice::MissingImputed { column, count: 1 } => {
                write!(f, "column `{column}`: 1 missing value is filled in")
            }
            Notice::MissingImputed { column, count } => {
                write!(f, "column `{column}`: {count} missing values are filled in")
            }
            Notice::RareLevelsMerged { column, levels, kept } => {
                write!(
                    f,
                    "column `{column}`: of {levels} levels {kept} have an indicator of their own, the rare ones share one (`data.max_categories`)"
                )
            }
            Notice::NumbersAreClasses { column, classes } => write!(
                f,
                "column `{column}` has {classes} distinct whole numbers and is learned as classes; `--task regression` learns it as a number"
            ),
            Notice::SingleExamples { column, classes } => {
                if let Some(column) = column {
                    write!(f, "column `{column}`: ")?;
                }
                let (subject, verb) = if classes.len() == 1 { ("class", "has") } else { ("classes", "have") };
                let names = listed(classes);
                write!(f, "{subject} {names} {verb} a single example, which is trained on and never checked")
            }
            Notice::LoopsDropped { count: 1 } => f.write_str("1 edge from a node to itself is left out"),
            Notice::LoopsDropped { count } => {
                write!(f, "{count} edges from a node to itself are left out")
            }
            Notice::RareNodeLabels { levels, kept } => {
                write!(
                    f,
                    "of {levels} labels of nodes {kept} have an indicator of their own; the rare ones have none"
                )
            }
            Notice::ImagesResized { sizes: 1, common, size } => write!(
                f,
                "the images are {common} pixels (height x width) and are reduced to {size}; `--image-size HxW` chooses another size"
            ),
            Notice::ImagesResized { sizes, common, size } => write!(
                f,
                "the images have {sizes} sizes, most often {common} pixels (height x width), and are resized to {size}; `--image-size HxW` chooses another size"
            ),
            Notice::MixedColours { colour, grey } => {
                write!(
                    f,
                    "{} in colour and {grey} in grey: all are taken in colour",
                    counted(*colour, "image", "images")
                )
            }
            Notice::RowNumberDropped { column, sorted } => {
                let why = if *sorted {
                    "the file seems to be sorted by its target, and new rows will not be"
                } else {
                    "it says nothing of new rows"
                };
                write!(
                    f,
                    "column `{column}` is left out: it numbers the rows, and {why} (`--set data.columns.{}=number` keeps it)",
                    toml_key(column)
                )
            }
            Notice::SerialColumnKept { column } => write!(
                f,
                "column `{column}` numbers the rows and is kept: the target changes along it (`--ignore {column}` leaves it out; `--time-column {column}` tests on the latest rows)"
            ),
            Notice::Leak { column, target, share } => write!(
                f,
                "possible leak: column `{column}` alone explains {:.1} % of `{target}`; if it is not known before `{target}` is, leave it out with `--ignore {column}`",
                100.0 * share
            ),
            Notice::DominantColumns { columns, target } => {
                let shown: Vec<String> = columns
                    .iter()
                    .map(|(column, share)| format!("`{column}` {:.0} %", 100.0 * share))
                    .collect();
                write!(
                    f,
                    "alone each of these explains most of `{target}`: {}; are they known when `{target}` is to be predicted? (`--ignore {}` leaves one out)",
                    shown.join(", "),
                    columns[0].0
                )
            }
            Notice::BoundsRecognised { column, lower, upper } => {
                let range = match (lower, upper) {
                    (Some(lower), Some(upper)) => format!("between {lower} and {upper}"),
                    (Some(lower), None) => format!("at {lower} or above"),
                    (None, Some(upper)) => format!("at {upper} or below"),
                    (None, None) => "anywhere".into(),
                };
                write!(
                    f,
                    "target `{column}`: predictions and intervals stay {range}, as its values do (`--bounds ,` lifts this)"
                )
            }
            Notice::TransformChosen { column, scale } => write!(
                f,
                "target `{column}` is modelled on a {scale} scale, which suits it better (`--set data.target_transform=none` does without)"
            ),
            Notice::CopiedColumn { column, of } => {
                write!(
                    f,
                    "columns `{of}` and `{column}` have the same values (`--ignore {column}` leaves one out)"
                )
            }
            Notice::TargetAlmostConstant { column, share } => write!(
                f,
                "target `{column}` has the same value in {:.1} % of the rows: compare the scores with the constant baseline",
                100.0 * share
            ),
            Notice::RareClasses { classes } => {
                let shown = classes.iter().take(5).map(|(class, count)| format!("{class} ({count})"));
                let more = if classes.len() > 5 { ", …" } else { "" };
                write!(
                    f,
                    "classes with few training rows: {}{more}; their probabilities are rough",
                    shown.collect::<Vec<_>>().join(", ")
                )
            }
            Notice::TestRowsInTraining { count, rows } => write!(
                f,
                "{count} of {} {} also in the training part, inputs and target alike: scores look better than they are",
                counted(*rows, "test row", "test rows"),
                if *count == 1 { "is" } else { "are" }
            ),
            Notice::RowsHaveDates { column } => write!(
                f,
                "rows have dates: if new rows will be later than these, `--time-column {column}` tests on the latest"
            ),
            Notice::FirstFrames { count, first } => {
                write!(f, "animations are used by their first frame: {}, first {first}", files(*count))
            }
            Notice::UnreadableSkipped { count, first, message } => {
                write!(f, "unreadable images are left out: {}, first {first}: {message}", files(*count))
            }
            Notice::OtherFilesIgnored { count, first } => {
                write!(f, "files that are no images are passed over: {}, first {first}", files(*count))
            }
            Notice::EmptyClassFolder { folder } => {
                write!(f, "folder {folder} has no images and is no class")
            }
            Notice::FolderNotUsed { folder } => {
                write!(f, "folder {folder} is not used: there are a training and a test part beside it")
            }
        }
    }
}

fn files(count: usize) -> String {
    counted(count, "file", "files")
}
