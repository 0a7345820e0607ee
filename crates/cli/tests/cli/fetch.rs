//! `ign data fetch` from outside, against a server on loopback. What needs the true bytes of a set cannot be here;
//! Query has no published sum, so rows of its shape will do.

use crate::folder::Folder;
use crate::interruption::Running;
use crate::server::{Answer, Server, zip};
use std::fmt::Write;

const BIKE: &str = "bike+sharing+dataset.zip";
const QUERY: &str = "query+analytics+workloads+dataset.zip";
const SUM: &str = "e03de4ee4ef4dc376ac6e04bf829673c6269e8eba5c60fa121640fa2f829504f";

/// Expects that Bike-hour is refused and nothing written.
#[track_caller]
fn refuses_bike(answer: Answer, more: &str, words: &[&str]) {
    let (server, folder) = (Server::new(vec![(BIKE, answer)]), Folder::new());
    folder.refuses(&format!("data fetch bike-hour --data-dir sets --from {} {more}", server.url()), words);
    assert!(server.asked().contains(&BIKE.to_owned()), "the server was not asked");
}

fn query(rows: usize) -> String {
    let mut text = ",x,y,x_range,y_range,count,sum_,avg\n".to_owned();
    (0..rows).for_each(|row| writeln!(text, "{row},{row}.5,2,3,4,{},6,7", row % 9).expect("memory"));
    text
}

#[test]
fn another_file_is_refused_with_both_sums() {
    // sha256 of "abc", from FIPS 180-2
    let got = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    refuses_bike(Answer::File(zip(&[("hour.csv", b"abc")])), "", &["hour.csv", SUM, got]);
}

#[test]
fn servers_that_do_not_give_the_file_are_named_with_the_way_to_do_without() {
    let by_hand =
        ["static/public/275/bike+sharing+dataset.zip by hand", "sets/bike-hour", "--from FOLDER", BIKE];
    let words = |word: &'static str| [&by_hand[..], &[word]].concat();
    refuses_bike(Answer::Truncated(zip(&[("hour.csv", b"abc")]), 5), "", &words("cut off"));
    refuses_bike(Answer::Redirect("nowhere.zip"), "", &words("404"));
    refuses_bike(Answer::Redirect(BIKE), "", &words("redirects"));
    refuses_bike(Answer::Silent, "--timeout 1", &words("no byte came within 1 s"));
    let gone = Server::new(vec![]).url(); // dropped at once: nobody listens there any more
    let command = format!("data fetch bike-hour --data-dir sets --from {gone}");
    Folder::new().refuses(&command, &[&by_hand[..], &[&gone]].concat());
}

#[test]
fn no_server_fills_the_disk() {
    refuses_bike(Answer::Truncated(Vec::new(), 1 << 40), "", &["more than the 67108864 bytes"]);
    refuses_bike(Answer::Endless, "", &["more than the 67108864 bytes"]);
}

#[test]
fn archives_without_the_file_are_refused_wherever_it_would_like_to_go() {
    refuses_bike(Answer::File(zip(&[("day.csv", b"abc")])), "", &["no hour.csv in it"]);
    refuses_bike(Answer::File(zip(&[("../hour.csv", b"abc")])), "", &["no hour.csv in it"]);
    refuses_bike(Answer::File(zip(&[("/hour.csv", b"abc")])), "", &["no hour.csv in it"]);
    refuses_bike(Answer::File(b"<html>sorry</html>".to_vec()), "", &["damaged"]);
    refuses_bike(Answer::File(Vec::new()), "", &["damaged"]);
}

