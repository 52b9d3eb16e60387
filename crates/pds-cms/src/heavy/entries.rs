//! The part of a byte form that lists keys: columns of words, lengths of keys, keys.

use alloc::vec::Vec;

use pds_core::wire;

use super::WireKey;
use crate::Error;

/// Appends the lengths of keys, as words, and then their bytes.
pub(super) fn put_keys<'a, K: WireKey + 'a>(bytes: &mut Vec<u8>, keys: impl Iterator<Item = &'a K>) {
    let (mut lengths, mut joined) = (Vec::new(), Vec::new());
    for key in keys {
        let start = joined.len();
        key.write_key(&mut joined);
        lengths.push((joined.len() - start) as u64);
    }
    wire::put_words(bytes, &lengths);
    bytes.extend_from_slice(&joined);
}

/// Appends a column of words.
pub(super) fn put_column(bytes: &mut Vec<u8>, column: impl Iterator<Item = u64>) {
    bytes.extend(column.flat_map(u64::to_le_bytes));
}

/// Takes a payload apart from its front. Nothing is allocated beyond what the payload holds.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// The next `len` bytes.
    pub(super) fn bytes(&mut self, len: u64) -> Result<&'a [u8], Error> {
        let len = usize::try_from(len).ok().filter(|&len| len <= self.rest.len());
        let (head, rest) = self.rest.split_at(len.ok_or(Error::Malformed { field: "payload length" })?);
        self.rest = rest;
        Ok(head)
    }

    /// The next column of `len` words.
    pub(super) fn column(
        &mut self,
        len: u64,
    ) -> Result<impl ExactSizeIterator<Item = u64> + Clone + use<'a>, Error> {
        let bytes = len.checked_mul(8).ok_or(Error::Malformed { field: "payload length" })?;
        let (words, _) = self.bytes(bytes)?.as_chunks::<8>();
        Ok(words.iter().map(|&word| u64::from_le_bytes(word)))
    }

    /// The last part: `len` keys, and no byte behind them.
    pub(super) fn keys<K: WireKey>(mut self, len: u64) -> Result<Vec<K>, Error> {
        let lengths = self.column(len)?;
        // Without a capacity: a key may be larger in memory than the word of its length, until its bytes are there.
        let mut keys = Vec::new();
        for length in lengths {
            keys.push(K::read_key(self.bytes(length)?).ok_or(Error::Malformed { field: "key" })?);
        }
        if self.rest.is_empty() { Ok(keys) } else { Err(Error::Malformed { field: "payload length" }) }
    }
}

/// Checks that listed counts, with the hashes of their keys, are positive and in the order of a ranking.
pub(super) fn check_order(counts_and_hashes: impl Iterator<Item = (u64, u64)>) -> Result<(), Error> {
    let mut last = None;
    for item in counts_and_hashes {
        if item.0 == 0 {
            return Err(Error::Malformed { field: "count" });
        }
        if last.is_some_and(|last| item > last) {
            return Err(Error::Malformed { field: "order" });
        }
        last = Some(item);
    }
    Ok(())
}
