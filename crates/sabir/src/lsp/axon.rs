//! What only AXON knows: one file for each kind of question.

pub(super) mod completion;
pub(super) mod hover;
pub(super) mod navigation;
pub(super) mod semantic;
