//! Every decoder and every view.

use pds_core::Error;
use pds_core::wire::{self, Kind};

use crate::envelope::sealed;
use crate::kinds::{Visitor, visit_types};
use crate::probe::Probe;
use crate::subject::{Subject, hold};

/// How far from where the bytes say the payload is looked for: a mutated parameter is a byte or two longer or shorter.
const SHIFTS: [i64; 7] = [0, 1, -1, 2, -2, 3, -3];

/// Arbitrary bytes, as they are and [sealed]: refused, or decoded and asked, changed, encoded and decoded again.
///
/// The kind is that which the bytes name; every type of it decodes them.
pub fn decode(data: &[u8]) {
    let Some(&kind) = data.get(4) else { return };
    _ = wire::peek(data);
    let mut decoder = Decoder { data, probe: Probe::of(data) };
    visit_types(Kind(kind), &mut decoder);
}

struct Decoder<'a> {
    data: &'a [u8],
    probe: Probe,
}

impl Visitor for Decoder<'_> {
    fn visit<S: Subject>(&mut self) {
        _ = hold::<S>(self.data, &self.probe);
        for shift in SHIFTS {
            let Some(bytes) = sealed(self.data, shift) else { return };
            match hold::<S>(&bytes, &self.probe) {
                // The parameters end elsewhere.
                Err(Error::Checksum | Error::Malformed { field: "length" }) => {}
                _ => return,
            }
        }
    }
}
