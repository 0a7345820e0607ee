//! The remedy for each [`Problem`], as the second line of an error.

use crate::error::{Problem, nearest};
use crate::table::number_format::foreign_notation;
use crate::table::options::ColumnType;

/// At most this many column names are listed.
const LISTED: usize = 8;

/// `trained`: the table is read as a model asks, and its options are those of the training.
pub(crate) fn hint(problem: &Problem, column: Option<&str>, trained: bool) -> Option<String> {
    let name = column.unwrap_or("NAME");
    let key = toml_key(name);
    Some(match problem {
        _ if trained && let Some(hint) = after_training(problem, &key) => hint,
        Problem::NoSuchFile => "check the path; `-` reads from standard input".into(),
        Problem::NothingMatches => "check the pattern, and put it into quotes so that the shell leaves it alone".into(),
        Problem::BadPattern { .. } => "`*` stands for any letters, `?` for one, `**` for folders".into(),
        Problem::OtherSchema { .. } => {
            "write the same columns into all files of a table, or leave this file out of the pattern".into()
        }
        Problem::IsDirectory => "name one csv, parquet or json-lines file inside it".into(),
        Problem::Empty => "check the command or the export that wrote it".into(),
        Problem::HeaderOnly { .. } => "add rows; the first line is always taken as the header".into(),
        Problem::RaggedRow { .. } => {
            "put fields that contain the delimiter into double quotes, or choose another `--delimiter`".into()
        }
        Problem::WrongDelimiter { found, .. } => {
            format!("pass `--delimiter '{}'`", found.escape_default())
        }
        Problem::BadDelimiter { .. } => "use one ASCII character such as ',', ';', '|' or a tab".into(),
        Problem::NotUtf8 => "save the file as UTF-8, for example with `iconv -f LATIN1 -t UTF-8`".into(),
        Problem::UnclosedQuote => {
            "close the quote, or double it (`\"\"`) where it is part of the text".into()
        }
        Problem::CarriageReturns => "convert it with `tr '\\r' '\\n'`".into(),
        Problem::RecordTooLong { .. } => "check that the file is text with line ends".into(),
        Problem::NotATable { .. } => "unpack it, or export the table as csv or parquet".into(),
        Problem::BrokenGzip { .. } => "copy or download the file again; `gzip -t` checks it".into(),
        Problem::BrokenXz { .. } => "copy or download the file again; `xz -t` checks it".into(),
        Problem::BrokenParquet { .. } => "copy or write the file again; it may be cut off".into(),
        Problem::BrokenArrow { .. } => "look at the program that makes the record batches".into(),
        Problem::FileChanged => "train again, on files that nobody writes to".into(),
        Problem::DifferentFiles { .. } => "put the same files at the same places on all hosts".into(),
        Problem::Elsewhere { hint, .. } => return hint.clone(),
        Problem::StreamIsSpent => "open it again, or give a table that can be read more than once".into(),
        Problem::BrokenNpy { .. } => "write it again with `numpy.save`".into(),
        Problem::NpyType { .. } => {
            "save it as numbers, for example with `numpy.save(name, array.astype('<f8'))`".into()
        }
        Problem::NpyShape { .. } => {
            "give an array of rows and columns; a target has one value for each row".into()
        }
        Problem::BrokenJson { .. } => "write one complete json object a line".into(),
        Problem::NotAJsonObject { .. } => "convert an array with `jq -c '.[]'`".into(),
        Problem::NoSuchColumn { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
        Problem::NoSuchColumn { available, .. } => no_such_column(available),
        Problem::DuplicateColumn { .. } => "rename one of the two in the file".into(),
        Problem::ExpectedNumber { .. } => {
            format!("list it under `data.missing_values`, or set `data.columns.{key} = \"category\"`")
        }
        Problem::ExpectedBoolean { .. } => {
            format!(
                "correct it, list it under `data.missing_values`, or set `data.columns.{key} = \"category\"`"
            )
        }
        Problem::ExpectedDateTime { format, .. } => {
            let change = if format.is_plain() { "" } else { "say how dates are written (`data.date_format`), " };
            format!(
                "correct it, {change}list it under `data.missing_values`, or set `data.columns.{key} = \"category\"`"
            )
        }
        Problem::AmbiguousDate { readings, .. } => {
            let options = readings.iter().map(|(format, _)| format!("`--set data.date_format={format}`"));
            format!(
                "pass {}; `--set data.columns.{key}=category` does without the dates",
                options.collect::<Vec<_>>().join(" or ")
            )
        }
        Problem::ContradictingDates { .. } => {
            format!(
                "write all dates of the column in one order, best as 2020-12-31; `--set data.columns.{key}=category` does without the dates"
            )
        }
        Problem::UnclearEpoch { .. } => {
            format!(
                "pass `--set data.date_format.{key}=epoch-seconds`, `epoch-milliseconds` or a pattern such as `%Y%m%d`"
            )
        }
        Problem::InfiniteNumber { .. } => {
            "correct it, or list it under `data.missing_values` to treat it as missing".into()
        }
        Problem::MixedTypes { .. } => {
            format!(
                "write one type in all rows, and all files of a table in one format, or set `data.columns.{key} = \"category\"` or \"ignore\""
            )
        }
        Problem::UnsupportedType { .. } => format!("set `data.columns.{key} = \"ignore\"`"),
        Problem::TypeChanged { expected, .. } => {
            format!("write values of type {expected}, or train again on rows like these")
        }
        Problem::TargetNotNumeric { kind, examples } => target_not_numeric(*kind, examples),
        Problem::TargetIsDate { .. } => {
            format!("predict a number instead, such as days since a date, or set `data.columns.{key} = \"category\"` for classes")
        }
        Problem::SeveralClassTargets { .. } => {
            "name one target, or pass `--task regression` if all of them are numbers".into()
        }
        Problem::OneClass { .. } => {
            "add examples of another class (for images: a sub-folder for each); one class leaves nothing to learn"
                .into()
        }
        Problem::TooManyClasses { kind: ColumnType::Number, .. } => {
            "pass `--task regression` to predict it as a number".into()
        }
        Problem::TooManyClasses { .. } => {
            "it looks like an identifier; choose another target, merge rare classes, or add rows".into()
        }
        Problem::UnknownLabel { label, known } => unknown_label(label, known),
        Problem::TargetAllMissing { .. } => {
            "check the column's name and `data.missing_values`, which may cover its values".into()
        }
        Problem::ConstantTarget { .. } => {
            "there is nothing to learn; choose another target or more rows".into()
        }
        Problem::TargetTooLarge { .. } => {
            "correct it, list it under `data.missing_values`, or measure the target in a larger unit".into()
        }
        Problem::TargetTooSmall { .. } => "measure the target in a smaller unit".into(),
        Problem::NotARegularFile => {
            "name a regular file; pipes are read as tables and json lines only, best as `-`".into()
        }
        Problem::NoSpace { folder: Some(folder), .. } => {
            format!("free space in {folder}, or set TMPDIR to a folder that has space")
        }
        Problem::NoSpace { .. } => {
            "free space in the folder of this file, write to another one, or raise the limits (`quota`, `ulimit -f`)"
                .into()
        }
        Problem::NoTarget => "name it with `--target` or `data.target`".into(),
        Problem::TooFewRows { .. } => "add rows, or check how many have a target".into(),
        Problem::NoInputs => {
            "all columns are targets, ignored, constant or missing; add an informative one".into()
        }
        Problem::TextOption { option, .. } => format!("leave `data.text.{option}` out for the usual value"),
        Problem::Graph(problem) => problem.hint(),
        Problem::Image(problem) => problem.hint(),
        Problem::PassthroughTypeChanged { .. } => "write csv or jsonl instead, where values may differ".into(),
        Problem::Io { action: "read", .. } => "check the permissions of the file".into(),
        Problem::Io { .. } => "check that the folder exists, is writable and has space".into(),
        Problem::BrokenPipe | Problem::UnequalLengths { .. } | Problem::Unwritable { .. } => return None,
    })
}

/// What can be done where columns are read as a model asks: correct the table, or train again.
fn after_training(problem: &Problem, key: &str) -> Option<String> {
    Some(match problem {
        Problem::ExpectedNumber { .. }
        | Problem::ExpectedBoolean { .. }
        | Problem::ExpectedDateTime { .. } => {
            format!(
                "correct it, or train again with it in `data.missing_values` or with `data.columns.{key} = \"category\"`"
            )
        }
        Problem::InfiniteNumber { .. } => {
            "correct it, or train again with it in `data.missing_values`".into()
        }
        Problem::UnsupportedType { .. } => {
            format!("write numbers, texts or dates, or train again with `data.columns.{key} = \"ignore\"`")
        }
        _ => return None,
    })
}

fn no_such_column(available: &[String]) -> String {
    if !available.is_empty() && available.iter().all(|name| name.parse::<f64>().is_ok()) {
        return "the first line looks like data: put a header line with column names above it".into();
    }
    format!("the file has {}", listed(available))
}

/// The first few names.
pub(crate) fn listed(names: &[String]) -> String {
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", listed.join(", "))
}

fn unknown_label(label: &str, known: &[String]) -> String {
    let meant = match nearest(label, known) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    format!(
        "{meant}it was trained on {}; correct the label, or train again with examples of it",
        listed(known)
    )
}

fn target_not_numeric(kind: ColumnType, examples: &[String]) -> String {
    let unquoted: Vec<String> = examples.iter().map(|text| text.trim_matches('"').to_owned()).collect();
    if let Some((notation, _)) = foreign_notation(&unquoted) {
        format!("{}; `--task classification` takes each text for a class", notation.remedy())
    } else if kind == ColumnType::Boolean {
        "leave `--task regression` out to learn classes, or write 0 and 1 in the file".into()
    } else {
        "leave `--task regression` out to learn classes, or list non-numbers under `data.missing_values`"
            .into()
    }
}

/// A bare TOML key where possible, otherwise a quoted one.
pub(crate) fn toml_key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.into() } else { format!("{name:?}") }
}
