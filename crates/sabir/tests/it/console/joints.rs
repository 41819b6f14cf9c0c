//! The joints of Sabir, each seen by a person in a browser, through the built program, to its end; and
//! with a node killed in the middle. After a restart the console shows the truth, nothing was done
//! twice, and the work goes on or says why not. Kills come at events and never at times.

mod agreed;
mod delegated;
mod researched;
mod said;
mod split;
pub(super) mod stage;
