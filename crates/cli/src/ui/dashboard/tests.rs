//! The view as a whole: events in, a screen of text out.

use super::draw::draw;
use super::view::View;
use super::*;
use inducing::train::{EpochRecord, Phase};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// The screen's lines, without blanks at their ends.
fn screen(view: &View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test backend");
    terminal.draw(|frame| draw(frame, view)).expect("a test backend takes everything");
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

fn seconds(time: usize) -> Duration {
    Duration::from_secs(time as u64)
}

fn step(view: &mut View, done: usize, phase: Phase, loss: f64) {
    view.on_event(&Event::Step { done, planned: 900, phase, loss }, seconds(done));
}

fn record(phase: Phase, epoch: usize) -> EpochRecord {
    let json = serde_json::json!({ "phase": phase, "epoch": epoch, "steps": 0 });
    serde_json::from_value(json).expect("figures are optional")
}

/// A regression's run up to its second epoch of the likelihood, a step a second.
fn regression() -> View {
    let mut view = View::default();
    (1..=100).for_each(|done| step(&mut view, done, Phase::Pretraining, 9.0));
    for epoch in 1..=2 {
        for done in 50 + 50 * epoch..100 + 50 * epoch {
            step(&mut view, done, Phase::Likelihood, 4.0 - done as f64 / 100.0);
        }
        let (nll, rmse) = (Some(2.5 - epoch as f64), Some(0.25 + 0.125 * epoch as f64));
        let record = EpochRecord { nll, rmse, noise: Some(0.0625), ..record(Phase::Likelihood, epoch) };
        view.on_event(&Event::Record { network: (0, 1), record: &record }, seconds(200));
    }
    step(&mut view, 200, Phase::Likelihood, 2.0);
    view.note("something to know");
    view.elapsed = seconds(200);
    view
}

fn has_curve(screen: &str) -> bool {
    screen.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)) // braille but for the blank
}

#[test]
fn a_run_is_shown_with_its_place_pace_curves_and_notices() {
    let screen = screen(&regression(), 120, 40);
    for words in [
        "22 %",
        "likelihood · epoch 2 · step 200 of 900",
        "1.000 steps/s · 3:20 elapsed · about 11:40 left",
        "training loss, likelihood  2.000 ",
        "validation NLL  0.5000 (best 0.5000)",
        "validation RMSE  0.5000 (best 0.3750), standardised",
        "noise  0.06250, standardised",
        "notices",
        "something to know",
        "q or Ctrl-C: stop and save a checkpoint",
    ] {
        assert!(screen.contains(words), "no `{words}` in:\n{screen}");
    }
    assert!(has_curve(&screen), "{screen}");
    assert!(!screen.contains("accuracy"), "a regression has none:\n{screen}");
}

#[test]
fn the_speed_is_that_of_the_phase() {
    let mut view = View::default();
    (1..=50).for_each(|done| step(&mut view, done, Phase::Pretraining, 1.0));
    let record = record(Phase::Likelihood, 0); // the start of the likelihood, before its first step
    view.on_event(&Event::Record { network: (0, 1), record: &record }, seconds(50));
    let slow = |done: usize| Event::Step { done, planned: 60, phase: Phase::Likelihood, loss: 1.0 };
    (51..=53).for_each(|done| view.on_event(&slow(done), seconds(50 + 4 * (done - 50))));
    view.elapsed = seconds(62);
    let screen = screen(&view, 120, 40);
    assert!(screen.contains("likelihood · epoch 0 · step 53 of 60"), "{screen}");
    assert!(screen.contains("0.2500 steps/s · 1:02 elapsed · about 0:28 left"), "{screen}");
}

#[test]
fn classes_have_an_accuracy_and_no_noise() {
    let mut view = View::default();
    step(&mut view, 10, Phase::Likelihood, 1.0);
    let (nll, accuracy) = (Some(0.75), Some(0.875));
    let record = EpochRecord { nll, accuracy, ..record(Phase::Likelihood, 1) };
    view.on_event(&Event::Record { network: (0, 1), record: &record }, seconds(10));
    let screen = screen(&view, 100, 30);
    assert!(screen.contains("validation accuracy  0.8750 (best 0.8750)"), "{screen}");
    assert!(!screen.contains("noise") && !screen.contains("RMSE"), "{screen}");
}

