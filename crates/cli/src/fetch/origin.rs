//! Where downloads come from: the sets' own addresses, a mirror, or a folder of files that were downloaded by hand.

use std::fmt;
use std::path::PathBuf;

/// What `--from` puts in place of the addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Scheme, host and folder of a server, with a slash at the end.
    Server(String),
    /// A folder of this machine.
    Folder(PathBuf),
}

/// One place where a file may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Url(String),
    File(PathBuf),
}

impl Origin {
    /// `http://…`, `https://…`, or a folder that exists.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("http://") || text.starts_with("https://") {
            let slash = if text.ends_with('/') { "" } else { "/" };
            return Ok(Origin::Server(format!("{text}{slash}")));
        }
        let folder = PathBuf::from(text);
        if folder.is_dir() {
            return Ok(Origin::Folder(folder));
        }
        Err("expected http://…, https://… or a folder of downloaded files".into())
    }
}

/// Where to look for a file, without repetition: its own addresses, or those of the same name from elsewhere.
pub(crate) fn addresses(urls: &[&str], origin: Option<&Origin>) -> Vec<Address> {
    let mut found = Vec::new();
    for url in urls {
        let name = url.rsplit('/').next().unwrap_or(url);
        let address = match origin {
            None => Address::Url((*url).to_owned()),
            Some(Origin::Server(base)) => Address::Url(format!("{base}{name}")),
            Some(Origin::Folder(folder)) => Address::File(folder.join(name)),
        };
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Url(url) => f.write_str(url),
            Address::File(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_keeps_the_file_names_and_names_each_once() {
        let urls = ["https://a.example/x/one.gz", "http://b.example/one.gz", "http://b.example/two.gz"];
        let from = Origin::parse("http://mirror.example/sets").expect("a server");
        let expected = ["http://mirror.example/sets/one.gz", "http://mirror.example/sets/two.gz"];
        let found: Vec<String> = addresses(&urls, Some(&from)).iter().map(Address::to_string).collect();
        assert_eq!(found, expected);
        assert_eq!(addresses(&urls, None).len(), 3);
        assert!(Origin::parse("ftp://mirror.example/").is_err_and(|words| words.starts_with("expected ")));
    }
}
