//! The part of a byte form that lists keys: columns of words, lengths of keys, keys.

use alloc::vec::Vec;

use pds_core::same_hasher;
use pds_core::wire::{self, Header, Kind, UNALIGNED};
use serde::{Deserialize, Serialize};

use super::WireKey;
use super::roster::Slot;
use crate::{Error, KeyHasher};

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

/// Opens a byte form, whose payload is nowhere aligned; the payload is not looked at.
pub(super) fn peek<'a, B: Serialize + Deserialize<'a>>(
    kind: Kind,
    newest: u8,
    bytes: &'a [u8],
) -> Result<(Header, B, Reader<'a>), Error> {
    let (header, body, rest) = wire::open(kind, newest, bytes)?;
    if header.alignment == UNALIGNED {
        Ok((header, body, Reader { rest }))
    } else {
        Err(Error::Malformed { field: "alignment" })
    }
}

/// The same for an owned decode: hasher and payload are checked.
pub(super) fn open<'a, B: Serialize + Deserialize<'a>>(
    kind: Kind,
    newest: u8,
    fingerprint: u64,
    bytes: &'a [u8],
) -> Result<(B, Reader<'a>), Error> {
    let (header, body, reader) = peek(kind, newest, bytes)?;
    same_hasher(fingerprint, header.fingerprint)?;
    header.verify(reader.rest)?;
    Ok((body, reader))
}

/// Takes a payload apart from its front. Nothing is allocated beyond what the payload holds.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
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

    /// The last part: the keys of these counts, each with an extra, in the order of a ranking, and no byte behind them.
    pub(super) fn slots<K: WireKey, X>(
        self,
        counts: impl ExactSizeIterator<Item = u64>,
        extras: impl Iterator<Item = X>,
        hasher: &impl KeyHasher,
    ) -> Result<Vec<Slot<K, X>>, Error> {
        let keys = self.keys::<K>(counts.len() as u64)?;
        let slot = |((key, count), extra)| Slot { hash: hasher.hash_key(&key), key, count, extra };
        let slots: Vec<_> = keys.into_iter().zip(counts).zip(extras).map(slot).collect();
        check_order(&slots)?;
        Ok(slots)
    }

    fn keys<K: WireKey>(mut self, len: u64) -> Result<Vec<K>, Error> {
        let lengths = self.column(len)?;
        // Without a capacity: a key may be larger in memory than the word of its length, until its bytes are there.
        let mut keys = Vec::new();
        for length in lengths {
            keys.push(K::read_key(self.bytes(length)?).ok_or(Error::Malformed { field: "key" })?);
        }
        if self.rest.is_empty() { Ok(keys) } else { Err(Error::Malformed { field: "payload length" }) }
    }
}

/// Checks that counts are positive and, with the hashes of their keys, in the order of a ranking.
fn check_order<K, X>(slots: &[Slot<K, X>]) -> Result<(), Error> {
    let mut last = None;
    for item in slots.iter().map(|slot| (slot.count, slot.hash)) {
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
