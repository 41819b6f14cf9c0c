//! What holds for a session whatever happens to it.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::session_ops::drive;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn no_list_of_inputs_breaks_a_session(bytes in vec(any::<u8>(), 0..1_500)) {
        drive(&bytes);
    }
}
