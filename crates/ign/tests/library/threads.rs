//! Threads change the time, not the bits.

use crate::fixture::{encoded, linear, tiny};
use ign::{Fit, Model, Prepared};

fn trained(threads: usize) -> Model {
    let config =
        tiny(&["gp.inducing=200", "encoder.hidden=[64]", "encoder.features=32", "encoder.members=4"]);
    let prepared = Prepared::new(&linear(400, 0), &config).expect("a table to learn from");
    match prepared.fit(&config, threads, None, &mut |_| true) {
        Ok(Fit::Finished(model)) => *model,
        other => panic!("{other:?}"),
    }
}

/// What holds: the same program on the same machine gives the same bits for any number of threads. Other machines have
/// other instructions and may differ in the last bits; the golden file allows for that.
#[test]
fn one_thread_and_several_give_the_same_model_and_predictions() {
    let table = linear(400, 0);
    let one = trained(1);
    for threads in [2, 3, 8] {
        let several = trained(threads);
        assert!(one.heads().eq(several.heads()), "{threads} threads");
        let x = encoded(&one, &table);
        assert_eq!(one.predict(&x), several.predict(&x), "{threads} threads");
    }
}
