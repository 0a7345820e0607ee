//! Made sets, fetched from a server on loopback, with sums that are right.

mod made;
#[path = "../../../tests/cli/server.rs"]
mod server;

use super::Outcome;
use super::place::wanted;
use super::problem::FetchProblem;
use super::sources::{Check, Download, FetchSet, Packing};
use super::table::SETS;
use made::{CONTENT, Case, gzip, set, sum, tar};
use server::{Answer, zip};
use std::time::Duration;

#[test]
fn every_packing_gives_the_files_and_nothing_escapes() {
    let evil: [(&str, &[u8]); 3] =
        [("../one.csv", b"bad"), ("x/../../two.csv", b"bad"), ("/one.csv", b"bad")];
    let members = [&evil[..], &[("x/one.csv", CONTENT), ("x/y//two.csv", b"2"), ("z", b"3")]].concat();
    let case = Case::new(vec![
        ("a.zip", Answer::File(zip(&members))),
        ("a.tar.gz", Answer::File(tar(&members))),
        ("nested.zip", Answer::Unmeasured(zip(&[("readme", b"x"), ("a.zip", &zip(&members))]))),
    ]);
    for (packing, url) in
        [(Packing::Zip, "/a.zip"), (Packing::Tar, "/a.tar.gz"), (Packing::Zip, "/nested.zip")]
    {
        let set = set(packing, url, &[("one.csv", CONTENT), ("two.csv", b"2")]);
        assert!(matches!(case.fetch(set), Ok(Outcome::Written(paths)) if paths.len() == 2), "{url}");
        case.holds(&[("made/one.csv", CONTENT), ("made/two.csv", b"2")]);
        std::fs::remove_dir_all(&case.fetching.data_dir).expect("there");
    }
    for (packing, url) in [(Packing::Zip, "/a.zip"), (Packing::Tar, "/a.tar.gz")] {
        let set = set(packing, url, &[("one.csv", CONTENT), ("three.csv", b"2")]);
        assert!(
            matches!(case.fetch(set), Err(FetchProblem::NoMember { member, .. }) if member == "three.csv")
        );
        case.holds(&[]);
    }
}

#[test]
fn a_packed_file_is_known_by_what_is_in_it() {
    let case = Case::new(vec![("one.gz", Answer::File(gzip(CONTENT)))]);
    let set = set(Packing::AsIs, "/one.gz", &[("one.gz", CONTENT)]);
    assert!(matches!(case.fetch(set), Ok(Outcome::Written(_))));
    case.holds(&[("made/one.gz", &gzip(CONTENT))]);
}

#[test]
fn what_is_there_in_any_container_or_place_is_not_fetched() {
    let set = set(Packing::AsIs, "/one.gz", &[("one.gz", CONTENT)]);
    let places: [(&str, &[u8]); 3] =
        [("made/one", CONTENT), ("made/one.gz", &gzip(CONTENT)), ("elsewhere/raw/one", CONTENT)];
    for (place, content) in places {
        let case = Case::new(vec![]);
        case.put(place, content);
        assert_eq!(
            case.fetch(set).expect("it is there"),
            Outcome::There(vec![case.fetching.data_dir.join(place)])
        );
        assert!(case.server.asked().is_empty());
        case.holds(&[(place, content)]);
    }
}

#[test]
fn only_what_is_missing_is_written_and_force_replaces_what_would_be_read_first() {
    let packed = || Answer::File(gzip(CONTENT));
    let set = set(Packing::AsIs, "/one.gz", &[("one.gz", CONTENT)]);
    let mut case = Case::new(vec![("one.gz", packed())]);
    case.put("made/one", b"wrong");
    case.put("made/mine", b"my own");
    assert!(matches!(case.fetch(set), Err(FetchProblem::WrongThere { complaint, .. })
        if complaint.contains(sum(CONTENT)) && complaint.contains(sum(b"wrong"))));
    case.holds(&[("made/mine", b"my own"), ("made/one", b"wrong")]);
    case.fetching.force = true;
    assert!(matches!(case.fetch(set), Ok(Outcome::Written(_))));
    case.holds(&[("made/mine", b"my own"), ("made/one.gz", &gzip(CONTENT))]);
    // Of two files in one archive, the one that is there stays as it is packed.
    let case = Case::new(vec![("a.zip", Answer::File(zip(&[("one", CONTENT), ("two", b"2")])))]);
    case.put("made/one.gz", &gzip(CONTENT));
    let set = self::set(Packing::Zip, "/a.zip", &[("one", CONTENT), ("two", b"2")]);
    assert!(matches!(case.fetch(set), Ok(Outcome::Written(_))));
    case.holds(&[("made/one.gz", &gzip(CONTENT)), ("made/two", b"2")]);
}

