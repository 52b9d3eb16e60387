//! UltraLogLog: registers that remember, beside the greatest value, whether the two below it were seen.

mod counts;
mod estimator;
mod information;
mod params;
mod register;
mod registers;
mod sketch;
mod view;
mod wire;

pub use params::UllParams;
pub use sketch::UltraLogLog;
pub use view::UllView;
