//! Published vectors and pinned values: a hash never changes.

use pds_hash::{
    Fingerprint, KeyHasher, MAX_ROWS, Probes, SipHasher, SipHasher24, WyHasher, column, mix, most_items,
    reduce, route,
};
use pds_testkit::fewer_interpreted;

/// The reference implementation's test vectors for final version 3, with the standard secret. A message's
/// seed is its position.
const WYHASH_VECTORS: [(&str, u64); 7] = [
    ("", 0x42bc_986d_c5ee_c4d3),
    ("a", 0x8450_8dc9_03c3_1551),
    ("abc", 0x0bc5_4887_cfc9_ecb1),
    ("message digest", 0x6e2f_f329_8208_a67c),
    ("abcdefghijklmnopqrstuvwxyz", 0x9a64_e42e_8971_95b9),
    ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0x9199_3832_39c3_2554),
    (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        0x7c1c_cf6b_ba30_f5a5,
    ),
];

const STANDARD_SECRET: [u64; 4] =
    [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];

#[test]
fn the_one_shot_function_is_wyhash_final_3() {
    for (seed, (message, hash)) in WYHASH_VECTORS.iter().enumerate() {
        let got = wyhash::final3::wyhash(message.as_bytes(), seed as u64, STANDARD_SECRET);
        assert_eq!(got, *hash, "{message:?}");
    }
    assert_eq!(WyHasher::default().hash_bytes(b""), WYHASH_VECTORS[0].1);
}

/// The messages 00, 00 01, 00 01 02, .. of the `SipHash` paper's appendix, under the key 00 01 .. 0f.
#[test]
fn the_keyed_hashers_are_siphash() {
    let bytes: Vec<u8> = (0..16).collect();
    let key: [u8; 16] = bytes[..16].try_into().expect("16 bytes");
    assert_eq!(SipHasher24::new(key).hash_bytes(&bytes[..15]), 0xa129_ca61_49be_45e5);
    assert_eq!(SipHasher24::new(key).hash_bytes(b""), 0x726f_db47_dd0e_0e31);
    assert_eq!(SipHasher::new(key).hash_bytes(b""), 0xabac_0158_050f_c4dc);
    assert_eq!(SipHasher::new(key).hash_bytes(&bytes[..1]), 0xc9f4_9bf3_7d57_ca93);
}

#[test]
fn pinned_hashes_and_fingerprints_stay() {
    let default = WyHasher::default();
    let seeded = WyHasher::with_seed(1);
    let keyed = SipHasher::new(*b"sixteen byte key");
    let strict = SipHasher24::new(*b"sixteen byte key");
    let got = [
        default.fingerprint(),
        seeded.fingerprint(),
        keyed.fingerprint(),
        strict.fingerprint(),
        default.hash_key(&42u64),
        seeded.hash_key(&42u64),
        default.hash_key("a string of more than forty-eight bytes, to take the long loop"),
        mix(1),
        u64::from(route(1, u32::MAX)),
    ];
    assert_eq!(got.map(|value| format!("{value:016x}")), PINNED);
}

const PINNED: [&str; 9] = [
    "64a298c27f821545",
    "10041985f84e4327",
    "bb6e926b5b87fba6",
    "9c6507773deded9a",
    "c73c7e9ff277cd8f",
    "049315c807919904",
    "b25967dcf4f25e6d",
    "5692161d100b05e5",
    "00000000e4d97176",
];

#[test]
fn positions_and_columns_stay() {
    let mut probes = Probes::new(0x0123_4567_89ab_cdef);
    let positions: Vec<(u64, u32)> = (0..4).map(|_| probes.next(1 << 40)).collect();
    let columns: Vec<u64> =
        (0..MAX_ROWS).map(|row| column(0x0123_4567_89ab_cdef, row, 1 << 16)).take(4).collect();
    assert_eq!(
        positions,
        [(4_886_718_345, 47), (401_656_147_214, 40), (591_226_638_040, 16), (652_817_392_154, 17)]
    );
    assert_eq!(columns, [16_748, 43_416, 8_287, 16_054]);
}

