//! What a byte form promises, as methods that assert and a macro that makes property tests of them.

use pds_core::{Error, Sketch};

use crate::SplitMix64;
use crate::envelope::{forge, payload_start, reseal};

/// How many bytes one law may decode in all. Longer envelopes are tried at fewer places, so that a call takes
/// milliseconds.
const WORK: usize = 4 << 20;

/// How the bytes of a sketch are read. The laws of the wire are its methods.
///
/// The parts are function pointers: a hasher that is needed for decoding is made inside.
///
/// ```text
/// const LAWS: WireLaws<BloomFilter> = WireLaws {
///     exercise: |filter| { filter.contains(&1u64); },
///     view: |bytes| { BloomFilter::view(bytes).map(|view| view.contains(&1u64)).ok(); },
///     ..WireLaws::new(BloomFilter::from_bytes)
/// };
/// ```
pub struct WireLaws<S> {
    /// The owned decode.
    pub decode: fn(&[u8]) -> Result<S, Error>,
    /// Asks a decoded sketch everything that it answers; called with whatever decodes.
    pub exercise: fn(&S),
    /// Opens a view, if there is one, and asks it everything; called with whatever bytes, valid or not.
    pub view: fn(&[u8]),
}

impl<S> Clone for WireLaws<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for WireLaws<S> {}

impl<S> WireLaws<S> {
    /// Laws of a decoder alone: nothing is exercised, there is no view.
    pub const fn new(decode: fn(&[u8]) -> Result<S, Error>) -> Self {
        Self { decode, exercise: |_| (), view: |_| () }
    }
}

/// # Panics
///
/// Every method panics if its law does not hold; where it says "survives", if the code under test panics.
#[allow(clippy::missing_panics_doc)] // said once, above
impl<S: Sketch> WireLaws<S> {
    /// Asserts every law that one sketch is enough for.
    pub fn all(self, sketch: &S) {
        let bytes = self.round_trips(sketch);
        self.refuses_other_lengths(&bytes);
        self.refuses_every_changed_byte(&bytes);
        self.survives_resealed_changes(&bytes);
    }

    /// Asserts that a sketch decodes from its bytes and has them still, with its kind in front; gives the bytes.
    pub fn round_trips(self, sketch: &S) -> Vec<u8> {
        let bytes = sketch.to_bytes();
        assert_eq!(&bytes[..5], [b'P', b'D', b'S', b'1', S::KIND.0], "no envelope of its kind");
        assert!(payload_start(&bytes).is_some(), "the checksums match nowhere");
        match (self.decode)(&bytes) {
            Ok(decoded) => assert!(decoded.to_bytes() == bytes, "decoding changes the bytes"),
            Err(error) => panic!("its own bytes are refused: {error}"),
        }
        self.survives(&bytes);
        bytes
    }

    /// Asserts that a decoded sketch equals the sketch, by `PartialEq`.
    pub fn round_trips_to_an_equal(self, sketch: &S)
    where
        S: PartialEq,
    {
        let decoded = (self.decode)(&sketch.to_bytes());
        assert!(decoded.is_ok_and(|decoded| decoded == *sketch), "decoding gives another sketch");
    }

    /// Asserts that valid bytes are refused when cut at any length, and with any byte behind them.
    pub fn refuses_other_lengths(self, bytes: &[u8]) {
        for len in places(bytes.len(), 1) {
            self.refuses(&bytes[..len], &format!("the first {len} of {} bytes decode", bytes.len()));
        }
        for last in [0, 1, 0xff] {
            self.refuses(&[bytes, &[last]].concat(), &format!("they decode with {last} behind them"));
        }
    }

    /// Asserts that the owned decode refuses valid bytes with any one of them changed.
    ///
    /// Up to 128 bytes to every other value; beyond, bit by bit; far beyond, not at every place.
    pub fn refuses_every_changed_byte(self, bytes: &[u8]) {
        changes(bytes, |changed, at| self.refuses(changed, &format!("they decode with byte {at} changed")));
    }

    /// Asserts that any change behind right checksums is survived: of any byte, and of the payload's length.
    ///
    /// It may be refused or accepted; what is accepted is exercised.
    pub fn survives_resealed_changes(self, bytes: &[u8]) {
        let start = start_of(bytes);
        changes(bytes, |changed, _| {
            reseal(changed, start);
            self.survives(changed);
        });
        for len in places(bytes.len(), 1).filter(|&len| len >= start) {
            let mut cut = bytes[..len].to_vec();
            reseal(&mut cut, start);
            self.survives(&cut);
        }
        for more in [1, 7, 8, 64, 4096] {
            let mut longer = [bytes, &vec![0xff; more]].concat();
            reseal(&mut longer, start);
            self.survives(&longer);
        }
    }

    /// Asserts that any parameters and any payload behind the header of valid bytes and right checksums are
    /// survived.
    pub fn survives_forgeries(self, bytes: &[u8], params: &[u8], payload: &[u8]) {
        let start = start_of(bytes);
        self.survives(&forge(bytes, params, payload));
        self.survives(&forge(bytes, params, &bytes[start..]));
        let mut other_payload = [&bytes[..start], payload].concat();
        reseal(&mut other_payload, start);
        self.survives(&other_payload);
    }

