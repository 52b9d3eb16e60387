//! One sketch after the other, into one.

use alloc::vec::Vec;
use core::borrow::Borrow;

use crate::{Error, Merge, MergeError, Merged, Sketch};

/// Merges all of the others into `target`, in their order: as [`Merge::merge`] one after the other, up to the first that
/// does not fit.
///
/// `others` are sketches or anything that holds them: references, boxes, `Arc`s. One at a time is asked for, so that an
/// iterator may make them as they are needed; [`Fold`] does so for bytes. Some sketches have a `merge_many` of their own,
/// which takes all or none (`HyperLogLog`, which then lowers its precision only once, and the quantile sketches).
///
/// # Errors
///
/// The first refusal. `target` then holds all those before it and nothing of the refused one, and the others have not been
/// looked at: what came in may be kept, or given up together with `target`.
///
/// ```
/// use pds_hll::prelude::*;
/// use pds_merge::merge_all;
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// let params = HllParams::with_precision(12)?;
/// let hours: Vec<HyperLogLog> = (0..24u32).map(|hour| {
///     let mut visitors = HyperLogLog::new(params);
///     visitors.extend(hour * 10..hour * 10 + 100);
///     visitors
/// }).collect();
/// let mut day = HyperLogLog::new(params);
/// merge_all(&mut day, &hours)?;
/// assert!((day.estimate() - 330.0).abs() < 1.0);
/// # Ok(())
/// # }
/// ```
pub fn merge_all<S: Merge, T: Borrow<S>>(
    target: &mut S,
    others: impl IntoIterator<Item = T>,
) -> Result<(), MergeError> {
    each(others, |other| target.merge(other.borrow()))
}

/// Merges those of the others into `target` that fit, in their order, and returns the others' refusals.
///
/// Whether a sketch fits is asked of `target`, so make that one of the shape and with the hasher that was agreed on. See
/// [`merge_all`].
#[must_use = "what was refused is missing in the target"]
pub fn merge_all_lenient<S: Merge, T: Borrow<S>>(
    target: &mut S,
    others: impl IntoIterator<Item = T>,
) -> Vec<MergeError> {
    let results = others
        .into_iter()
        .enumerate()
        .map(|(index, other)| target.merge(other.borrow()).map_err(|error| MergeError { index, error }));
    results.filter_map(Result::err).collect()
}

/// Takes in one after the other, up to the first refusal.
pub(crate) fn each<T>(
    others: impl IntoIterator<Item = T>,
    mut take: impl FnMut(T) -> Result<(), Error>,
) -> Result<(), MergeError> {
    let mut others = others.into_iter().enumerate();
    others.try_for_each(|(index, other)| take(other).map_err(|error| MergeError { index, error }))
}

/// Merges encoded sketches of one type as they come in, at most two of them decoded at a time.
///
/// The first that decodes begins the merged sketch, and the others have to fit it, unless [`Fold::onto`] sets the measure.
/// What is refused, since it does not decode or does not fit, changes nothing and is listed. Strict is `fold.push(bytes)?`;
/// lenient is to go on and to look at [`Fold::refused`] in the end.
///
/// ```
/// use pds_hll::prelude::*;
/// use pds_merge::Fold;
///
/// # fn main() -> Result<(), Error> {
/// let mut visitors = HyperLogLog::new(HllParams::with_precision(12)?);
/// visitors.extend(0..100u32);
///
/// let mut fold = Fold::<HyperLogLog>::default();
/// for report in [visitors.to_bytes(), b"no sketch".to_vec(), visitors.to_bytes()] {
///     if let Err(refusal) = fold.push(&report) {
///         println!("{refusal}");
///     }
/// }
/// assert_eq!((fold.taken(), fold.refused()[0].index), (2, 1));
/// assert_eq!(fold.finish().sketch, Some(visitors));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Fold<S: Sketch> {
    hasher: S::Hasher,
    merged: Merged<S>,
}

impl<S: Sketch> Fold<S> {
    /// Nothing yet, to be decoded with this hasher.
    pub fn new(hasher: S::Hasher) -> Self {
        Self { hasher, merged: Merged::onto(None) }
    }

    /// Merges onto this sketch, which decides what fits. It counts as no position.
    pub fn onto(sketch: S, hasher: S::Hasher) -> Self {
        Self { hasher, merged: Merged::onto(Some(sketch)) }
    }

    /// The merged sketch so far; `None` before the first.
    pub fn sketch(&self) -> Option<&S> {
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
    pub fn finish(self) -> Merged<S> {
        self.merged
    }
}

impl<S: Sketch + Merge> Fold<S>
where
    S::Hasher: Clone,
{
    /// Takes in one more.
    ///
    /// # Errors
    ///
    /// What [`Sketch::from_bytes_with`] or [`Merge::merge`] says. The merged sketch is then unchanged, the refusal is listed,
    /// and more may be pushed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        let hasher = self.hasher.clone();
        let result = match &mut self.merged.sketch {
            Some(sketch) => sketch.merge_encoded(bytes, hasher),
            none => S::from_bytes_with(bytes, hasher).map(|first| *none = Some(first)),
        };
        self.merged.count(result)
    }
}

/// With the default hasher.
impl<S: Sketch> Default for Fold<S>
where
    S::Hasher: Default,
{
    fn default() -> Self {
        Self::new(S::Hasher::default())
    }
}

/// Merges encoded sketches of one type, at most two of them decoded at a time; `None` if there are none.
///
/// # Errors
///
/// The first refusal: see [`Fold::push`]. Use a [`Fold`] to keep what came before.
pub fn merge_encoded<S: Sketch + Merge, B: AsRef<[u8]>>(
    encoded: impl IntoIterator<Item = B>,
    hasher: S::Hasher,
) -> Result<Option<S>, MergeError>
where
    S::Hasher: Clone,
{
    let mut fold = Fold::new(hasher);
    encoded.into_iter().try_for_each(|bytes| fold.push(bytes.as_ref()))?;
    Ok(fold.finish().sketch)
}

/// Merges those encoded sketches of one type that decode and fit the first one that does: see [`Fold`].
pub fn merge_encoded_lenient<S: Sketch + Merge, B: AsRef<[u8]>>(
    encoded: impl IntoIterator<Item = B>,
    hasher: S::Hasher,
) -> Merged<S>
where
    S::Hasher: Clone,
{
    let mut fold = Fold::new(hasher);
    for bytes in encoded {
        // Listed in the fold.
        let _ = fold.push(bytes.as_ref());
    }
    fold.finish()
}
