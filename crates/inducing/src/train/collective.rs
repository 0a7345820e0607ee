//! Processes that train one model together.

use crate::error::Error;
use crate::head::{FittedHead, HeadParameters};
use crate::model::NetworkHeader;
use crate::train::Fitted;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Processes that train one model together: each of them some of its networks, or some of the batches of a step. The model is the
/// same, to the byte, whatever their number.
pub trait Collective: std::fmt::Debug + Send + Sync {
    /// Which of the processes this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// The bytes of every process, at every process, in the order of their ranks. Waits for all.
    ///
    /// # Errors
    /// If they cannot be reached.
    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error>;

    /// Sends to each process the stretch of `buffer` that `to` names for it, and returns what each sent, in the order of their ranks: as
    /// many bytes as `from` says. Waits for all.
    ///
    /// # Errors
    /// If they cannot be reached.
    fn exchange(&self, buffer: &[u8], to: &[Range<usize>], from: &[usize]) -> Result<Vec<Vec<u8>>, Error>;

    /// The processes that name the same group, in the order of their ranks. Waits for all.
    ///
    /// # Errors
    /// If they cannot be reached.
    fn split(&self, group: usize) -> Result<Box<dyn Collective>, Error>;
}

/// One process alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Collective for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(vec![bytes.to_vec()])
    }

    fn exchange(&self, buffer: &[u8], to: &[Range<usize>], _: &[usize]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(to.iter().map(|range| buffer[range.clone()].to_vec()).collect())
    }

    fn split(&self, _: usize) -> Result<Box<dyn Collective>, Error> {
        Ok(Box::new(Self))
    }
}

/// What a process says of its networks.
pub(super) enum Share {
    /// Each with its number.
    Trained(Vec<(usize, Fitted)>),
    /// The listener asked for a stop.
    Stopped,
    /// Training failed.
    Failed(String),
}

/// A share without its parameters.
#[derive(Serialize, Deserialize)]
struct ShareHeader {
    stopped: bool,
    failed: Option<String>,
    networks: Vec<Described>,
}

#[derive(Serialize, Deserialize)]
struct Described {
    place: usize,
    header: NetworkHeader,
    encoder: usize,
    /// Lengths of z, w, b, log σ and the kernel's parameters; of a softmax layer those of w and b.
    head: Vec<usize>,
}

impl Share {
    /// A line of JSON, then the parameters.
    pub(super) fn to_bytes(&self, header: impl Fn(&Fitted) -> NetworkHeader) -> Vec<u8> {
        let (mut networks, mut values) = (Vec::new(), Vec::<f32>::new());
        if let Self::Trained(trained) = self {
            for (place, fitted) in trained {
                let parts: Vec<&[f32]> = match &fitted.head {
                    FittedHead::Process(head) => {
                        vec![&head.z, &head.w, &head.b, &head.log_sigma, &head.log_kernel]
                    }
                    FittedHead::Softmax { w, b } => vec![w, b],
                };
                values.extend(&fitted.encoder);
                parts.iter().for_each(|part| values.extend(*part));
                networks.push(Described {
                    place: *place,
                    header: header(fitted),
                    encoder: fitted.encoder.len(),
                    head: parts.iter().map(|part| part.len()).collect(),
                });
            }
        }
        let failed = match self {
            Self::Failed(reason) => Some(reason.clone()),
            _ => None,
        };
        let head = ShareHeader { stopped: matches!(self, Self::Stopped), failed, networks };
        let mut bytes = serde_json::to_vec(&head).expect("headers are plain data");
        bytes.push(b'\n');
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// What another process said; `None` if it is no share.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let head: ShareHeader = serde_json::from_slice(&bytes[..end]).ok()?;
        if let Some(reason) = head.failed {
            return Some(Self::Failed(reason));
        }
        if head.stopped {
            return Some(Self::Stopped);
        }
        let mut values = bytes[end + 1..].as_chunks::<4>().0.iter().map(|&four| f32::from_le_bytes(four));
        let mut take = |count: usize| -> Option<Vec<f32>> {
            let part: Vec<f32> = values.by_ref().take(count).collect();
            (part.len() == count).then_some(part)
        };
        let mut trained = Vec::new();
        for Described { place, header, encoder, head } in head.networks {
            let encoder = take(encoder)?;
            let head = match head[..] {
                [w, b] => FittedHead::Softmax { w: take(w)?, b: take(b)? },
                [z, w, b, log_sigma, 2] => FittedHead::Process(HeadParameters {
                    z: take(z)?,
                    w: take(w)?,
                    b: take(b)?,
                    log_sigma: take(log_sigma)?,
                    log_kernel: take(2)?.try_into().ok()?,
                }),
                _ => return None,
            };
            let NetworkHeader { feature_scale: scale, best_epoch, history, .. } = header;
            trained.push((place, Fitted { encoder, head, scale, best_epoch, history }));
        }
        Some(Self::Trained(trained))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::FeatureScale;
    use crate::model::Kernel;

    #[test]
    fn a_share_is_what_was_sent_to_the_last_bit() {
        let head = HeadParameters {
            z: vec![0.1, -2.5e-39, 3.0],
            w: vec![1.0 / 3.0],
            b: vec![0.0],
            log_sigma: Vec::new(),
            log_kernel: [f32::MIN_POSITIVE, -1.0],
        };
        let scale = FeatureScale { shift: vec![0.1], ..FeatureScale::identity(1) };
        let process = Fitted {
            encoder: vec![0.3; 7],
            head: FittedHead::Process(head.clone()),
            scale: scale.clone(),
            best_epoch: 3,
            history: Vec::new(),
        };
        let softmax =
            Fitted { head: FittedHead::Softmax { w: vec![1.5, 2.5], b: vec![0.5] }, ..process.clone() };
        let header = |fitted: &Fitted| NetworkHeader {
            feature_scale: fitted.scale.clone(),
            kernel: Kernel::paper(),
            best_epoch: fitted.best_epoch,
            history: fitted.history.clone(),
        };
        let bytes = Share::Trained(vec![(4, process), (1, softmax)]).to_bytes(header);
        let Some(Share::Trained(again)) = Share::from_bytes(&bytes) else { panic!("a share") };
        assert_eq!((again[0].0, again[1].0), (4, 1));
        assert_eq!(again[0].1.head, FittedHead::Process(head));
        assert_eq!((&again[0].1.encoder, &again[0].1.scale), (&vec![0.3; 7], &scale));
        assert_eq!(again[1].1.head, FittedHead::Softmax { w: vec![1.5, 2.5], b: vec![0.5] });
        assert!(Share::from_bytes(&bytes[..bytes.len() - 1]).is_none(), "cut off");
        assert!(matches!(Share::from_bytes(&Share::Stopped.to_bytes(header)), Some(Share::Stopped)));
        let failed = Share::Failed("because".into()).to_bytes(header);
        assert!(matches!(Share::from_bytes(&failed), Some(Share::Failed(reason)) if reason == "because"));
    }
}
