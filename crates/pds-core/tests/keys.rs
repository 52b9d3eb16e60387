//! The canonical bytes of every key type.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use pds_core::{Fingerprint, Key, KeyHasher, Prehashed, fingerprint_of, frame, frame_into, same_hasher};

/// Records the bytes that it is asked to hash.
#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Vec<u8>>>);

impl Fingerprint for Recorder {
    fn fingerprint(&self) -> u64 {
        fingerprint_of(self)
    }
}

impl KeyHasher for Recorder {
    fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        *self.0.borrow_mut() = bytes.to_vec();
        0
    }
}

fn bytes_of<K: Key + ?Sized>(key: &K) -> Vec<u8> {
    let recorder = Recorder::default();
    recorder.hash_key(key);
    recorder.0.take()
}

#[test]
fn an_integer_is_its_value_whatever_its_width() {
    let five = 5u64.to_le_bytes();
    assert_eq!(bytes_of(&5u8), five);
    assert_eq!(bytes_of(&5u16), five);
    assert_eq!(bytes_of(&5u32), five);
    assert_eq!(bytes_of(&5u64), five);
    assert_eq!(bytes_of(&5usize), five);
    assert_eq!(bytes_of(&5i8), five);
    assert_eq!(bytes_of(&5i16), five);
    assert_eq!(bytes_of(&5i32), five);
    assert_eq!(bytes_of(&5i64), five);
    assert_eq!(bytes_of(&5isize), five);
    assert_eq!(bytes_of(&5u128), five);
    assert_eq!(bytes_of(&5i128), five);
}

#[test]
fn a_negative_integer_is_sign_extended() {
    let minus_two = (-2i64).to_le_bytes();
    assert_eq!(bytes_of(&-2i8), minus_two);
    assert_eq!(bytes_of(&-2i32), minus_two);
    assert_eq!(bytes_of(&-2isize), minus_two);
    assert_eq!(bytes_of(&-2i128), minus_two);
    assert_eq!(bytes_of(&-1i64), bytes_of(&u64::MAX));
}

#[test]
fn a_wide_integer_takes_sixteen_bytes_only_when_it_must() {
    assert_eq!(bytes_of(&u128::from(u64::MAX)).len(), 8);
    assert_eq!(bytes_of(&(u128::from(u64::MAX) + 1)).len(), 16);
    assert_eq!(bytes_of(&i128::from(i64::MIN)).len(), 8);
    assert_eq!(bytes_of(&(i128::from(i64::MIN) - 1)).len(), 16);
    assert_eq!(bytes_of(&(i128::from(i64::MAX) + 1)).len(), 16);
    assert_eq!(bytes_of(&u128::MAX), [0xff; 16]);
}

#[test]
fn a_float_has_one_zero_and_one_nan() {
    assert_eq!(bytes_of(&-0.0f64), bytes_of(&0.0f64));
    assert_eq!(bytes_of(&-0.0f32), bytes_of(&0.0f64));
    assert_eq!(bytes_of(&f32::NAN), bytes_of(&f64::NAN));
    assert_eq!(bytes_of(&f64::from_bits(0xfff8_0000_0000_0001)), 0x7ff8_0000_0000_0000u64.to_le_bytes());
    assert_eq!(bytes_of(&1.5f32), 1.5f64.to_le_bytes());
    assert_eq!(bytes_of(&f64::NEG_INFINITY), f64::NEG_INFINITY.to_le_bytes());
}

#[test]
fn text_and_bytes_are_themselves_whatever_holds_them() {
    let word = b"word";
    assert_eq!(bytes_of("word"), word);
    assert_eq!(bytes_of(&String::from("word")), word);
    assert_eq!(bytes_of(&word[..]), word);
    assert_eq!(bytes_of(word), word);
    assert_eq!(bytes_of(&word.to_vec()), word);
    assert_eq!(bytes_of(&&&"word"), word);
    assert_eq!(bytes_of(&Box::<str>::from("word")), word);
    assert_eq!(bytes_of(&Rc::<str>::from("word")), word);
    assert_eq!(bytes_of(&Arc::new(String::from("word"))), word);
    assert_eq!(bytes_of(&Cow::<str>::Borrowed("word")), word);
    assert_eq!(bytes_of(&Cow::<[u8]>::Owned(word.to_vec())), word);
    assert_eq!(bytes_of::<&mut &str>(&&mut "word"), word);
    assert_eq!(bytes_of(""), b"");
}

#[test]
fn a_bool_and_a_char_are_integers() {
    assert_eq!(bytes_of(&true), 1u64.to_le_bytes());
    assert_eq!(bytes_of(&false), 0u64.to_le_bytes());
    assert_eq!(bytes_of(&'A'), 65u64.to_le_bytes());
    assert_eq!(bytes_of(&'\u{10ffff}'), 0x10_ffffu64.to_le_bytes());
}

#[test]
fn a_frame_tells_where_its_parts_end() {
    let parts: [&[&[u8]]; 6] = [&[], &[b""], &[b"", b""], &[b"abc"], &[b"ab", b"c"], &[b"a", b"bc"]];
    for (i, left) in parts.iter().enumerate() {
        for right in &parts[..i] {
            assert_ne!(frame(left), frame(right));
        }
    }
    let mut buffer = b"left over".to_vec();
    frame_into(&mut buffer, &[b"ab", b"c"]);
    assert_eq!(buffer, frame(&[b"ab", b"c"]));
}

#[test]
fn a_fingerprint_is_never_the_one_of_hashing_nothing() {
    assert_eq!(Recorder::default().fingerprint(), 1);
    assert_eq!(().fingerprint(), 0);
    let stand_in = Prehashed(std::num::NonZeroU64::MAX);
    assert_eq!(stand_in.fingerprint(), u64::MAX);
    assert!(same_hasher(1, 1).is_ok());
    assert!(same_hasher(1, 2).is_err());
}
