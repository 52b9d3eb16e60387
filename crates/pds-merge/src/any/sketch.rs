//! A sketch of any kind.

use alloc::vec::Vec;

#[cfg(feature = "bloom")]
use pds_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, ScalableBloomFilter, SplitBlockBloomFilter,
    WindowedBloomFilter,
};
#[cfg(feature = "cms")]
use pds_cms::{DecayingCountMin, HeavyKeeper, MisraGries, SpaceSaving, TopK};
use pds_core::wire::{self, Kind};
#[cfg(feature = "cuckoo")]
use pds_cuckoo::{CuckooFilter, GrowableCuckooFilter};
#[cfg(feature = "hll")]
use pds_hll::{HyperLogLog, StreamingHyperLogLog, UltraLogLog};
#[cfg(feature = "quantiles")]
use pds_quantiles::{DDSketch, TDigest};
#[cfg(feature = "static-filters")]
use pds_static_filters::RibbonFilter;
#[cfg(feature = "theta")]
use pds_theta::{CompactTheta, ThetaSketch};

use super::held::Held;
use super::kinds::{both, each, for_each_kind, leading, read};
use super::{Answer, Description, ListHasher, MergeLaw};
#[cfg(feature = "quantiles")]
use crate::AnyKll;
#[allow(unused_imports)] // Where a feature is on whose structures hash nothing.
use crate::Prehashed;
#[cfg(feature = "static-filters")]
use crate::{AnyBinaryFuse, AnyXor};
#[cfg(feature = "cms")]
use crate::{AnyConservativeCountMin, AnyCountMin, AnyCountSketch, AnySlidingCountMin};
use crate::{Error, Merge, MergeError};

/// A sketch of any kind that the features of this crate name, as its bytes tell.
///
/// What hashes is held with [`Prehashed`]: it is told by the fingerprint of its hasher, so that sketches made with a secret
/// key are read, asked by hashes and merged without it. Lists of heavy hitters are the exception: they hash their keys
/// again when they are read, and need the hasher itself ([`ListHasher`]). Their keys are held as their canonical bytes.
///
/// Where bytes tell more than the kind, such as the width of counters, a variant holds an enum of its own. Whoever needs
/// what is not offered for all kinds matches:
///
/// ```
/// use pds_hll::{HllParams, HyperLogLog};
/// use pds_merge::{AnySketch, Error, Merge, Sketch};
///
/// fn main() -> Result<(), Error> {
///     let mut visitors = HyperLogLog::new(HllParams::with_precision(12)?);
///     visitors.extend(0..1000u32);
///     let bytes = visitors.to_bytes();
///
///     let mut any = AnySketch::from_bytes(&bytes)?;
///     any.merge(&AnySketch::from_bytes(&bytes)?)?;
///     assert_eq!(any.to_bytes(), bytes);
///     match &any {
///         AnySketch::HyperLogLog(visitors) => assert!((visitors.estimate() - 1000.0).abs() < 100.0),
///         other => println!("{}", other.describe()),
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // A few hundred bytes at most: one sketch is held at a time, and its table is elsewhere.
pub enum AnySketch {
    /// [`Kind::BLOOM`]
    #[cfg(feature = "bloom")]
    Bloom(BloomFilter<Prehashed>),
    /// [`Kind::SPLIT_BLOCK_BLOOM`]
    #[cfg(feature = "bloom")]
    SplitBlockBloom(SplitBlockBloomFilter<Prehashed>),
    /// [`Kind::BLOCKED_BLOOM`]
    #[cfg(feature = "bloom")]
    BlockedBloom(BlockedBloomFilter<Prehashed>),
    /// [`Kind::COUNTING_BLOOM`]
    #[cfg(feature = "bloom")]
    CountingBloom(CountingBloomFilter<Prehashed>),
    /// [`Kind::SCALABLE_BLOOM`]
    #[cfg(feature = "bloom")]
    ScalableBloom(ScalableBloomFilter<Prehashed>),
    /// [`Kind::WINDOWED_BLOOM`]
    #[cfg(feature = "bloom")]
    WindowedBloom(WindowedBloomFilter<Prehashed>),
    /// [`Kind::CUCKOO`]
    #[cfg(feature = "cuckoo")]
    Cuckoo(CuckooFilter<Prehashed>),
    /// [`Kind::GROWABLE_CUCKOO`]
    #[cfg(feature = "cuckoo")]
    GrowableCuckoo(GrowableCuckooFilter<Prehashed>),
    /// [`Kind::BINARY_FUSE`]
    #[cfg(feature = "static-filters")]
    BinaryFuse(AnyBinaryFuse),
    /// [`Kind::XOR`]
    #[cfg(feature = "static-filters")]
    Xor(AnyXor),
    /// [`Kind::RIBBON`]
    #[cfg(feature = "static-filters")]
    Ribbon(RibbonFilter<Prehashed>),
    /// [`Kind::HYPER_LOG_LOG`]
    #[cfg(feature = "hll")]
    HyperLogLog(HyperLogLog<Prehashed>),
    /// [`Kind::ULTRA_LOG_LOG`]
    #[cfg(feature = "hll")]
    UltraLogLog(UltraLogLog<Prehashed>),
    /// [`Kind::STREAMING_HYPER_LOG_LOG`]
    #[cfg(feature = "hll")]
    StreamingHyperLogLog(StreamingHyperLogLog<Prehashed>),
    /// [`Kind::THETA`]
    #[cfg(feature = "theta")]
    Theta(ThetaSketch<Prehashed>),
    /// [`Kind::THETA_RESULT`]
    #[cfg(feature = "theta")]
    ThetaResult(CompactTheta<Prehashed>),
    /// [`Kind::COUNT_MIN`]
    #[cfg(feature = "cms")]
    CountMin(AnyCountMin),
    /// [`Kind::CONSERVATIVE_COUNT_MIN`]
    #[cfg(feature = "cms")]
    ConservativeCountMin(AnyConservativeCountMin),
    /// [`Kind::COUNT_SKETCH`]
    #[cfg(feature = "cms")]
    CountSketch(AnyCountSketch),
    /// [`Kind::SLIDING_COUNT_MIN`]
    #[cfg(feature = "cms")]
    SlidingCountMin(AnySlidingCountMin),
    /// [`Kind::DECAYING_COUNT_MIN`]
    #[cfg(feature = "cms")]
    DecayingCountMin(DecayingCountMin<Prehashed>),
    /// [`Kind::SPACE_SAVING`]
    #[cfg(feature = "cms")]
    SpaceSaving(SpaceSaving<Vec<u8>, ListHasher>),
    /// [`Kind::MISRA_GRIES`]
    #[cfg(feature = "cms")]
    MisraGries(MisraGries<Vec<u8>, ListHasher>),
    /// [`Kind::TOP_K`]
    #[cfg(feature = "cms")]
    TopK(TopK<Vec<u8>, ListHasher>),
    /// [`Kind::HEAVY_KEEPER`]
    #[cfg(feature = "cms")]
    HeavyKeeper(HeavyKeeper<Vec<u8>, ListHasher>),
    /// [`Kind::DDSKETCH`]
    #[cfg(feature = "quantiles")]
    DDSketch(DDSketch),
    /// [`Kind::T_DIGEST`]
    #[cfg(feature = "quantiles")]
    TDigest(TDigest),
    /// [`Kind::KLL`]
    #[cfg(feature = "quantiles")]
    Kll(AnyKll),
}

