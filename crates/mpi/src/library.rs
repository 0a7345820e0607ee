//! Open MPI's functions and handles, found in its shared library.

use crate::MpiError;
use libloading::{Library, Symbol};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names under which Open MPI's library is found; 40 is that of versions 3 to 5.
const NAMES: [&str; 3] = ["libmpi.so.40", "libmpi.so", "libmpi.dylib"];
/// Any thread makes calls, one at a time.
const THREAD_SERIALIZED: c_int = 2;

type Handle = *mut c_void;
type Gather = unsafe extern "C" fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle) -> c_int;
type GatherV = unsafe extern "C" fn(
    *const c_void,
    c_int,
    Handle,
    *mut c_void,
    *const c_int,
    *const c_int,
    Handle,
    Handle,
) -> c_int;

type AllToAllV = unsafe extern "C" fn(
    *const c_void,
    *const c_int,
    *const c_int,
    Handle,
    *mut c_void,
    *const c_int,
    *const c_int,
    Handle,
    Handle,
) -> c_int;

/// The opened library, and its handles of types.
#[derive(Debug)]
pub(crate) struct Mpi {
    library: Library,
    world: Handle,
    byte: Handle,
    int: Handle,
    /// Held during a call.
    turn: Mutex<()>,
}

/// Processes that call each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Communicator(Handle);

// SAFETY: handles are addresses that MPI alone reads; with `MPI_THREAD_SERIALIZED` any thread may make calls, and `turn` lets one do
// so at a time.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}
// SAFETY: as above.
unsafe impl Send for Communicator {}
// SAFETY: as above.
unsafe impl Sync for Communicator {}

impl Mpi {
    pub(crate) fn open() -> Result<Self, MpiError> {
        let mut reason = String::new();
        for name in NAMES {
            // SAFETY: MPI's library runs no code of its own when it is loaded.
            match unsafe { Library::new(name) } {
                Ok(library) => return Self::of(library),
                Err(error) if reason.is_empty() => reason = error.to_string(),
                Err(_) => {}
            }
        }
        Err(MpiError::Missing { reason })
    }

