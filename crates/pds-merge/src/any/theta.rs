//! Theta sketches, and the results of operations on them.

use alloc::string::ToString;
use alloc::vec;

use pds_core::wire::Kind;
use pds_theta::{CompactTheta, ThetaSketch, union};

use super::answer::KAPPA;
use super::display::rounded;
use super::held::{Held, Parameters, hashed_elsewhere};
use super::{Answer, ListHasher, MergeLaw, Stated};
use crate::{Error, Merge, Prehashed, Sketch};

impl Held for ThetaSketch<Prehashed> {
    const KIND: Kind = Kind::THETA;
    const NAME: &'static str = "ThetaSketch";

    hashed_elsewhere! {}

    fn law(&self) -> MergeLaw {
        MergeLaw::Exact
    }

    fn take(&mut self, other: &Self) -> Result<(), Error> {
        self.merge(other)
    }

    fn take_encoded(&mut self, bytes: &[u8], _: &ListHasher) -> Result<(), Error> {
        self.merge_encoded(bytes, Prehashed::of_bytes(bytes)?)
    }

    fn ask(&self) -> Answer {
        let (low, high) = self.bounds(KAPPA);
        Answer::Distinct { estimate: self.estimate(), low, high, kappa: KAPPA }
    }

    fn parameters(&self) -> Parameters {
        vec![
            ("lg_k", self.params().lg_k().to_string()),
            ("theta", rounded(self.theta())),
            ("retained", self.retained().to_string()),
        ]
    }

    fn stated(&self) -> Option<Stated> {
        Some(Stated::RelativeStandardError(self.params().std_error()))
    }
}

impl Held for CompactTheta<Prehashed> {
    const KIND: Kind = Kind::THETA_RESULT;
    const NAME: &'static str = "CompactTheta";

    hashed_elsewhere! {}

    /// A union keeps the bounds of results, but a result is no sketch of a stream that its bytes could be those of.
    fn law(&self) -> MergeLaw {
        MergeLaw::Bounded
    }

    fn take(&mut self, other: &Self) -> Result<(), Error> {
        *self = union(&[&*self, other])?;
        Ok(())
    }

    fn ask(&self) -> Answer {
        let (low, high) = self.bounds(KAPPA);
        Answer::Distinct { estimate: self.estimate(), low, high, kappa: KAPPA }
    }

    fn parameters(&self) -> Parameters {
        vec![
            ("lg_k", self.params().lg_k().to_string()),
            ("theta", rounded(self.theta())),
            ("retained", self.retained().to_string()),
        ]
    }
}
