//! The initiator, answer by answer.