#[test]
fn a_set_without_a_sum_is_fetched_by_its_shape_and_not_fetched_twice() {
    let inner = zip(&[
        ("Datasets/Radius-Queries.csv", b"1,2"),
        ("Datasets/Range-Queries-Aggregates.csv", query(200_000).as_bytes()),
    ]);
    let server = Server::new(vec![(QUERY, Answer::File(zip(&[("datasets.zip", &inner)])))]);
    let folder = Folder::new();
    let fetch = format!("data fetch query --from {}", server.url());
    let ign = |words: &str| folder.command(words).env("IGN_DATA", "some/sets").output().expect("it starts");
    let first = ign(&fetch);
    let said = String::from_utf8_lossy(&first.stdout).into_owned();
    assert!(first.status.success() && said.contains("200000 rows and 8 columns: no checksum"), "{first:?}");
    assert_eq!(folder.text("some/sets/query/Range-Queries-Aggregates.csv"), query(200_000));
    assert_eq!(folder.names().len(), 4, "three folders and a file: {:?}", folder.names());
    assert!(String::from_utf8_lossy(&ign("data list").stdout).contains("query             there"));
    let again = ign(&fetch);
    assert!(String::from_utf8_lossy(&again.stdout).contains("already there"), "{again:?}");
    assert_eq!(server.asked(), [QUERY], "once");
}

#[test]
fn a_file_that_is_there_and_wrong_stays_until_force_brings_the_right_one() {
    let content = query(200_000);
    let packed = zip(&[("Range-Queries-Aggregates.csv", content.as_bytes())]);
    let server = Server::new(vec![(QUERY, Answer::File(packed))]);
    let folder = Folder::new();
    folder.put("sets/query/Range-Queries-Aggregates.csv", query(3));
    let fetch = format!("data fetch query --data-dir sets --from {}", server.url());
    folder.refuses(&fetch, &["Range-Queries-Aggregates.csv", "3 rows, expected 200000", "--force"]);
    assert!(server.asked().is_empty(), "what cannot be kept is not asked for");
    folder.ign(&format!("{fetch} --force")).succeeds();
    assert_eq!(folder.text("sets/query/Range-Queries-Aggregates.csv"), content);
}

#[test]
fn files_that_were_downloaded_by_hand_are_taken_from_their_folder() {
    let folder = Folder::new();
    folder.put(
        &format!("downloads/{QUERY}"),
        zip(&[("Range-Queries-Aggregates.csv", query(200_000).as_bytes())]),
    );
    folder.ign("data fetch query --data-dir sets --from downloads").succeeds();
    assert_eq!(folder.text("sets/query/Range-Queries-Aggregates.csv"), query(200_000));
    folder.refuses("data fetch pm25 --data-dir sets --from downloads", &["downloads/beijing+pm2+5+data.zip"]);
}

#[test]
fn an_interrupted_download_leaves_nothing() {
    let (server, folder) = (Server::new(vec![(BIKE, Answer::Silent)]), Folder::new());
    let fetch = format!("data fetch bike-hour --data-dir sets --from {}", server.url());
    let mut run = Running::new(folder.command(&fetch));
    run.wait_for("getting");
    while server.asked().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    run.signal("INT");
    assert_eq!(run.end(), Some(130), "{}", run.seen);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn without_a_name_the_sets_are_listed_and_without_a_folder_none_is_fetched() {
    let folder = Folder::new();
    let list = folder.ign("data fetch").succeeds().stdout;
    for name in ["mnist", "toy-mnist", "bike-hour-clean", "query", "--data-dir"] {
        assert!(list.contains(name), "no {name} in: {list}");
    }
    folder.refuses("data fetch protein", &["--data-dir", "IGN_DATA"]);
    folder.refuses("data fetch protien --data-dir sets", &["`protein`"]);
    let by_hand = ["`energy-efficiency` cannot be fetched", "x0,x1,…,y", "uci-small/energy.csv"];
    folder.refuses("data fetch protein energy-efficiency --data-dir sets", &by_hand);
    folder.refuses("data fetch protein --data-dir sets --from ftp://example/", &["--from", "https://"]);
    folder.write("file", "");
    let closed = Server::new(vec![]).url();
    folder.refuses(&format!("data fetch protein --data-dir file --from {closed}"), &["file: cannot write"]);
}
