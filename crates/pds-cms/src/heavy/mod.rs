//! Heavy hitters: which keys are frequent, listed with bounds of their counts.

mod answer;
mod entries;
mod heavy_keeper;
mod index;
mod ladder;
mod misra_gries;
mod ranked;
mod roster;
mod space_saving;
mod top_k;
mod total;
mod wire_key;

pub use answer::{Guarantee, HeavyHitter};
pub use heavy_keeper::{HeavyKeeper, HeavyKeeperParams};
pub use misra_gries::{MisraGries, MisraGriesParams};
pub use space_saving::{SpaceSaving, SpaceSavingParams};
pub use top_k::{TopK, TopKParams};
pub use wire_key::WireKey;