#[test]
fn one_wrong_file_of_a_set_keeps_all_of_it_away() {
    let case = Case::new(vec![("a.zip", Answer::File(zip(&[("one", CONTENT), ("two", b"not 2")])))]);
    let set = set(Packing::Zip, "/a.zip", &[("one", CONTENT), ("two", b"2")]);
    assert!(matches!(case.fetch(set), Err(FetchProblem::Wrong { member: "two", complaint, .. })
        if complaint.contains(sum(b"2")) && complaint.contains(sum(b"not 2"))));
    case.holds(&[]);
}

#[test]
fn redirects_and_slow_servers_are_followed_to_the_end() {
    let mut case = Case::new(vec![
        ("one", Answer::Redirect("there/two")),
        ("two", Answer::Redirect("/three")),
        ("three", Answer::Slow(CONTENT.to_vec(), 4)),
    ]);
    case.fetching.patience = Duration::from_secs(1); // the whole takes longer, no pause does
    let set = set(Packing::AsIs, "/one", &[("one", CONTENT)]);
    assert!(matches!(case.fetch(set), Ok(Outcome::Written(_))));
    case.holds(&[("made/one", CONTENT)]);
    assert_eq!(case.server.asked(), ["one", "two", "three"]);
}

#[test]
fn the_second_address_is_asked_when_the_first_fails() {
    let mut case = Case::new(vec![("two", Answer::File(CONTENT.to_vec()))]);
    let [one, two] = ["one", "two"].map(|name| &*format!("{}{name}", case.server.url()).leak());
    case.fetching.from = None;
    let made = set(Packing::AsIs, one, &[("one", CONTENT)]);
    assert!(matches!(case.fetch(made), Err(FetchProblem::Unreachable { tries })
        if tries.len() == 1 && tries[0].0 == one && tries[0].1.contains("404")));
    let first = &made.downloads[0];
    let both =
        Download { urls: vec![one, two].leak(), limit: 100, packing: Packing::AsIs, files: first.files };
    let both = FetchSet { downloads: vec![both].leak(), ..*made };
    assert!(matches!(case.fetch(Box::leak(Box::new(both))), Ok(Outcome::Written(_))));
    case.holds(&[("made/one", CONTENT)]);
}

#[test]
fn limits_hold_for_the_download_and_for_what_is_in_it() {
    let bomb = vec![b'x'; 1001];
    let case = Case::new(vec![
        ("long", Answer::Unmeasured(vec![b'x'; 5001])),
        ("bomb.zip", Answer::File(zip(&[("one", &bomb)]))),
        ("bomb.tar.gz", Answer::File(tar(&[("one", &bomb)]))),
        ("bomb.gz", Answer::File(gzip(&bomb))),
        ("cut.tar.gz", Answer::File(tar(&[("one", &bomb)])[..40].to_vec())),
    ]);
    let fetch = |packing, url| case.fetch(set(packing, url, &[("one", &bomb)]));
    assert!(matches!(fetch(Packing::AsIs, "/long"), Err(FetchProblem::TooLarge { limit: 5000, .. })));
    assert!(matches!(fetch(Packing::Zip, "/bomb.zip"), Err(FetchProblem::TooLarge { limit: 1000, .. })));
    assert!(matches!(fetch(Packing::Tar, "/bomb.tar.gz"), Err(FetchProblem::TooLarge { limit: 1000, .. })));
    assert!(matches!(fetch(Packing::AsIs, "/bomb.gz"), Err(FetchProblem::Wrong { complaint, .. })
        if complaint.contains("more than 1000")));
    assert!(matches!(fetch(Packing::Tar, "/cut.tar.gz"), Err(FetchProblem::Damaged { .. })));
    case.holds(&[]);
}

