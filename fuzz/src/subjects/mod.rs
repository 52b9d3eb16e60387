//! What can be asked of each type, and done to it.

/// Asks a filter or a view about keys and hashes, one by one and in a batch: a key is answered as its hash is.
macro_rules! ask_membership {
    ($filter:expr, $probe:expr) => {{
        let (filter, probe) = (&$filter, $probe);
        let mut found = vec![true; probe.hashes.len() + 1];
        assert_eq!(filter.contains_batch(&probe.hashes, &mut found), probe.hashes.len());
        for (&hash, &found) in probe.hashes.iter().zip(&found) {
            assert_eq!(filter.contains_hash(hash), found, "a batch answers differently");
        }
        assert!(found[probe.hashes.len()], "a batch writes beyond its answers");
        for key in &probe.keys {
            assert_eq!(filter.contains(key), filter.contains_hash(crate::subjects::hash_of(key)));
        }
    }};
}

/// Asserts that a view answers as the filter does that it is of.
macro_rules! agree {
    ($view:expr, $owned:expr, $probe:expr, $($question:ident),* $(; $($measure:ident),*)?) => {{
        let (view, owned) = (&$view, &$owned);
        for &hash in &$probe.hashes {
            $(assert_eq!(view.$question(hash), owned.$question(hash), stringify!($question));)*
        }
        $($(assert_eq!(view.$measure(), owned.$measure(), stringify!($measure));)*)?
    }};
}

/// Opens views of bytes at two addresses. `ask` asks one, `agree` compares it with what the bytes decode to; a view that
/// verifies is of bytes that decode, and the other way round.
macro_rules! look {
    ($type:ty, $bytes:expr, $decoded:expr, |$view:ident| $ask:expr, |$same:ident, $owned:ident| $agree:expr $(,)?) => {{
        let shifted = [&[0], $bytes].concat();
        for bytes in [$bytes, &shifted[1..]] {
            let Ok($view) = <$type>::view(bytes) else {
                assert!($decoded.is_none(), "a view refuses what decodes");
                continue;
            };
            $ask;
            let verified = $view.verify().is_ok();
            match ($view.to_owned(), $decoded) {
                (Ok(owned), Some($owned)) => {
                    assert!(verified, "a view refuses the payload of what decodes");
                    assert!(owned.to_bytes() == $owned.to_bytes(), "a view is of something else");
                    let $same = &$view;
                    $agree;
                }
                (Err(_), None) => {}
                _ => panic!("a view takes other bytes for owned than decoding does"),
            }
        }
    }};
}

mod bloom;
mod cms;
mod counts;
mod cuckoo;
mod heavy;
mod hll;
mod quantiles;
mod static_filters;
mod theta;

use pds_core::{Key, KeyHasher};
use pds_hash::WyHasher;

/// The hash by the hasher that everything here is made with.
pub(crate) fn hash_of<K: Key + ?Sized>(key: &K) -> u64 {
    WyHasher::default().hash_key(key)
}