#[test]
fn eight_bytes_hash_alike_on_both_paths() {
    let values = (0..1000u64).map(mix).chain([0, 1, u64::MAX, 1 << 63]);
    for value in values {
        for seed in [0, 1, u64::MAX] {
            let hasher = WyHasher::with_seed(seed);
            assert_eq!(hasher.hash_u64(value), hasher.hash_bytes(&value.to_le_bytes()));
            // Where pointers have 32 bits, the crate makes other secrets.
            if cfg!(target_pointer_width = "64") || seed == 0 {
                let secret = if seed == 0 { STANDARD_SECRET } else { wyhash::final3::make_secret(seed) };
                let crates = wyhash::final3::wyhash(&value.to_le_bytes(), seed, secret);
                assert_eq!(hasher.hash_u64(value), crates);
            }
        }
        let keyed = SipHasher::new([7; 16]);
        assert_eq!(keyed.hash_u64(value), keyed.hash_bytes(&value.to_le_bytes()));
    }
}

/// A longer message takes all words of the secret. The crate's secrets are right where pointers have 64 bits.
#[test]
fn seeds_make_the_secrets_of_wyhash() {
    let message = [7; 100];
    if cfg!(target_pointer_width = "64") {
        for seed in (1..=fewer_interpreted(100)).map(mix).chain([1, u64::MAX]) {
            let crates = wyhash::final3::wyhash(&message, seed, wyhash::final3::make_secret(seed));
            assert_eq!(WyHasher::with_seed(seed).hash_bytes(&message), crates, "{seed}");
        }
    }
    assert_eq!(WyHasher::with_seed(1).hash_bytes(&message), SEEDED);
}

/// Of seed 1.
const SEEDED: u64 = 0x8dce_6b2d_9ba7_59a6;

/// What this platform's own limit is, and what that of others would be.
#[test]
fn an_allocation_holds_half_of_the_address_space() {
    assert_eq!(most_items(1, usize::BITS), isize::MAX as u64);
    assert_eq!([16, 32, 64].map(|bits| most_items(8, bits)), [4095, (1 << 28) - 1, (1 << 60) - 1]);
    assert_eq!([1, 2].map(|bits| most_items(1, bits)), [0, 1]);
}

#[test]
fn ranges_beyond_32_bits_are_covered_whole() {
    for range in [1, 2, 3, (1 << 32) - 1, (1 << 32) + 1, 1 << 40, u64::MAX] {
        assert_eq!(reduce(0, range), 0);
        assert_eq!(reduce(u64::MAX, range), range - 1);
    }
    assert_eq!(reduce(u64::MAX, 0), 0);
    assert!((0..1000).any(|hash| reduce(mix(hash), 1 << 40) > u64::from(u32::MAX)));
}

#[test]
fn a_probe_is_a_word_below_their_number_and_a_bit_of_it() {
    for words in [1, 2, 3, (1 << 20) - 1, 1 << 20, (1 << 32) + 1, (1 << 58) - 1, 1 << 58, u64::MAX] {
        for hash in (0..1000).map(mix).chain([0, 1, u64::MAX, 1 << 63]) {
            let mut probes = Probes::new(hash);
            for _ in 0..64 {
                let (word, bit) = probes.next(words);
                assert!(word < words && bit < 64);
            }
        }
    }
    assert_eq!(Probes::new(u64::MAX).next(0).0, 0);
}

#[test]
fn a_seed_derives_its_own_secret() {
    // 16-byte keys that carry a word of the standard secret multiply by zero, whatever the seed, when the secret
    // is public; with a derived secret they are keys like any other.
    let second = 0xe703_7ed1_a0b4_28dbu64;
    let colliding: Vec<[u8; 16]> = (0..100u32)
        .map(|i| {
            let mut key = [0; 16];
            key[..4].copy_from_slice(&((second >> 32) as u32).to_le_bytes());
            key[8..12].copy_from_slice(&(second as u32).to_le_bytes());
            key[12..].copy_from_slice(&i.to_le_bytes());
            key
        })
        .collect();
    let distinct = |hasher: WyHasher| {
        let mut hashes: Vec<u64> = colliding.iter().map(|key| hasher.hash_bytes(key)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len()
    };
    assert_eq!(distinct(WyHasher::default()), 1, "the family that the hashing chapter warns of");
    assert_eq!(distinct(WyHasher::with_seed(1)), 100);
}

#[test]
fn debug_shows_no_key() {
    let shown = format!("{:?}", SipHasher::new([0xab; 16]));
    assert!(shown.starts_with("SipHasher { fingerprint: 0x") && !shown.contains("abab"), "{shown}");
}

/// Has `Key` and no `std::hash::Hash`.
struct Id(u32);

impl pds_hash::Key for Id {
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        hasher.hash_key(&self.0)
    }
}

#[test]
fn a_key_needs_no_std_hash() {
    assert_eq!(WyHasher::default().hash_key(&Id(7)), WyHasher::default().hash_u64(7));
}
