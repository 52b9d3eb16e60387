//! Merging of byte forms, of whatever kind.

use alloc::vec::Vec;

use crate::{AnySketch, Error, ListHasher, MergeError, Merged};

/// Merges the byte forms of sketches of one kind, whichever it is: the bytes of the merged sketch.
///
/// The first one decides kind and parameters. One alone is decoded and written again. No more than two sketches are decoded
/// at a time.
///
/// ```
/// use pds_bloom::{BloomFilter, BloomParams};
/// use pds_merge::{Error, Sketch, merge_bytes};
///
/// fn main() -> Result<(), Error> {
///     let params = BloomParams::for_fpr(1000, 0.01)?;
///     let [mut left, mut right] = [BloomFilter::new(params), BloomFilter::new(params)];
///     left.insert("alice");
///     right.insert("bob");
///
///     let both = merge_bytes([left.to_bytes(), right.to_bytes()]).map_err(|refused| refused.error)?;
///     let both = BloomFilter::from_bytes(&both)?;
///     assert!(both.contains("alice") && both.contains("bob"));
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// Of the first that is refused, with its index: as [`AnySketch::from_bytes`] and the
/// [merge](AnySketch#impl-Merge-for-AnySketch). Of an empty list,
/// which has no kind and so no bytes: [`Error::Malformed`] in `length`, at index 0.
pub fn merge_bytes<B: AsRef<[u8]>>(encoded: impl IntoIterator<Item = B>) -> Result<Vec<u8>, MergeError> {
    let mut fold = AnyFold::default();
    encoded.into_iter().try_for_each(|bytes| fold.push(bytes.as_ref()))?;
    let none = MergeError { index: 0, error: Error::Malformed { field: "length" } };
    fold.finish().sketch.map(|sketch| sketch.to_bytes()).ok_or(none)
}

/// As [`merge_bytes`], but leaves out what is refused: the bytes of the others merged, and the refusals.
///
/// The first one that decodes decides kind and parameters. If that is the odd one, all others are refused: where this can
/// happen, [`AnyFold::onto`] says beforehand what is wanted.
pub fn merge_bytes_lenient<B: AsRef<[u8]>>(encoded: impl IntoIterator<Item = B>) -> Merged<Vec<u8>> {
    let mut fold = AnyFold::default();
    for bytes in encoded {
        // Listed in the fold.
        let _ = fold.push(bytes.as_ref());
    }
    let Merged { sketch, taken, refused } = fold.finish();
    Merged { sketch: sketch.map(|sketch| sketch.to_bytes()), taken, refused }
}

/// Merges the byte forms of sketches of one kind, whichever it is, as they come in, at most two of them decoded at a time.
///
/// As [`Fold`](crate::Fold) for one type: the first that decodes begins the merged sketch, and the others have to fit it,
/// unless [`AnyFold::onto`] sets the measure. What is refused, since it does not decode or does not fit, changes nothing and
/// is listed, which takes some eight words each. Strict is `fold.push(bytes)?`; lenient is to go on and to look at
/// [`AnyFold::refused`] in the end.
///
/// Bytes may come from strangers: nothing panics, and decoding allocates as [`AnySketch::from_bytes`] says.
///
/// ```
/// use pds_hll::{HllParams, HyperLogLog};
/// use pds_merge::{AnyFold, AnySketch, Error, Sketch};
///
/// # fn main() -> Result<(), Error> {
/// let params = HllParams::with_precision(12)?;
/// let empty = AnySketch::from_bytes(&HyperLogLog::new(params).to_bytes())?;
/// let mut fold = AnyFold::onto(empty);
/// for hour in 0..24u32 {
///     let mut visitors = HyperLogLog::new(params);
///     visitors.extend(hour * 100..hour * 100 + 500);
///     let _ = fold.push(&visitors.to_bytes());
/// }
/// let _ = fold.push(b"no sketch");
///
/// assert_eq!((fold.taken(), fold.refused().len()), (24, 1));
/// assert_eq!(fold.refused()[0].to_string(), "sketch 24: malformed bytes: length");
/// println!("{}", fold.sketch().expect("there is one").answer());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AnyFold {
    lists: ListHasher,
    merged: Merged<AnySketch>,
}

impl AnyFold {
    /// Nothing yet; lists of heavy hitters are to be decoded with this hasher, which serves no other kind.
    pub fn new(lists: impl Into<ListHasher>) -> Self {
        Self { lists: lists.into(), merged: Merged::onto(None) }
    }

    /// Merges onto this sketch, empty or not, which decides what fits. It counts as no position.
    pub fn onto(sketch: AnySketch) -> Self {
        let lists = sketch.list_hasher().cloned().unwrap_or_default();
        Self { lists, merged: Merged::onto(Some(sketch)) }
    }

    /// The merged sketch so far; `None` before the first.
    pub fn sketch(&self) -> Option<&AnySketch> {
        self.merged.sketch.as_ref()
    }

    /// How many were taken.
    pub fn taken(&self) -> usize {
        self.merged.taken
    }

    /// Those that were not, by their position among all that were pushed.
    pub fn refused(&self) -> &[MergeError] {
        &self.merged.refused
    }

    /// The merged sketch, and what was refused.
    pub fn finish(self) -> Merged<AnySketch> {
        self.merged
    }

    /// Takes in one more.
    ///
    /// # Errors
    ///
    /// What [`AnySketch::from_bytes_with`] or the [merge](AnySketch#impl-Merge-for-AnySketch) says. The merged sketch is then
    /// unchanged, the refusal is listed, and more may be pushed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        let result = match &mut self.merged.sketch {
            Some(sketch) => sketch.take_encoded(bytes, &self.lists),
            none => AnySketch::decode(bytes, &self.lists).map(|first| *none = Some(first)),
        };
        self.merged.count(result)
    }
}

/// With the default hasher of lists.
impl Default for AnyFold {
    fn default() -> Self {
        Self::new(ListHasher::default())
    }
}
