//! [`Evidence`]: which order of day, month and year all dates of a column have.

use super::format::DateFormat;
use super::iso::format_datetime;
use super::notation::{Order, Written};
use crate::error::{Place, Problem};

/// Which orders the dates of a column allow, and the cells that rule the others out.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The first date whose numbers can stand in several orders.
    example: Option<(Place, String, Written)>,
    /// For each order, the first date that there is not in it.
    against: [Option<(Place, String, Written)>; 3],
    /// The first date that none of the orders of those before allows.
    contradiction: Option<(Place, Problem)>,
}

impl Evidence {
    /// Takes one date into account.
    pub(crate) fn push(&mut self, text: &str, written: Written, place: Place) {
        let Written::Numbers(by_order) = written else { return };
        // `01/01/2020` is an example of nothing as long as there is a better one.
        let tells = |written: &Written| written.by(Order::Day) != written.by(Order::Month);
        if self.example.as_ref().is_none_or(|(_, _, before)| !tells(before) && tells(&written)) {
            self.example = Some((place, text.to_owned(), written));
        }
        let contradicts =
            |order: &Order| by_order[*order as usize].is_some() && self.against[*order as usize].is_some();
        let none_is_left =
            !Order::ALL.iter().any(|order| by_order[*order as usize].is_some() && !contradicts(order));
        if none_is_left
            && self.contradiction.is_none()
            && let Some(order) = Order::ALL.into_iter().find(contradicts)
            && let Some((other_place, other, other_written)) = &self.against[order as usize]
        {
            let problem = Problem::ContradictingDates {
                got: text.into(),
                order: orders(written).into(),
                other: other.as_str().into(),
                other_place: other_place.to_string().into(),
                other_order: orders(*other_written).into(),
            };
            self.contradiction = Some((place, problem));
        }
        for (against, micros) in self.against.iter_mut().zip(by_order) {
            if micros.is_none() && against.is_none() {
                *against = Some((place, text.to_owned(), written));
            }
        }
    }

    /// The one format that reads all dates; `declared` decides where several do.
    pub(crate) fn resolve(self, declared: Option<&DateFormat>) -> Result<DateFormat, (Place, Problem)> {
        if let Some(order) = declared.and_then(DateFormat::order) {
            return match &self.against[order as usize] {
                None => Ok(DateFormat::of_order(order)),
                Some((place, got, _)) => {
                    let format = DateFormat::of_order(order);
                    Err((*place, Problem::ExpectedDateTime { format, got: got.clone() }))
                }
            };
        }
        if let Some(contradiction) = self.contradiction {
            return Err(contradiction);
        }
        let Some((place, got, written)) = self.example else { return Ok(DateFormat::default()) };
        let left: Vec<Order> =
            Order::ALL.into_iter().filter(|order| self.against[*order as usize].is_none()).collect();
        match left[..] {
            [order] => Ok(DateFormat::of_order(order)),
            _ => {
                let reading = |order: &Order| {
                    let day = format_datetime(written.by(*order)?);
                    Some((DateFormat::of_order(*order), day[..10].to_owned()))
                };
                Err((
                    place,
                    Problem::AmbiguousDate { got, readings: left.iter().filter_map(reading).collect() },
                ))
            }
        }
    }
}

/// `day first`, or several of these.
fn orders(written: Written) -> String {
    let names = ["day first", "month first", "year first"];
    let possible = Order::ALL.into_iter().filter(|order| written.by(*order).is_some());
    possible.map(|order| names[order as usize]).collect::<Vec<_>>().join(" or ")
}
