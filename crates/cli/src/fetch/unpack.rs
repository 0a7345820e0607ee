//! The files that are wanted, out of an archive that may be hostile.
//!
//! A member is chosen by the last part of its name and copied to a temporary file of ours: where it would like to be
//! unpacked to is never asked.

use super::copy::copy;
use super::imdb;
use super::problem::FetchProblem;
use super::sources::{Download, Packing, Wanted};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use tar::Archive;
use zip::ZipArchive;

/// A tar archive unpacks to at most so much; aclImdb has half a gigabyte.
const TAR_LIMIT: u64 = 2 << 30;

/// A file of ours and what it should be.
pub(crate) type Unpacked<'a> = (&'a Wanted, File);

/// A download on its way to the files in it.
pub(crate) struct Packed<'a> {
    pub(crate) download: &'a Download,
    /// Its address, for messages.
    pub(crate) name: String,
    pub(crate) file: File,
    /// Where nameless temporary files are made.
    pub(crate) scratch: &'a Path,
}

impl<'a> Packed<'a> {
    /// All files that are wanted, unchecked.
    pub(crate) fn unpack(mut self) -> Result<Vec<Unpacked<'a>>, FetchProblem> {
        self.file.rewind().map_err(|error| FetchProblem::disk(self.scratch, &error))?;
        match self.download.packing {
            Packing::AsIs => Ok(self.download.files.iter().zip([self.file]).collect()),
            Packing::Zip => self.unzip(),
            Packing::Tar => self.untar(),
            Packing::Reviews => imdb::json_lines(self),
        }
    }

    fn unzip(self) -> Result<Vec<Unpacked<'a>>, FetchProblem> {
        let mut archive = self.open_zip(&self.file)?;
        let wanted = self.download.files;
        if !wanted.iter().any(|wanted| find_in_zip(&archive, wanted.name).is_some())
            && let Some(inner) = position(&archive, |name| name.ends_with(".zip"))
        {
            let inner = self.extract(&mut archive, inner, self.download.limit)?;
            archive = self.open_zip(&inner)?;
        }
        let each = wanted.iter().map(|wanted| {
            let index = find_in_zip(&archive, wanted.name).ok_or_else(|| self.no_member(wanted.name))?;
            Ok((wanted, self.extract(&mut archive, index, wanted.limit)?))
        });
        each.collect()
    }

    fn open_zip(&self, file: &File) -> Result<ZipArchive<File>, FetchProblem> {
        let mut file = file.try_clone().map_err(|error| self.damaged(error))?;
        file.rewind().map_err(|error| self.damaged(error))?;
        ZipArchive::new(file).map_err(|error| self.damaged(error))
    }

    fn extract(
        &self,
        archive: &mut ZipArchive<File>,
        index: usize,
        limit: u64,
    ) -> Result<File, FetchProblem> {
        let mut member = archive.by_index(index).map_err(|error| self.damaged(error))?;
        self.keep(&mut member, limit)
    }

    fn untar(self) -> Result<Vec<Unpacked<'a>>, FetchProblem> {
        let mut found = Vec::new();
        let mut archive = Archive::new(self.plain_tar()?);
        for entry in archive.entries().map_err(|error| self.damaged(error))? {
            let mut entry = entry.map_err(|error| self.damaged(error))?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let wanted = self.download.files.iter().find(|wanted| is_called(&name, wanted.name));
            if let Some(wanted) = wanted
                && !found.iter().any(|(other, _): &Unpacked<'_>| other.name == wanted.name)
            {
                let file = self.keep(&mut entry, wanted.limit)?;
                found.push((wanted, file));
            }
            if found.len() == self.download.files.len() {
                return Ok(found);
            }
        }
        let is_missing = |wanted: &&Wanted| !found.iter().any(|(other, _)| other.name == wanted.name);
        let missing = self.download.files.iter().find(is_missing);
        missing.map_or(Ok(()), |missing| Err(self.no_member(missing.name)))?;
        Ok(found)
    }

    /// The tar archive inside whatever packs it, cut off at a size that none has.
    pub(crate) fn plain_tar(&self) -> Result<impl Read, FetchProblem> {
        let file = self.file.try_clone().map_err(|error| self.damaged(error))?;
        Ok(data::decompress(file).map_err(|error| self.damaged(error))?.take(TAR_LIMIT))
    }

    /// A copy in a temporary file of ours.
    fn keep(&self, member: &mut dyn Read, limit: u64) -> Result<File, FetchProblem> {
        let mut file = self.temporary()?;
        copy(member, &mut file, limit)
            .map_err(|error| FetchProblem::of_copy(error, &self.name, limit, self.scratch))?;
        Ok(file)
    }

    pub(crate) fn temporary(&self) -> Result<File, FetchProblem> {
        tempfile::tempfile_in(self.scratch).map_err(|error| FetchProblem::disk(self.scratch, &error))
    }

    pub(crate) fn damaged(&self, error: impl std::fmt::Display) -> FetchProblem {
        FetchProblem::Damaged { name: self.name.clone(), message: error.to_string() }
    }

    pub(crate) fn no_member(&self, member: &str) -> FetchProblem {
        FetchProblem::NoMember { name: self.name.clone(), member: member.to_owned() }
    }
}

/// The member of this name, in whatever folder.
pub(crate) fn find_in_zip(archive: &ZipArchive<File>, name: &str) -> Option<usize> {
    position(archive, |path| is_called(path, name))
}

fn position(archive: &ZipArchive<File>, is_it: impl Fn(&str) -> bool) -> Option<usize> {
    let name = |index| archive.name_for_index(index).and_then(Result::ok);
    (0..archive.len()).find(|&index| name(index).is_some_and(|name| is_it(&name)))
}

/// Whether a path's last part is this name, and no part leads out of the archive.
fn is_called(path: &str, name: &str) -> bool {
    let leads_out = path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..");
    !leads_out && path.rsplit('/').next() == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_known_by_the_last_part_of_its_name_and_may_not_lead_out() {
        for path in ["hour.csv", "a/hour.csv", "a//hour.csv", "./hour.csv"] {
            assert!(is_called(path, "hour.csv"), "{path}");
        }
        for path in
            ["../hour.csv", "a/../hour.csv", "/hour.csv", "a\\..\\b/hour.csv", "Hour.csv", "hour.csv.bak"]
        {
            assert!(!is_called(path, "hour.csv"), "{path}");
        }
    }
}
