//! Heavy hitters: the claims of the four structures, held against exact counts.

mod golden;
mod hostile;
mod keeper;
mod laws;
mod regressions;
mod sizing;
mod summaries;