    /// Asserts that whatever decodes, of all resealed changes of one byte, has the very bytes that it came from.
    ///
    /// One state, one byte form: a decoder that accepts another one lets equal sketches differ.
    pub fn accepts_canonical_bytes_only(self, bytes: &[u8]) {
        let start = start_of(bytes);
        changes(bytes, |changed, at| {
            reseal(changed, start);
            if let Ok(decoded) = (self.decode)(changed) {
                assert!(decoded.to_bytes() == changed, "byte {at} has two values for one state");
            }
        });
    }

    /// Asserts that any bytes are survived: decoded or refused, exercised, viewed.
    pub fn survives(self, bytes: &[u8]) {
        if let Ok(decoded) = (self.decode)(bytes) {
            (self.exercise)(&decoded);
        }
        (self.view)(bytes);
    }

    fn refuses(self, bytes: &[u8], broken: &str) {
        assert!((self.decode)(bytes).is_err(), "{broken}");
        (self.view)(bytes);
    }
}

/// Asserts that equal sets inserted in other orders have the same bytes.
///
/// # Panics
///
/// If they have not.
pub fn canonical_bytes_law<S: Sketch>(build: impl Fn(&[u64]) -> S, keys: &[u64]) {
    let bytes = build(keys).to_bytes();
    let mut order = keys.to_vec();
    order.reverse();
    assert!(build(&order).to_bytes() == bytes, "keys in reverse have other bytes");
    order.sort_unstable();
    assert!(build(&order).to_bytes() == bytes, "sorted keys have other bytes");
    SplitMix64::new(keys.len() as u64).shuffle(&mut order);
    assert!(build(&order).to_bytes() == bytes, "shuffled keys have other bytes");
}

/// Makes a module of property tests that hold a type to its [`WireLaws`].
///
/// Takes the module's name, the laws, and a function or closure from `&[u64]` to the sketch of these keys;
/// `canonical` behind it adds [`canonical_bytes_law`].
///
/// ```text
/// pds_testkit::wire_laws! { bloom_bytes, LAWS, build, canonical }
/// ```
#[macro_export]
macro_rules! wire_laws {
    ($name:ident, $laws:expr, $build:expr $(, $canonical:ident)? $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::proptest::proptest! {
                #![proptest_config($crate::proptest::test_runner::Config::with_cases(24))]

                #[test]
                fn bytes_round_trip_and_damage_is_refused(keys in $crate::key_lists()) {
                    $laws.all(&$crate::built($build, &keys));
                }
            }

            $crate::proptest::proptest! {
                #[test]
                fn hostile_bytes_are_survived(
                    keys in $crate::proptest::collection::vec($crate::proptest::num::u64::ANY, 0..64),
                    params in $crate::proptest::collection::vec($crate::proptest::num::u8::ANY, 0..64),
                    payload in $crate::proptest::collection::vec($crate::proptest::num::u8::ANY, 0..512),
                ) {
                    let bytes = $laws.round_trips(&$crate::built($build, &keys));
                    $laws.survives(&payload);
                    $laws.survives_forgeries(&bytes, &params, &payload);
                }
            }

            $($crate::wire_laws! { @ $canonical, $build })?
        }
    };
    (@ canonical, $build:expr) => {
        $crate::proptest::proptest! {
            #[test]
            fn equal_sets_have_equal_bytes(keys in $crate::key_lists()) {
                $crate::canonical_bytes_law($build, &keys);
            }
        }
    };
}

/// Gives a closure of the macros its argument's type.
#[doc(hidden)]
pub fn built<S>(build: impl Fn(&[u64]) -> S, keys: &[u64]) -> S {
    build(keys)
}

/// The start of the payload of valid bytes.
fn start_of(bytes: &[u8]) -> usize {
    payload_start(bytes).expect("the bytes of a sketch, whose checksums match")
}

/// Calls `law` with copies of the bytes that differ from them in the byte at the place given to it.
fn changes(bytes: &[u8], mut law: impl FnMut(&mut [u8], usize)) {
    let every: Vec<u8> = (1..=255).collect();
    let bits = [1, 2, 4, 8, 16, 32, 64, 128, 255];
    // Saturating: on a platform of 32 bits the work of long bytes is beyond a `usize`.
    let work = bytes.len().saturating_mul(bytes.len()).saturating_mul(every.len());
    let masks = if work <= WORK { &every[..] } else { &bits[..] };
    let mut changed = bytes.to_vec();
    for at in places(bytes.len(), masks.len()) {
        for mask in masks {
            changed[at] ^= mask;
            law(&mut changed, at);
            changed.copy_from_slice(bytes);
        }
    }
}

/// Places in `0..len` at which to try so many things that each take time in `len`: every place if that is
/// within [`WORK`], else both ends and an odd stride between, which meets every byte of a word.
fn places(len: usize, tries: usize) -> impl Iterator<Item = usize> {
    const HEAD: usize = 64;
    const TAIL: usize = 16;
    let affordable = WORK / len.saturating_mul(tries).max(1);
    let stride = if len <= affordable { 1 } else { (len / affordable.max(1)) | 1 };
    (0..len).filter(move |at| *at < HEAD || at + TAIL >= len || at % stride == 0)
}

#[cfg(test)]
mod tests;
