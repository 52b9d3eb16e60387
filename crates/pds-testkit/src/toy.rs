//! Sketches that are exact, to try the laws on.

use pds_core::{Error, ExactMerge, Merge, Sketch, wire};

/// For the sake of refusals: what holds it cannot be merged in.
pub(crate) const REFUSED: u64 = u64::MAX;

/// A set of numbers; a well-made sketch.
pub(crate) type Set = Toy<true>;
/// A bag of numbers; sound, but for a refused merge that leaves a trace.
pub(crate) type Bag = Toy<false>;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Toy<const DISTINCT: bool> {
    sorted: Vec<u64>,
}

impl<const DISTINCT: bool> Toy<DISTINCT> {
    pub(crate) fn of(keys: &[u64]) -> Self {
        let mut toy = Self { sorted: keys.to_vec() };
        toy.tidy();
        toy
    }

    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }

    fn tidy(&mut self) {
        self.sorted.sort_unstable();
        if DISTINCT {
            self.sorted.dedup();
        }
    }
}

impl<const DISTINCT: bool> Merge for Toy<DISTINCT> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let refused = other.sorted.last() == Some(&REFUSED);
        if !(DISTINCT && refused) {
            self.sorted.extend(&other.sorted);
        }
        if refused {
            return Err(Error::Incompatible { field: "range" });
        }
        self.tidy();
        Ok(())
    }
}

impl<const DISTINCT: bool> ExactMerge for Toy<DISTINCT> {}

impl<const DISTINCT: bool> Sketch for Toy<DISTINCT> {
    const KIND: wire::Kind = wire::Kind(254);
    type Hasher = ();

    fn to_bytes(&self) -> Vec<u8> {
        let len = self.sorted.len() as u64;
        wire::seal(Self::KIND, 1, wire::CACHE_LINE, 0, &len, |out| wire::put_words(out, &self.sorted))
    }

    fn from_bytes_with(bytes: &[u8], (): ()) -> Result<Self, Error> {
        let (_, len, payload) = wire::open_owned::<u64>(Self::KIND, 1, 0, bytes)?;
        if len.checked_mul(8) != Some(payload.len() as u64) {
            return Err(Error::Malformed { field: "length" });
        }
        let sorted: Vec<u64> = wire::words(payload).collect();
        let toy = Self::of(&sorted);
        if toy.sorted == sorted { Ok(toy) } else { Err(Error::Malformed { field: "order" }) }
    }
}