#[test]
fn reviews_become_json_lines_in_the_order_of_label_and_number() {
    let train = concat!(
        r#"{"id": 2, "rating": 1, "label": 0, "text": "bad"}"#,
        "\n",
        r#"{"id": 10, "rating": 4, "label": 0, "text": "tab\t\"é\" \\ 🎬<br />\u0085"}"#,
        "\n",
        r#"{"id": 0, "rating": 9, "label": 1, "text": "good\n"}"#,
        "\n"
    )
    .replace("\\u0085", "\u{85}"); // not a control character to JSON
    let test = "{\"id\": 0, \"rating\": 7, \"label\": 1, \"text\": \"\"}\n";
    let archive = tar(&[
        ("aclImdb/imdb.vocab", b"the"),
        ("aclImdb/train/pos/0_9.txt", b"good\n"),
        ("aclImdb/train/neg/10_4.txt", "tab\t\"é\" \\ 🎬<br />\u{85}".as_bytes()),
        ("aclImdb/train/neg/2_1.txt", b"bad"),
        ("aclImdb/train/unsup/3_0.txt", b"who knows"),
        ("aclImdb/train/urls_neg.txt", b"http"),
        ("aclImdb/test/pos/0_7.txt", b""),
    ]);
    let only_train = tar(&[("aclImdb/train/pos/0_9.txt", b"good\n")]);
    let latin = tar(&[("aclImdb/train/pos/0_9.txt", b"caf\xe9")]);
    let case = Case::new(vec![
        ("a.tar.gz", Answer::File(archive)),
        ("b.tar.gz", Answer::File(only_train)),
        ("c.tar.gz", Answer::File(latin)),
    ]);
    let of = |url| {
        set(Packing::Reviews, url, &[("train.jsonl", train.as_bytes()), ("test.jsonl", test.as_bytes())])
    };
    assert!(
        matches!(case.fetch(of("/b.tar.gz")), Err(FetchProblem::NoMember { member, .. }) if member.contains("test"))
    );
    assert!(
        matches!(case.fetch(of("/c.tar.gz")), Err(FetchProblem::Damaged { message, .. }) if message.contains("0_9.txt"))
    );
    assert!(matches!(case.fetch(of("/a.tar.gz")), Ok(Outcome::Written(_))));
    case.holds(&[("made/test.jsonl", test.as_bytes()), ("made/train.jsonl", train.as_bytes())]);
}

#[test]
fn the_table_of_sets_names_every_public_set_once_with_whole_sums_and_safe_names() {
    let names: Vec<&str> = SETS.iter().flat_map(|set| set.names().map(|(name, _)| name)).collect();
    for set in data::NamedSet::ALL {
        assert_eq!(names.iter().filter(|name| **name == set.name()).count(), 1, "{}", set.name());
    }
    assert_eq!(names.len(), data::NamedSet::ALL.len());
    let is_sum = |sum: &str| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    for file in SETS.iter().flat_map(wanted) {
        let sums = match file.check {
            Check::Sha256(sum) | Check::PackedSha256 { sum, .. } => vec![sum],
            Check::Members(members) => members.iter().map(|(_, sum)| *sum).collect(),
            Check::Table { .. } => vec![],
        };
        assert!(sums.into_iter().all(is_sum), "{}", file.name);
        assert!(!file.name.contains(['/', '\\']), "{}", file.name);
    }
}

#[test]
fn files_lie_where_the_readers_look() {
    for set in SETS.iter().filter(|set| !set.downloads.is_empty()) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path().join(set.folders[0]);
        std::fs::create_dir_all(&home).expect("writable");
        let names = set.names().filter_map(|(name, _)| data::NamedSet::from_name(name));
        let names: Vec<_> = names.collect();
        assert!(names.iter().all(|named| !named.is_in(folder.path())), "{}", set.name);
        wanted(set).for_each(|file| std::fs::write(home.join(file.name), "").expect("writable"));
        assert!(names.iter().all(|named| named.is_in(folder.path())), "{}", set.name);
    }
}
