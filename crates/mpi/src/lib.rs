//! A [`Collective`] of processes that `mpirun` has started.
//!
//! Open MPI is opened at run time (`dlopen`): its C interface is stable since version 2, handles are addresses of the symbols below.
//! MPICH has other handles and is refused.
//!
//! ```
//! // Not started by mpirun: one process, which needs no MPI.
//! assert!(inducing_mpi::World::from_environment()?.is_none());
//! # Ok::<(), inducing_mpi::MpiError>(())
//! ```

mod library;

use inducing::Error;
use inducing::train::Collective;
use library::{Communicator, Mpi};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// MPI cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MpiError {
    /// There is no Open MPI.
    #[error(
        "started by `mpirun`, but Open MPI's library cannot be opened: {reason}\nhint: install Open MPI (on Debian the package \
         `openmpi-bin`), or add the folder of libmpi.so to LD_LIBRARY_PATH"
    )]
    Missing {
        /// What the loader said.
        reason: String,
    },
    /// Another implementation started the process.
    #[error("started by {launcher}, which is not supported\nhint: start with Open MPI's `mpirun`")]
    Other {
        /// Which one.
        launcher: &'static str,
    },
    /// A call failed.
    #[error("{call} failed with code {code}\nhint: look at what `mpirun` printed")]
    Call {
        /// Which one.
        call: &'static str,
        /// What it returned.
        code: i32,
    },
    /// A message that is too large for MPI's counts.
    #[error("{bytes} bytes are more than MPI sends at once\nhint: train a smaller network")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
}

/// The processes of one `mpirun`, or some of them.
#[derive(Debug, Clone)]
pub struct World {
    mpi: Arc<Mpi>,
    communicator: Communicator,
    rank: usize,
    size: usize,
    local_size: usize,
    /// Nanoseconds that this process has spent in [`Collective::exchange`], waiting for others included.
    exchanging: Arc<AtomicU64>,
}

impl World {
    /// Joins the world that started this process; `None` where nothing but a shell did, or where it is alone.
    ///
    /// # Errors
    /// If Open MPI cannot be opened, or another implementation started it.
    pub fn from_environment() -> Result<Option<Self>, MpiError> {
        let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
        let Some(size) = number("OMPI_COMM_WORLD_SIZE") else {
            // Slurm's srun sets PMI variables too, but not this one without MPICH's library.
            let mpich =
                number("PMI_SIZE").is_some_and(|size| size > 1) && std::env::var("SLURM_JOB_ID").is_err();
            return if mpich { Err(MpiError::Other { launcher: "MPICH" }) } else { Ok(None) };
        };
        if size < 2 {
            return Ok(None);
        }
        let mpi = Arc::new(Mpi::open()?);
        mpi.init()?;
        let local_size = number("OMPI_COMM_WORLD_LOCAL_SIZE").unwrap_or(1).max(1);
        let world = mpi.world();
        Self::new(mpi, world, local_size, Arc::default()).map(Some)
    }

    fn new(
        mpi: Arc<Mpi>,
        communicator: Communicator,
        local_size: usize,
        exchanging: Arc<AtomicU64>,
    ) -> Result<Self, MpiError> {
        let (rank, size) = (mpi.rank(communicator)?, mpi.size(communicator)?);
        Ok(Self { mpi, communicator, rank, size, local_size, exchanging })
    }

    /// Processes of the world on this machine, which share its cores.
    pub fn local_size(&self) -> usize {
        self.local_size
    }

    /// How long this process has exchanged gradients, waiting for others included.
    pub fn exchanging(&self) -> Duration {
        Duration::from_nanos(self.exchanging.load(Ordering::Relaxed))
    }

    /// Leaves the world; all processes do.
    ///
    /// # Errors
    /// If MPI says so.
    pub fn leave(&self) -> Result<(), MpiError> {
        self.mpi.finalize()
    }

    /// Ends all processes.
    pub fn abort(&self, code: i32) {
        self.mpi.abort(code);
    }
}

fn failed(error: MpiError) -> Error {
    Error::Request(error.to_string())
}

impl Collective for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let length =
            i32::try_from(bytes.len()).map_err(|_| failed(MpiError::TooLarge { bytes: bytes.len() }))?;
        let lengths = self.mpi.all_gather_lengths(self.communicator, length, self.size).map_err(failed)?;
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        if i32::try_from(total).is_err() {
            return Err(failed(MpiError::TooLarge { bytes: total }));
        }
        let mut all = self.mpi.all_gather(self.communicator, bytes, &lengths).map_err(failed)?;
        let mut parts = Vec::with_capacity(self.size);
        for length in lengths {
            let rest = all.split_off(length as usize);
            parts.push(std::mem::replace(&mut all, rest));
        }
        Ok(parts)
    }

    fn exchange(&self, buffer: &[u8], to: &[Range<usize>], from: &[usize]) -> Result<Vec<Vec<u8>>, Error> {
        let started = Instant::now();
        let received = self.mpi.all_to_all(self.communicator, buffer, to, from).map_err(failed);
        self.exchanging.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        received
    }

    fn split(&self, group: usize) -> Result<Box<dyn Collective>, Error> {
        let number = i32::try_from(group).map_err(|_| failed(MpiError::TooLarge { bytes: group }))?;
        let part = self.mpi.split(self.communicator, number).map_err(failed)?;
        let (mpi, exchanging) = (Arc::clone(&self.mpi), Arc::clone(&self.exchanging));
        Ok(Box::new(Self::new(mpi, part, self.local_size, exchanging).map_err(failed)?))
    }
}