    fn of(library: Library) -> Result<Self, MpiError> {
        let handle = |name: &'static [u8]| -> Result<Handle, MpiError> {
            // SAFETY: the symbol is a static object of Open MPI, whose address is the handle; it is not read here.
            let symbol: Result<Symbol<'_, *mut c_void>, _> = unsafe { library.get(name) };
            // The symbol's value is its address.
            symbol
                .map(|symbol| *symbol)
                .map_err(|_| MpiError::Other { launcher: "an MPI that is not Open MPI" })
        };
        let (world, byte, int) =
            (handle(b"ompi_mpi_comm_world\0")?, handle(b"ompi_mpi_byte\0")?, handle(b"ompi_mpi_int\0")?);
        Ok(Self { library, world, byte, int, turn: Mutex::new(()) })
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` must be its type in `mpi.h`.
    unsafe fn function<F>(&self, name: &'static str) -> Result<Symbol<'_, F>, MpiError> {
        // SAFETY: the caller names the type.
        unsafe { self.library.get(name.as_bytes()) }
            .map_err(|error| MpiError::Missing { reason: error.to_string() })
    }

    pub(crate) fn init(&self) -> Result<(), MpiError> {
        type Init = unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
        let mut provided = 0;
        // SAFETY: the type is `MPI_Init_thread`'s; null arguments are allowed since MPI-2, `provided` outlives the call.
        let code = unsafe {
            self.function::<Init>("MPI_Init_thread")?(
                ptr::null_mut(),
                ptr::null_mut(),
                THREAD_SERIALIZED,
                &mut provided,
            )
        };
        checked("MPI_Init_thread", code)?;
        // Below it, only one thread may make calls.
        if provided < THREAD_SERIALIZED {
            return Err(MpiError::Call { call: "MPI_Init_thread", code: provided });
        }
        Ok(())
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All processes.
    pub(crate) fn world(&self) -> Communicator {
        Communicator(self.world)
    }

    pub(crate) fn rank(&self, of: Communicator) -> Result<usize, MpiError> {
        self.number("MPI_Comm_rank", of)
    }

    pub(crate) fn size(&self, of: Communicator) -> Result<usize, MpiError> {
        self.number("MPI_Comm_size", of)
    }

    fn number(&self, name: &'static str, of: Communicator) -> Result<usize, MpiError> {
        type Number = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
        let (mut number, _turn) = (0, self.turn());
        // SAFETY: both functions have this type; `number` outlives the call.
        let code = unsafe { self.function::<Number>(name)?(of.0, &mut number) };
        checked(name, code)?;
        usize::try_from(number).map_err(|_| MpiError::Call { call: name, code: number })
    }

    /// The processes of one that name the same group, in the order of their ranks. It is never freed: there are few, and the program
    /// ends soon after the last is used.
    pub(crate) fn split(&self, of: Communicator, group: c_int) -> Result<Communicator, MpiError> {
        type Split = unsafe extern "C" fn(Handle, c_int, c_int, *mut Handle) -> c_int;
        let (mut part, _turn) = (ptr::null_mut(), self.turn());
        // SAFETY: the type is `MPI_Comm_split`'s; `part` outlives the call.
        let code = unsafe { self.function::<Split>("MPI_Comm_split")?(of.0, group, 0, &mut part) };
        checked("MPI_Comm_split", code).map(|()| Communicator(part))
    }

    /// To each rank the stretch of `buffer` that `to` names for it, from each as many bytes as `from` says.
    pub(crate) fn all_to_all(
        &self,
        of: Communicator,
        buffer: &[u8],
        to: &[Range<usize>],
        from: &[usize],
    ) -> Result<Vec<Vec<u8>>, MpiError> {
        let size = self.size(of)?;
        assert!(to.len() == size && from.len() == size, "one stretch for each rank");
        assert!(to.iter().all(|range| range.end <= buffer.len()), "stretches lie in the buffer");
        let count = |bytes: usize| c_int::try_from(bytes).map_err(|_| MpiError::TooLarge { bytes });
        let counts: Vec<c_int> = to.iter().map(|range| count(range.len())).collect::<Result<_, _>>()?;
        let starts: Vec<c_int> = to.iter().map(|range| count(range.start)).collect::<Result<_, _>>()?;
        let (mut lengths, mut places, mut total) = (Vec::new(), Vec::new(), 0);
        for &bytes in from {
            places.push(count(total)?);
            lengths.push(count(bytes)?);
            total += bytes;
        }
        count(total)?;
        let (mut all, _turn) = (vec![0_u8; total], self.turn());
        // SAFETY: the type is `MPI_Alltoallv`'s; for each rank, the stretch that is sent lies in `buffer`, and `all` has room for what each
        // rank sends, which is as much as it was told to send.
        let code = unsafe {
            self.function::<AllToAllV>("MPI_Alltoallv")?(
                buffer.as_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                self.byte,
                all.as_mut_ptr().cast(),
                lengths.as_ptr(),
                places.as_ptr(),
                self.byte,
                of.0,
            )
        };
        checked("MPI_Alltoallv", code)?;
        let mut rest = &all[..];
        let mut next = |bytes: &usize| {
            let (own, others) = rest.split_at(*bytes);
            rest = others;
            own.to_vec()
        };
        Ok(from.iter().map(&mut next).collect())
    }

    /// One number of every rank.
    pub(crate) fn all_gather_lengths(
        &self,
        of: Communicator,
        own: c_int,
        size: usize,
    ) -> Result<Vec<c_int>, MpiError> {
        let (mut all, _turn) = (vec![0; size], self.turn());
        let (from, to) = (ptr::from_ref(&own).cast(), all.as_mut_ptr().cast());
        // SAFETY: the type is `MPI_Allgather`'s; one int is read from `own`, and one of each of `size` ranks written to `all`.
        let code =
            unsafe { self.function::<Gather>("MPI_Allgather")?(from, 1, self.int, to, 1, self.int, of.0) };
        checked("MPI_Allgather", code).map(|()| all)
    }

    /// The bytes of every rank, one after the other.
    pub(crate) fn all_gather(
        &self,
        of: Communicator,
        own: &[u8],
        lengths: &[c_int],
    ) -> Result<Vec<u8>, MpiError> {
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let starts: Vec<c_int> = lengths
            .iter()
            .scan(0, |end, length| {
                *end += length;
                Some(*end - length)
            })
            .collect();
        let (mut all, _turn) = (vec![0_u8; total], self.turn());
        // SAFETY: the type is `MPI_Allgatherv`'s; `own` has as many bytes as this rank announced, `all` has room for all, and
        // `starts` and `lengths` have an entry for each rank.
        let code = unsafe {
            self.function::<GatherV>("MPI_Allgatherv")?(
                own.as_ptr().cast(),
                own.len() as c_int,
                self.byte,
                all.as_mut_ptr().cast(),
                lengths.as_ptr(),
                starts.as_ptr(),
                self.byte,
                of.0,
            )
        };
        checked("MPI_Allgatherv", code).map(|()| all)
    }

    pub(crate) fn finalize(&self) -> Result<(), MpiError> {
        type Finalize = unsafe extern "C" fn() -> c_int;
        let _turn = self.turn();
        // SAFETY: the type is `MPI_Finalize`'s, and nothing is called after it.
        let code = unsafe { self.function::<Finalize>("MPI_Finalize")?() };
        checked("MPI_Finalize", code)
    }

    pub(crate) fn abort(&self, code: i32) {
        type Abort = unsafe extern "C" fn(Handle, c_int) -> c_int;
        // SAFETY: the type is `MPI_Abort`'s.
        if let Ok(abort) = unsafe { self.function::<Abort>("MPI_Abort") } {
            // SAFETY: the world is MPI's own.
            unsafe { abort(self.world, code) };
        }
    }
}

fn checked(call: &'static str, code: c_int) -> Result<(), MpiError> {
    if code == 0 { Ok(()) } else { Err(MpiError::Call { call, code }) }
}
