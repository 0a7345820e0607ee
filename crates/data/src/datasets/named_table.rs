//! [`NamedTable`]: public tables by name, with the columns that the paper's sizes stand for, and eight small ones.
//!
//! ```text
//! protein          45,730 × 9     F1 … F9 → RMSD
//! pm25             41,757 × 15    11 numbers, the row number among them, and the wind as 4 → pm2.5
//! energy           19,735 × 27    all but the date → Appliances
//! bike-hour        17,379 × 15    all but the date → cnt, which is casual + registered
//! bike-hour-clean  17,379 × 13    the same without casual and registered
//! query           200,000 × 4     x, y, x_range, y_range → count
//!
//! airfoil 1,503 × 5   concrete 1,030 × 8       energy-efficiency 768 × 8   housing 506 × 13
//! wine 1,599 × 11     parkinsons 5,875 × 20    solar 1,066 × 10            yacht 308 × 6       x0 x1 … → y
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::datasets::named::{NamedSet, SetKind};
use crate::error::{DataError, Problem};
use crate::images::{DatasetPart, ImageProblem};
use crate::io::source::Source;
use crate::table::options::ColumnType;

/// A public table: where its parts lie, what is predicted, and what its columns mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTable {
    /// Which.
    pub set: NamedSet,
    /// The directory that holds it.
    pub data_dir: PathBuf,
}

/// Names of the numbers that are learned from.
const PROTEIN: &str = "F1 F2 F3 F4 F5 F6 F7 F8 F9";
const PM25: &str = "No year month day hour DEWP TEMP PRES Iws Is Ir";
const ENERGY: &str = "lights T1 RH_1 T2 RH_2 T3 RH_3 T4 RH_4 T5 RH_5 T6 RH_6 T7 RH_7 T8 RH_8 T9 RH_9 T_out \
                      Press_mm_hg RH_out Windspeed Visibility Tdewpoint rv1 rv2";
const BIKE: &str = "instant season yr mnth hr holiday weekday workingday weathersit temp atemp hum windspeed";
const QUERY: &str = "x y x_range y_range";

/// The folder of the small tables.
const SMALL: &str = "uci-small";

impl NamedTable {
    /// The public table that `names` stand for, or `None` if they are something else.
    ///
    /// # Errors
    /// If one is named without a data directory.
    pub fn recognise(names: &[String], data_dir: Option<&Path>) -> Result<Option<Self>, DataError> {
        let [name] = names else { return Ok(None) };
        let set = NamedSet::from_name(name).filter(|set| set.kind() == SetKind::Table);
        match (set, data_dir) {
            (None, _) => Ok(None),
            (Some(_), _) if Path::new(name).is_file() => Ok(None),
            (Some(set), Some(data_dir)) => Ok(Some(NamedTable { set, data_dir: data_dir.to_owned() })),
            (Some(_), None) => Err(DataError::new(name, Problem::Image(ImageProblem::NoDataDir))),
        }
    }

