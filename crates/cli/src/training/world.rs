//! The processes of an `mpirun` that train one model together, or this process alone.

use crate::failure::Failure;
use crate::output_file::beside;
use crate::ui::output::note;
use inducing::Config;
use inducing::train::{Alone, Checkpoint, Collective};
use mpi::World;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Share of the time that processes may spend on each other before something is said.
const MOST_EXCHANGE: f64 = 0.2;

/// Who trains.
pub(crate) struct Processes(Option<World>);

impl Processes {
    /// Those that `mpirun` started, if it did.
    pub(crate) fn join() -> Result<Self, Failure> {
        let world = World::from_environment().map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Self(world))
    }

    /// Nobody else.
    pub(crate) fn alone() -> Self {
        Self(None)
    }

    pub(crate) fn collective(&self) -> &dyn Collective {
        match &self.0 {
            Some(world) => world,
            None => &Alone,
        }
    }

    /// Who reads the files of a table.
    pub(crate) fn readers(&self) -> Arc<dyn Collective> {
        match &self.0 {
            Some(world) => Arc::new(world.clone()),
            None => Arc::new(Alone),
        }
    }

    /// Half of the memory that programs can still have, where the system says how much that is; processes of a machine share it.
    pub(crate) fn free_memory(&self) -> Option<u64> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        let here = self.0.as_ref().map_or(1, World::local_size) as u64;
        Some(kib * 1024 / 2 / here)
    }

    pub(crate) fn are_several(&self) -> bool {
        self.0.is_some()
    }

    /// Whether this one writes the model and speaks.
    pub(crate) fn is_first(&self) -> bool {
        self.collective().rank() == 0
    }

    /// Says how much of the time gradients of shared networks took to travel, and what helps where it is much.
    pub(crate) fn tell_exchange(&self, trained: Duration) {
        let Some(world) = self.0.as_ref().filter(|_| self.is_first()) else { return };
        let (exchanged, trained) = (world.exchanging().as_secs_f64(), trained.as_secs_f64());
        if exchanged == 0.0 {
            return;
        }
        let share = exchanged / trained;
        let advice = if share > MOST_EXCHANGE {
            "\nhint: raise `train.pretrain_batch_size` and `train.batch_size`: fewer steps exchange fewer gradients"
        } else {
            ""
        };
        note(&format!(
            "{exchanged:.1} s of {trained:.1} s ({:.0} %) went into exchanging gradients and waiting for them{advice}",
            100.0 * share
        ));
    }

    /// Threads of each process, where those of a machine share its cores.
    pub(crate) fn threads(&self, all: usize) -> usize {
        self.0.as_ref().map_or(all, |world| (all / world.local_size()).max(1))
    }

    /// Where this process writes its checkpoint.
    pub(crate) fn checkpoint_path(&self, first: PathBuf) -> PathBuf {
        match self.collective().rank() {
            0 => first,
            rank => beside(&first, &format!(".{rank}")),
        }
    }

    /// Ends the run: in good order, or of all processes at once where one failed, as others would wait for it.
    pub(crate) fn leave(self, result: &Result<(), Failure>) {
        let Some(world) = self.0 else { return };
        match result {
            Ok(()) | Err(Failure::Interrupted) => {
                // All is done; what MPI says of its end changes nothing.
                let _ = world.leave();
            }
            Err(failure) => {
                use std::io::Write;
                // In one piece: others may fail at the same time.
                let text = format!("error: rank {}: {failure}\n", world.rank());
                let _ = std::io::stderr().write_all(text.as_bytes());
                world.abort(i32::from(failure.exit_code()));
            }
        }
    }
}

/// The checkpoints of all processes of an earlier run, whatever their number was; each network where it got furthest. What a still earlier
/// run has left is passed over.
pub(crate) fn load_checkpoints(first: &Path, config: &Config, data: &str) -> Result<Checkpoint, Failure> {
    let loaded = checkpoints(first).into_iter().map(|path| Checkpoint::load(&path, config, data));
    let (fitting, others): (Vec<_>, Vec<_>) = loaded.partition(Result::is_ok);
    match (fitting.into_iter().flatten().reduce(|whole, own| own.merged(whole)), others.into_iter().next()) {
        (Some(whole), _) => Ok(whole),
        (None, Some(other)) => Ok(other?),
        // Where there is none, the error says so.
        (None, None) => Ok(Checkpoint::load(first, config, data)?),
    }
}

/// Removes them: they have done their work, and leftovers would only mislead.
pub(crate) fn remove_checkpoints(first: &Path) {
    for path in checkpoints(first) {
        let _ = std::fs::remove_file(path);
    }
}

/// `m.ign.checkpoint`, `m.ign.checkpoint.1`, …, as far as they are there.
fn checkpoints(first: &Path) -> Vec<PathBuf> {
    let Some(name) = first.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Vec::new();
    };
    let folder = first.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let own = path.file_name().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default();
        own == name || own.strip_prefix(&format!("{name}.")).is_some_and(|rank| rank.parse::<u32>().is_ok())
    };
    let mut paths: Vec<PathBuf> = entries.filter(is_one).collect();
    paths.sort();
    paths
}