#[test]
fn networks_of_their_own_share_the_charts() {
    let mut view = View::default();
    step(&mut view, 10, Phase::Pretraining, 1.0);
    for k in 0..3 {
        let record = EpochRecord { nll: Some(k as f64), ..record(Phase::Pretraining, 4) };
        view.on_event(&Event::Record { network: (k, 3), record: &record }, seconds(10));
    }
    let screen = screen(&view, 100, 30);
    assert!(screen.contains("network 3 of 3, epoch 4"), "{screen}");
    assert!(screen.contains("validation NLL  3 networks"), "{screen}");
}

#[test]
fn a_stop_is_acknowledged() {
    let view = View { stopping: true, ..regression() };
    let screen = screen(&view, 120, 40);
    assert!(screen.contains("stopping; what has been learned is being saved"), "{screen}");
    assert!(!screen.contains(" left"), "what is left will not be done:\n{screen}");
}

#[test]
fn a_run_without_a_history_says_that_it_gets_ready() {
    let screen = screen(&View::default(), 100, 30);
    for words in ["getting ready", "0 %", "0:00 elapsed", "curves begin with the first step"] {
        assert!(screen.contains(words), "no `{words}` in:\n{screen}");
    }
}

#[test]
fn losses_that_are_not_finite_leave_no_trace() {
    let mut view = regression();
    let before = screen(&view, 120, 40);
    for loss in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        step(&mut view, 200, Phase::Likelihood, loss);
        let record = EpochRecord { nll: Some(loss), rmse: Some(loss), ..record(Phase::Likelihood, 2) };
        view.on_event(&Event::Record { network: (0, 1), record: &record }, seconds(200));
    }
    assert_eq!(screen(&view, 120, 40), before);
    let mut view = View::default();
    step(&mut view, 1, Phase::Pretraining, f64::NAN);
    assert!(!has_curve(&screen(&view, 120, 40)));
}

/// A debug build also catches overflow.
#[test]
fn no_screen_is_too_small() {
    let long = "a notice that is wider than many a screen, with a wide letter: 漢".repeat(2);
    let mut view = regression();
    (0..60).for_each(|_| view.note(&long));
    for (width, height) in (1..=50).flat_map(|width| (1..=24).map(move |height| (width, height))) {
        screen(&view, width, height);
        screen(&View::default(), width, height);
    }
    let tiny = screen(&view, 20, 5);
    assert!(tiny.contains("22 %") && tiny.contains("likelihood"), "{tiny}");
    assert!(tiny.contains("q or Ctrl-C: stop"), "{tiny}");
}

#[test]
fn a_small_screen_shows_fewer_charts() {
    let charts = |width, height| screen(&regression(), width, height).matches("┌").count();
    assert_eq!([charts(120, 40), charts(120, 14), charts(50, 14), charts(30, 10)], [4, 2, 1, 0]);
}

#[test]
fn the_last_notices_are_shown_and_wide_ones_are_cut() {
    let mut view = View::default();
    (0..100).for_each(|k| view.note(&format!("notice {k} {}", "x".repeat(200))));
    let screen = screen(&view, 80, 40);
    assert!(screen.contains("notice 99 xx") && !screen.contains("notice 90 "), "{screen}");
    assert!(screen.lines().any(|line| line.ends_with("x…") && line.chars().count() == 80), "{screen}");
}

#[test]
fn q_and_control_c_stop_and_other_keys_do_not() {
    let (none, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
    let stops = |key, modifiers| asks_to_stop(KeyEvent::new(KeyCode::Char(key), modifiers));
    assert!(stops('q', none) && stops('Q', KeyModifiers::SHIFT) && stops('c', control));
    assert!(!stops('c', none) && !stops('q', control) && !stops('x', none));
    let release = KeyEvent::new_with_kind(KeyCode::Char('q'), none, KeyEventKind::Release);
    assert!(!asks_to_stop(release), "letting go of a key is not pressing it");
}