    /// The column that is predicted.
    #[must_use]
    pub fn target(&self) -> &'static str {
        match self.set {
            NamedSet::Protein => "RMSD",
            NamedSet::Pm25 => "pm2.5",
            NamedSet::Energy => "Appliances",
            NamedSet::BikeHour | NamedSet::BikeHourClean => "cnt",
            NamedSet::Query => "count",
            _ if self.small_inputs().is_some() => "y",
            _ => "label",
        }
    }

    /// The meaning of all its columns, for [`ReadOptions::column_types`](crate::ReadOptions::column_types). What
    /// gives the target away is not read, but for Bike-hour, where the paper's fifteen columns have it.
    #[must_use]
    pub fn column_types(&self) -> BTreeMap<String, ColumnType> {
        use ColumnType::{Category, Ignore, Number, Text};
        if let Some(inputs) = self.small_inputs() {
            let names = (0..inputs).map(|k| format!("x{k}")).chain(["y".to_owned()]);
            return names.map(|name| (name, Number)).collect();
        }
        let (numbers, others): (&str, &[(&str, ColumnType)]) = match self.set {
            NamedSet::Protein => (PROTEIN, &[("RMSD", Number)]),
            NamedSet::Pm25 => (PM25, &[("cbwd", Category), ("pm2.5", Number)]),
            NamedSet::Energy => (ENERGY, &[("date", Ignore), ("Appliances", Number)]),
            NamedSet::BikeHour => {
                (BIKE, &[("casual", Number), ("registered", Number), ("dteday", Ignore), ("cnt", Number)])
            }
            NamedSet::BikeHourClean => {
                (BIKE, &[("casual", Ignore), ("registered", Ignore), ("dteday", Ignore), ("cnt", Number)])
            }
            // The first column has no name: it counts the rows.
            NamedSet::Query => {
                (QUERY, &[("column_1", Ignore), ("count", Number), ("sum_", Ignore), ("avg", Ignore)])
            }
            _ => ("", &[("id", Ignore), ("rating", Ignore), ("label", Category), ("text", Text)]),
        };
        let numbers = numbers.split_whitespace().map(|name| (name, Number));
        numbers.chain(others.iter().copied()).map(|(name, kind)| (name.to_owned(), kind)).collect()
    }

    /// The files of a part, the training part first.
    ///
    /// # Errors
    /// If one is not there; a table in one file has no test part.
    pub fn sources(&self, part: DatasetPart) -> Result<Vec<Source>, DataError> {
        let stems: &[&str] = match (self.whole(), part) {
            (Some(_), DatasetPart::Test) => {
                let looked = "a second file; parts of one are made with `--test-share`".to_owned();
                let problem = ImageProblem::NoSuchPart { part, looked };
                return Err(DataError::new(self.set.name(), Problem::Image(problem)));
            }
            (Some((_, stem)), _) => &[stem],
            (None, DatasetPart::Train) => &["train.jsonl"],
            (None, DatasetPart::Test) => &["test.jsonl"],
            (None, DatasetPart::All) => &["train.jsonl", "test.jsonl"],
        };
        stems.iter().map(|stem| self.find(stem).map(Source::Path)).collect()
    }

    /// Folder and file, below the data directory, of a set that is one file; the file may be packed by gzip or xz.
    #[must_use]
    pub fn whole(&self) -> Option<(&'static str, &'static str)> {
        match self.set {
            NamedSet::Protein => Some(("protein", "CASP.csv")),
            NamedSet::Pm25 => Some(("pm25", "PRSA_data_2010.1.1-2014.12.31.csv")),
            NamedSet::Energy => Some(("energy", "energydata_complete.csv")),
            NamedSet::BikeHour | NamedSet::BikeHourClean => Some(("bike-hour", "hour.csv")),
            NamedSet::Query => Some(("query", "Range-Queries-Aggregates.csv")),
            NamedSet::Airfoil => Some((SMALL, "airfoil.csv")),
            NamedSet::Concrete => Some((SMALL, "concrete.csv")),
            NamedSet::EnergyEfficiency => Some((SMALL, "energy.csv")),
            NamedSet::Housing => Some((SMALL, "housing.csv")),
            NamedSet::Parkinsons => Some((SMALL, "parkinsons.csv")),
            NamedSet::Solar => Some((SMALL, "solar.csv")),
            NamedSet::Wine => Some((SMALL, "wine.csv")),
            NamedSet::Yacht => Some((SMALL, "yacht.csv")),
            _ => None,
        }
    }

    /// How many inputs `x0 x1 …` a small table has; `None` of all others.
    fn small_inputs(&self) -> Option<usize> {
        match self.set {
            NamedSet::Airfoil => Some(5),
            NamedSet::Concrete | NamedSet::EnergyEfficiency => Some(8),
            NamedSet::Housing => Some(13),
            NamedSet::Parkinsons => Some(20),
            NamedSet::Solar => Some(10),
            NamedSet::Wine => Some(11),
            NamedSet::Yacht => Some(6),
            _ => None,
        }
    }

    /// The file of this name, perhaps packed.
    fn find(&self, stem: &str) -> Result<PathBuf, DataError> {
        let folder = self.data_dir.join(self.whole().map_or(self.set.name(), |(folder, _)| folder));
        let places = ["", ".xz", ".gz"].map(|ending| folder.join(format!("{stem}{ending}")));
        places.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
            let looked = places.iter().map(|path| path.display().to_string()).collect();
            DataError::new(self.set.name(), Problem::Image(ImageProblem::SetNotFound { looked }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_table_is_numbers_by_their_places_and_a_target() {
        let small = NamedSet::ALL.map(|set| NamedTable { set, data_dir: PathBuf::new() });
        let small: Vec<&NamedTable> = small.iter().filter(|table| table.small_inputs().is_some()).collect();
        assert_eq!(small.len(), 8);
        for table in small {
            let (types, inputs) = (table.column_types(), table.small_inputs().unwrap_or(0));
            assert_eq!(types.len(), inputs + 1);
            assert!(types.contains_key(&format!("x{}", inputs - 1)) && types.contains_key(table.target()));
            assert!(types.values().all(|kind| *kind == ColumnType::Number));
            assert_eq!(table.whole().map(|(folder, _)| folder), Some(SMALL));
        }
    }
}
