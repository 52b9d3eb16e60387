//! What the share of set bits tells, of a filter or of a view.

use super::law;
use crate::BloomParams;

pub(crate) fn estimated_len(params: BloomParams, fill: f64) -> f64 {
    law::keys_for_fill(params.bits() as f64, f64::from(params.k()), fill)
}

pub(crate) fn estimated_fpr(params: BloomParams, fill: f64) -> f64 {
    libm::pow(fill, f64::from(params.k()))
}

pub(crate) fn is_saturated(params: BloomParams, fill: f64) -> bool {
    /// The fill at which a bit tells most, and at which the best number of probes leaves a filter.
    const HALF: f64 = 0.5;
    let (m, k) = (params.bits() as f64, f64::from(params.k()));
    let alarm = params.design_fpr().map_or(HALF, |fpr| law::fill_alarm(m, k, fpr));
    fill > alarm || fill >= 1.0
}