impl AnySketch {
    /// What [`Error::Kind`] expects where any kind that is read here would do: none has this number.
    pub const ANY_KIND: Kind = Kind(0);

    /// Decodes a sketch of whatever kind; lists of heavy hitters only if they were made with the default hasher.
    ///
    /// Safe for bytes from strangers: decoding never panics, and allocates at most 16 times the input plus a constant
    /// of the kind.
    ///
    /// # Errors
    ///
    /// As [`AnySketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(bytes, ListHasher::default())
    }

    /// As [`AnySketch::from_bytes`], with the hasher that lists of heavy hitters were made with. It serves no other kind.
    ///
    /// # Errors
    ///
    /// [`Error::Kind`], which expects [`AnySketch::ANY_KIND`], if the bytes are of a kind that is unknown, or whose feature
    /// is off; [`Error::Hasher`] if they are of a list made with another hasher; [`Error::Incompatible`] in `item` if they
    /// are of a KLL sketch of items of one's own; else as [`Sketch::from_bytes_with`](crate::Sketch::from_bytes_with) of the
    /// structure.
    pub fn from_bytes_with(bytes: &[u8], lists: impl Into<ListHasher>) -> Result<Self, Error> {
        Self::decode(bytes, &lists.into())
    }

    pub(crate) fn decode(bytes: &[u8], lists: &ListHasher) -> Result<Self, Error> {
        for_each_kind! { read (wire::peek(bytes)?.kind, bytes, lists) }
    }

    /// The byte form: for a sketch that was only decoded, the bytes that it was decoded from.
    pub fn to_bytes(&self) -> Vec<u8> {
        for_each_kind! { each (self, sketch => sketch.write()) }
    }

    /// The kind of the envelope.
    pub fn kind(&self) -> Kind {
        fn kind_of<S: Held>(_: &S) -> Kind {
            S::KIND
        }
        for_each_kind! { each (self, sketch => kind_of(sketch)) }
    }

    /// The name of the structure's type, such as `HyperLogLog`.
    pub fn name(&self) -> &'static str {
        fn name_of<S: Held>(_: &S) -> &'static str {
            S::NAME
        }
        for_each_kind! { each (self, sketch => name_of(sketch)) }
    }

    /// The fingerprint of the hasher; 0 where nothing is hashed.
    pub fn fingerprint(&self) -> u64 {
        for_each_kind! { each (self, sketch => sketch.hashed_by()) }
    }

    /// Bytes that the sketch has allocated, as the structure says.
    pub fn size_bytes(&self) -> usize {
        for_each_kind! { each (self, sketch => sketch.bytes()) }
    }

    /// What [`Merge::merge`] promises.
    pub fn merge_law(&self) -> MergeLaw {
        for_each_kind! { each (self, sketch => sketch.law()) }
    }

    /// As decoding and [`Merge::merge`].
    pub(crate) fn take_encoded(&mut self, bytes: &[u8], lists: &ListHasher) -> Result<(), Error> {
        if wire::peek(bytes)?.kind != self.kind() {
            return Err(self.other_kind(&Self::decode(bytes, lists)?));
        }
        for_each_kind! { each (self, sketch => sketch.take_encoded(bytes, lists)) }
    }

    /// Takes in many sketches, as [`Merge::merge`] of one after the other, with the same bytes; at once where the
    /// structure can, which is quicker.
    ///
    /// # Errors
    ///
    /// As [`Merge::merge`], of the first that is refused. `self` then holds all that come before it in the list, and
    /// nothing of it or of those behind it, whatever the kind.
    pub fn merge_many(&mut self, others: &[&Self]) -> Result<(), MergeError> {
        let index = for_each_kind! { leading (&mut *self, others) }?;
        match others.get(index) {
            Some(other) => Err(MergeError { index, error: self.other_kind(other) }),
            None => Ok(()),
        }
    }

    /// Stores the entries of another cuckoo filter: all keys of both are then found. For the two kinds whose law is
    /// [`MergeLaw::Absorb`].
    ///
    /// # Errors
    ///
    /// [`Error::Kind`] if the kinds differ; [`Error::Unmergeable`] if they are none of these two; [`Error::Full`] or
    /// [`Error::DuplicateLimit`] if there is no room; [`Error::Incompatible`], [`Error::Hasher`]. `self` is then unchanged.
    pub fn absorb(&mut self, other: &Self) -> Result<(), Error> {
        for_each_kind! { both (self, other, sketch, other => sketch.take_entries(other)) }
    }

    /// The main answer, by what the sketch is for. Takes up to the time of a pass over the sketch.
    pub fn answer(&self) -> Answer {
        for_each_kind! { each (self, sketch => sketch.ask()) }
    }

    /// Whether a filter may hold the key of a hash by its hasher; no is certain. `None` if this is no filter.
    pub fn contains_hash(&self, hash: u64) -> Option<bool> {
        for_each_kind! { each (self, sketch => sketch.has(hash)) }
    }

    /// Between which bounds the count of the key of a hash lies, by the sketch's hasher; `u64::MAX` as the upper one stands
    /// for "that or more".
    ///
    /// As the structure's `bounds_hash`: the upper bound of a count-min sketch is certain, the lower one fails with a
    /// chance of at most delta; those of a count-sketch both may. Of a [`TopK`](Kind::TOP_K) they are those of the sketch within.
    /// `None` if this is no such sketch, or a decaying one: its counts depend on the time of the question.
    pub fn bounds_hash(&self, hash: u64) -> Option<(i128, i128)> {
        for_each_kind! { each (self, sketch => sketch.between(hash)) }
    }

    /// The quantile `q` of a sketch of floating-point numbers: its answer, within its contract. `None` if this is none, if
    /// it is empty, or if `q` is outside 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        for_each_kind! { each (self, sketch => sketch.value_at(q)) }
    }

    /// What the sketch is, for tools. Takes the time of [`AnySketch::to_bytes`] and of a pass over the sketch.
    pub fn describe(&self) -> Description {
        let bytes = self.to_bytes();
        for_each_kind! { each (self, sketch => Description {
            kind: self.kind(),
            name: self.name(),
            version: wire::peek(&bytes).map_or(0, |header| header.version),
            parameters: sketch.parameters(),
            fingerprint: sketch.hashed_by(),
            merge_law: sketch.law(),
            fill: sketch.fill(),
            error: sketch.stated(),
            size_bytes: sketch.bytes(),
            encoded_bytes: bytes.len(),
        }) }
    }

    /// The hasher of a list of heavy hitters.
    pub(crate) fn list_hasher(&self) -> Option<&ListHasher> {
        match self {
            #[cfg(feature = "cms")]
            Self::SpaceSaving(list) => Some(list.hasher()),
            #[cfg(feature = "cms")]
            Self::MisraGries(list) => Some(list.hasher()),
            #[cfg(feature = "cms")]
            Self::TopK(list) => Some(list.hasher()),
            #[cfg(feature = "cms")]
            Self::HeavyKeeper(list) => Some(list.hasher()),
            _ => None,
        }
    }

    fn other_kind(&self, other: &Self) -> Error {
        Error::Kind { expected: self.kind().0, found: other.kind().0 }
    }
}

/// By the [law](AnySketch::merge_law) of the kind; results of operations on theta sketches become the result of their union.
///
/// # Errors
///
/// [`Error::Kind`] if the kinds differ; [`Error::Unmergeable`] if structures of this kind do not merge;
/// [`Error::Incompatible`] names the parameter that differs, `cell_bytes`, `pane` and `item` among them;
/// [`Error::Hasher`]; else as the structure's own merge. `self` is then unchanged.
impl Merge for AnySketch {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        for_each_kind! { both (self, other, sketch, other => sketch.take(other)) }
    }
}
