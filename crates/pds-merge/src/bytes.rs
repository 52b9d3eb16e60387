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
///     let both = merge_bytes(&[&left.to_bytes(), &right.to_bytes()]).map_err(|refused| refused.error)?;
///     let both = BloomFilter::from_bytes(&both)?;
///     assert!(both.contains("alice") && both.contains("bob"));
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// Of the first that is refused, with its index: as [`AnySketch::from_bytes`] and [`AnySketch::merge`]. Of an empty list,
/// which has no kind and so no bytes: [`Error::Malformed`] in `length`, at index 0.
pub fn merge_bytes(sketches: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    let mut fold = AnyFold::new();
    for bytes in sketches {
        fold.push(bytes)?;
    }
    let empty = MergeError { index: 0, error: Error::Malformed { field: "length" } };
    fold.finish().map(|sketch| sketch.to_bytes()).ok_or(empty)
}

/// As [`merge_bytes`], but leaves out what is refused: the bytes of the others merged, and the refusals.
///
/// The first one that decodes decides kind and parameters. If that is the odd one, all others are refused: where this can
/// happen, [`AnyFold::expecting`] says beforehand what is wanted.
pub fn merge_bytes_lenient(sketches: &[&[u8]]) -> Merged<Vec<u8>> {
    let mut fold = AnyFold::new();
    for bytes in sketches {
        fold.push_lenient(bytes);
    }
    let Merged { sketch, taken, refused } = fold.finish_lenient();
    Merged { sketch: sketch.map(|sketch| sketch.to_bytes()), taken, refused }
}

/// Merges a stream of byte forms of one kind, whichever it is, as they come.
///
/// Holds the merged sketch, and no more than one other while that is merged in; each refusal that is recorded takes some
/// ten words. Whatever bytes are pushed, nothing panics; decoding allocates as [`AnySketch::from_bytes`] says.
///
/// ```
/// use pds_hll::{HllParams, HyperLogLog};
/// use pds_merge::{AnyFold, AnySketch, Error, Sketch};
///
/// fn main() -> Result<(), Error> {
///     let params = HllParams::with_precision(12)?;
///     let empty = HyperLogLog::new(params);
///     let mut fold = AnyFold::expecting(AnySketch::from_bytes(&empty.to_bytes())?);
///     for hour in 0..24u32 {
///         let mut visitors = HyperLogLog::new(params);
///         visitors.extend(hour * 100..hour * 100 + 500);
///         fold.push_lenient(&visitors.to_bytes());
///     }
///     fold.push_lenient(b"no sketch");
///
///     assert_eq!((fold.taken(), fold.refused().len()), (24, 1));
///     assert_eq!(fold.refused()[0].to_string(), "sketch 24: malformed bytes: length");
///     println!("{}", fold.sketch().expect("24 were taken").answer());
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct AnyFold {
    sketch: Option<AnySketch>,
    lists: ListHasher,
    pushed: usize,
    taken: usize,
    refused: Vec<MergeError>,
}

impl AnyFold {
    /// A fold whose kind and parameters the first good sketch decides.
    pub fn new() -> Self {
        Self::default()
    }

    /// A fold into a sketch, empty or not, that decides kind and parameters. It does not count as taken.
    pub fn expecting(sketch: AnySketch) -> Self {
        Self { sketch: Some(sketch), ..Self::default() }
    }

    /// With the hasher of lists of heavy hitters, where it is not the default one.
    #[must_use]
    pub fn with_list_hasher(self, hasher: impl Into<ListHasher>) -> Self {
        Self { lists: hasher.into(), ..self }
    }

    /// Takes in the bytes of a sketch.
    ///
    /// # Errors
    ///
    /// As [`AnySketch::from_bytes_with`] and [`AnySketch::merge`], with the number of pushes before this one as index. Nothing
    /// has changed then but that number, and the fold can go on.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        let index = self.pushed;
        self.pushed += 1;
        self.take(bytes).map_err(|error| MergeError { index, error })?;
        self.taken += 1;
        Ok(())
    }

    /// As [`AnyFold::push`], but records a refusal in [`AnyFold::refused`]; true if the sketch was taken.
    pub fn push_lenient(&mut self, bytes: &[u8]) -> bool {
        match self.push(bytes) {
            Ok(()) => true,
            Err(refused) => {
                self.refused.push(refused);
                false
            }
        }
    }

    /// What has been merged so far; `None` before the first.
    pub fn sketch(&self) -> Option<&AnySketch> {
        self.sketch.as_ref()
    }

    /// How many sketches were taken.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The refusals of [`AnyFold::push_lenient`], in their order.
    pub fn refused(&self) -> &[MergeError] {
        &self.refused
    }

    /// The merged sketch; `None` if none was taken, nor one expected.
    pub fn finish(self) -> Option<AnySketch> {
        self.sketch
    }

    /// The merged sketch, with the number of those taken and the refusals of [`AnyFold::push_lenient`].
    pub fn finish_lenient(self) -> Merged<AnySketch> {
        Merged { sketch: self.sketch, taken: self.taken, refused: self.refused }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let other = AnySketch::decode(bytes, &self.lists)?;
        if let Some(sketch) = &mut self.sketch {
            return sketch.merge(&other);
        }
        self.sketch = Some(other);
        Ok(())
    }
}
