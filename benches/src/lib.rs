//! What the benches share: key sets, contenders, and the gates that a contender passes before it is timed.

pub mod blocks;
pub mod cardinality;
pub mod contest;
pub mod cuckoo;
pub mod filters;
pub mod frequency;
pub mod frequency_kin;
pub mod heap;
pub mod heavy_hitters;
pub mod merging;
pub mod quantile_peers;
pub mod quantiles;
pub mod report;
pub mod static_filters;
pub mod theta;
pub mod workload;
