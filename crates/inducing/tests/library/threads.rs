//! Threads change the time, not the bits.

use crate::fixture::{bytes, encoded, linear, on_threads, predict, prepared, tiny, trained};
use inducing::Model;

fn on(threads: usize) -> Model {
    let config =
        tiny(&["gp.inducing=200", "encoder.hidden=[64]", "encoder.features=32", "encoder.members=4"]);
    trained(&prepared(&linear(400, 0), &config).expect("a table to learn from"), &config, threads)
}

/// What holds: the same program on the same machine gives the same bits for any number of threads. Other machines have
/// other instructions and may differ in the last bits; the golden file allows for that.
#[test]
fn one_thread_and_several_give_the_same_model_and_predictions() {
    let table = linear(400, 0);
    let one = on(1);
    for threads in [2, 3, 8] {
        let several = on(threads);
        assert!(bytes(&one) == bytes(&several), "{threads} threads");
        let x = encoded(&one, &table);
        let predicted = on_threads(threads, || predict(&several, &x));
        assert_eq!(on_threads(1, || predict(&one, &x)), predicted, "{threads} threads");
    }
}
