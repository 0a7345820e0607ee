//! Open MPI's functions and handles, found in its shared library.

use crate::MpiError;
use libloading::{Library, Symbol};
use std::ffi::{c_int, c_void};
use std::ptr;

/// Names under which Open MPI's library is found; 40 is that of versions 3 to 5.
const NAMES: [&str; 3] = ["libmpi.so.40", "libmpi.so", "libmpi.dylib"];
/// Only the thread that called `MPI_Init_thread` makes calls.
const THREAD_FUNNELED: c_int = 1;

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

/// The opened library with its world.
#[derive(Debug)]
pub(crate) struct Mpi {
    library: Library,
    world: Handle,
    byte: Handle,
    int: Handle,
}

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
        Ok(Self { library, world, byte, int })
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
                THREAD_FUNNELED,
                &mut provided,
            )
        };
        checked("MPI_Init_thread", code)
    }

    pub(crate) fn rank(&self) -> Result<usize, MpiError> {
        self.number("MPI_Comm_rank")
    }

    pub(crate) fn size(&self) -> Result<usize, MpiError> {
        self.number("MPI_Comm_size")
    }

    fn number(&self, name: &'static str) -> Result<usize, MpiError> {
        type Number = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
        let mut number = 0;
        // SAFETY: both functions have this type; `number` outlives the call.
        let code = unsafe { self.function::<Number>(name)?(self.world, &mut number) };
        checked(name, code)?;
        usize::try_from(number).map_err(|_| MpiError::Call { call: name, code: number })
    }

    /// One number of every rank.
    pub(crate) fn all_gather_lengths(&self, own: c_int, size: usize) -> Result<Vec<c_int>, MpiError> {
        let mut all = vec![0; size];
        let (from, to) = (ptr::from_ref(&own).cast(), all.as_mut_ptr().cast());
        // SAFETY: the type is `MPI_Allgather`'s; one int is read from `own`, and one of each of `size` ranks written to `all`.
        let code = unsafe {
            self.function::<Gather>("MPI_Allgather")?(from, 1, self.int, to, 1, self.int, self.world)
        };
        checked("MPI_Allgather", code).map(|()| all)
    }

    /// The bytes of every rank, one after the other.
    pub(crate) fn all_gather(&self, own: &[u8], lengths: &[c_int]) -> Result<Vec<u8>, MpiError> {
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let starts: Vec<c_int> = lengths
            .iter()
            .scan(0, |end, length| {
                *end += length;
                Some(*end - length)
            })
            .collect();
        let mut all = vec![0_u8; total];
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
                self.world,
            )
        };
        checked("MPI_Allgatherv", code).map(|()| all)
    }

    pub(crate) fn finalize(&self) -> Result<(), MpiError> {
        type Finalize = unsafe extern "C" fn() -> c_int;
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
