//! Changes of bytes, as a fuzzer makes them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A change somewhere in the bytes.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    place: Place,
    edit: Edit,
}

/// Where: anywhere, or where header and parameters are.
#[derive(Clone, Debug)]
enum Place {
    Anywhere(Index),
    Front(usize),
}

#[derive(Clone, Debug)]
enum Edit {
    Set(u8),
    Flip(u8),
    Insert(Vec<u8>),
    Delete(usize),
    Word([u8; 8]),
    Cut,
}

/// Numbers that end something.
const ENDS: [u64; 8] =
    [0, 1, u64::MAX, 1 << 63, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000, 1 << 32, u32::MAX as u64];

/// Some changes.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let place = prop_oneof![
        any::<Index>().prop_map(Place::Anywhere),
        (24..48usize).prop_map(Place::Front),
        (0..80usize).prop_map(Place::Front),
    ];
    let edit = prop_oneof![
        4 => any::<u8>().prop_map(Edit::Set),
        3 => (0..8u8).prop_map(|bit| Edit::Flip(1 << bit)),
        1 => vec(any::<u8>(), 1..9).prop_map(Edit::Insert),
        1 => (1..9usize).prop_map(Edit::Delete),
        1 => proptest::sample::select(ENDS.to_vec()).prop_map(|end| Edit::Word(end.to_le_bytes())),
        1 => Just(Edit::Cut),
    ];
    vec((place, edit).prop_map(|(place, edit)| Change { place, edit }), 0..5)
}

/// The bytes after the changes.
pub(crate) fn changed(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for Change { place, edit } in changes {
        if bytes.is_empty() {
            break;
        }
        let at = match place {
            Place::Anywhere(index) => index.index(bytes.len()),
            Place::Front(at) => (*at).min(bytes.len() - 1),
        };
        match edit {
            Edit::Set(value) => bytes[at] = *value,
            Edit::Flip(mask) => bytes[at] ^= mask,
            Edit::Insert(more) => _ = bytes.splice(at..at, more.iter().copied()),
            Edit::Delete(count) => _ = bytes.drain(at..(at + count).min(bytes.len())),
            Edit::Word(word) => bytes.iter_mut().skip(at).zip(word).for_each(|(byte, new)| *byte = *new),
            Edit::Cut => bytes.truncate(at),
        }
    }
    bytes
}
