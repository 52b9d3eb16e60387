//! Two chains into one, within the rate.

use alloc::vec::Vec;

use pds_core::same_hasher;

use super::layer::Layer;
use super::params::ScalableBloomParams;
use crate::{Error, Fingerprint, Merge, ScalableBloomFilter};

impl<H: Fingerprint> ScalableBloomFilter<H> {
    pub(super) fn compatible(&self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.compatible(&other.params)
    }
}

/// Takes in the other's layers: into a layer of the same shape where both fit into it, else as a layer of its own, for
/// which the rate must have room. Each layer has spent a share of its chain's rate, so that a few young chains merge, and
/// many grown ones do not.
///
/// # Errors
///
/// [`Error::Incompatible`] or [`Error::Hasher`] if the two differ in hasher or parameters other than the memory's limit, [`Error::Full`] if the merged
/// filter would break its promise, or its limit of layers or memory. `self` is then unchanged.
impl<H: Fingerprint> Merge for ScalableBloomFilter<H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        let mut layers: Vec<Layer<H>> = self.layers.clone();
        for layer in other.layers.iter().filter(|layer| !layer.is_empty()) {
            if !layers.iter_mut().any(|mine| mine.absorb(layer)) {
                layers.push(layer.clone());
            }
        }
        // The last one takes new keys: the largest, and of these the emptiest.
        layers.sort_by_key(|layer| (layer.params.keys(), u64::MAX - layer.ones()));
        let spent: f64 = layers.iter().map(|layer| layer.params.fpr()).sum();
        let bytes: u64 = layers.iter().map(|layer| layer.params.size_bytes()).sum();
        if layers.len() > ScalableBloomParams::MAX_LAYERS
            || spent > self.params.design_fpr()
            || bytes > self.params.max_bytes()
        {
            return Err(Error::Full);
        }
        (self.layers, self.exhausted) = (layers, false);
        Ok(())
    }
}
