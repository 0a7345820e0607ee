//! [`Evidence`]: which order of day, month and year all dates of a column have.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::format::DateFormat;
use super::iso::format_datetime;
use super::notation::{Order, Written};
use crate::error::{At, Problem};

/// Which orders the dates of a column allow, and the cells that rule the others out.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// The first date whose numbers can stand in several orders.
    example: Option<Dated>,
    /// For each order, the first date that there is not in it.
    against: [Option<Dated>; 3],
    /// For each set of orders that dates of files before may rule out, the first date that no order is left for.
    contradictions: [Option<Contradiction>; 8],
}

/// A date and where it stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Dated {
    at: At,
    text: String,
    written: Written,
}

/// A date that none of the orders of those before allows.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Contradiction {
    date: Dated,
    /// Orders that dates before it rule out, files before aside.
    ruled_out: Orders,
}

/// A bit for each [`Order`].
type Orders = u8;

impl Evidence {
    /// Takes one date into account.
    pub(crate) fn push(&mut self, text: &str, written: Written, at: At) {
        let Written::Numbers(by_order) = written else { return };
        let date = || Dated { at, text: text.to_owned(), written };
        // `01/01/2020` is an example of nothing as long as there is a better one.
        if self.example.as_ref().is_none_or(|before| !before.tells() && tells(&written)) {
            self.example = Some(date());
        }
        let (possible, ruled_out) = (possible(&written), self.ruled_out());
        for (before, contradiction) in (0..).zip(&mut self.contradictions) {
            if contradiction.is_none() && possible & !(before | ruled_out) == 0 {
                *contradiction = Some(Contradiction { date: date(), ruled_out });
            }
        }
        for (against, micros) in self.against.iter_mut().zip(by_order) {
            if micros.is_none() && against.is_none() {
                *against = Some(date());
            }
        }
    }

    /// Takes the dates of the next file into account.
    pub(crate) fn extend(&mut self, next: Self) {
        let ruled_out = self.ruled_out();
        if let Some(example) = next.example
            && self.example.as_ref().is_none_or(|before| !before.tells() && example.tells())
        {
            self.example = Some(example);
        }
        for (before, contradiction) in self.contradictions.iter_mut().enumerate() {
            let found = next.contradictions[before | usize::from(ruled_out)].as_ref();
            if contradiction.is_none()
                && let Some(Contradiction { date, ruled_out: own }) = found
            {
                *contradiction = Some(Contradiction { date: date.clone(), ruled_out: ruled_out | own });
            }
        }
        for (against, found) in self.against.iter_mut().zip(next.against) {
            *against = against.take().or(found);
        }
    }

    fn ruled_out(&self) -> Orders {
        bits(self.against.each_ref().map(Option::is_some))
    }

    /// The one format that reads all dates; `declared` decides where several do.
    pub(crate) fn resolve(
        self,
        declared: Option<&DateFormat>,
        files: &[Arc<str>],
    ) -> Result<DateFormat, (At, Problem)> {
        if let Some(order) = declared.and_then(DateFormat::order) {
            return match &self.against[order as usize] {
                None => Ok(DateFormat::of_order(order)),
                Some(Dated { at, text, .. }) => {
                    let format = DateFormat::of_order(order);
                    Err((*at, Problem::ExpectedDateTime { format, got: text.clone() }))
                }
            };
        }
        if let Some(contradiction) = self.contradiction(files) {
            return Err(contradiction);
        }
        let Some(Dated { at, text: got, written }) = self.example else { return Ok(DateFormat::default()) };
        let left: Vec<Order> =
            Order::ALL.into_iter().filter(|order| self.against[*order as usize].is_none()).collect();
        match left[..] {
            [order] => Ok(DateFormat::of_order(order)),
            _ => {
                let reading = |order: &Order| {
                    let day = format_datetime(written.by(*order)?);
                    Some((DateFormat::of_order(*order), day[..10].to_owned()))
                };
                let readings = left.iter().filter_map(reading).collect();
                Err((at, Problem::AmbiguousDate { got, readings }))
            }
        }
    }

    fn contradiction(&self, files: &[Arc<str>]) -> Option<(At, Problem)> {
        let Contradiction { date, ruled_out } = self.contradictions[0].as_ref()?;
        let both = possible(&date.written) & ruled_out;
        let order = Order::ALL.into_iter().find(|order| both >> *order as usize & 1 == 1)?;
        let other = self.against[order as usize].as_ref()?;
        let problem = Problem::ContradictingDates {
            got: date.text.as_str().into(),
            order: orders(date.written).into(),
            other: other.text.as_str().into(),
            other_place: other.at.seen_from(date.at, files).into(),
            other_order: orders(other.written).into(),
        };
        Some((date.at, problem))
    }
}

impl Dated {
    fn tells(&self) -> bool {
        tells(&self.written)
    }
}

/// Whether day and month can be told from each other once the order is known.
fn tells(written: &Written) -> bool {
    written.by(Order::Day) != written.by(Order::Month)
}

/// The orders in which there is such a day.
fn possible(written: &Written) -> Orders {
    bits(Order::ALL.map(|order| written.by(order).is_some()))
}

fn bits(set: [bool; 3]) -> Orders {
    (0..).zip(set).map(|(order, is_in)| u8::from(is_in) << order).sum()
}

/// `day first`, or several of these.
fn orders(written: Written) -> String {
    let names = ["day first", "month first", "year first"];
    let possible = Order::ALL.into_iter().filter(|order| written.by(*order).is_some());
    possible.map(|order| names[order as usize]).collect::<Vec<_>>().join(" or ")
}
