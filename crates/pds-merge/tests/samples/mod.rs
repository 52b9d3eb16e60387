//! Sketches of every kind, in every type and shape that bytes can tell apart.

// Each test file uses a part. Samples whose parameters are wrong are to panic. Builders take what `Samples` hands them, and
// stand beside the samples that they build.
#![allow(dead_code)]
#![allow(clippy::unwrap_used)]
#![allow(clippy::needless_pass_by_value)]
#![allow(clippy::items_after_statements)]

mod counts;
mod distinct;
mod filters;
mod values;

use pds_core::wire::Kind;
use pds_core::{KeyHasher, Sketch};
use pds_hash::{SipHasher, WyHasher};
use pds_merge::{AnySketch, Error, ListHasher};

/// What comes of merging a sample and the first of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Differs {
    /// It is the first.
    First,
    /// They merge, although they differ.
    Not,
    /// They differ in that.
    In(&'static str),
    /// Their hashers differ.
    ByHasher,
}

type Build = Box<dyn Fn(&[u64]) -> Vec<u8>>;
type MergeTyped = Box<dyn Fn(&[u8], &[u8]) -> Result<Vec<u8>, Error>>;

/// A kind with types and parameters.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) differs: Differs,
    /// The hasher, which lists need.
    pub(crate) hasher: ListHasher,
    build: Build,
    merge: Option<MergeTyped>,
}

impl Sample {
    /// The bytes of the sketch of these keys.
    pub(crate) fn bytes(&self, keys: &[u64]) -> Vec<u8> {
        (self.build)(keys)
    }

    pub(crate) fn read(&self, bytes: &[u8]) -> AnySketch {
        match AnySketch::from_bytes_with(bytes, self.hasher.clone()) {
            Ok(sketch) => sketch,
            Err(error) => panic!("{}: {error}", self.name),
        }
    }

    pub(crate) fn sketch(&self, keys: &[u64]) -> AnySketch {
        self.read(&self.bytes(keys))
    }

    /// The bytes of the structure's own merge, or absorption, of what it reads from bytes; `None` if it has none.
    pub(crate) fn merge_typed(&self, left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
        let merge = self.merge.as_ref()?;
        Some(merge(left, right).unwrap_or_else(|error| panic!("{}: {error}", self.name)))
    }

    /// Whether the sample merges with another of its kind that merges.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        let plain = |sample: &Self| matches!(sample.differs, Differs::First | Differs::Not);
        self.kind == other.kind && plain(self) && plain(other)
    }
}

/// A structure's own merge, if it has one.
type Typed<S> = Option<fn(&mut S, &S) -> Result<(), Error>>;

pub(crate) struct Samples(Vec<Sample>);

impl Samples {
    fn add<S: Sketch<Hasher: Clone + 'static> + 'static>(
        &mut self,
        name: &str,
        differs: Differs,
        hashers: (S::Hasher, ListHasher),
        build: fn(&[u64], S::Hasher) -> S,
        merge: Typed<S>,
    ) {
        let (own, hasher) = hashers;
        let theirs = own.clone();
        self.0.push(Sample {
            name: name.to_owned(),
            kind: S::KIND,
            differs,
            hasher,
            build: Box::new(move |keys| build(keys, own.clone()).to_bytes()),
            merge: merge.map(|merge| -> MergeTyped {
                Box::new(move |left, right| {
                    let mut left = S::from_bytes_with(left, theirs.clone())?;
                    merge(&mut left, &S::from_bytes_with(right, theirs.clone())?)?;
                    Ok(left.to_bytes())
                })
            }),
        });
    }

    /// A sample, and if it is the first of its kind the same with other hashers.
    fn hashed<S: Sketch<Hasher = ListHasher> + 'static>(
        &mut self,
        name: &str,
        differs: Differs,
        build: fn(&[u64], ListHasher) -> S,
        merge: Typed<S>,
    ) {
        let default = ListHasher::default();
        self.add(name, differs, (default.clone(), default), build, merge);
        if differs == Differs::First {
            for (by, hasher) in [("seeded", seeded()), ("keyed", keyed(1)), ("keyed otherwise", keyed(2))] {
                let name = format!("{name}, {by}");
                self.add(&name, Differs::ByHasher, (hasher.clone(), hasher), build, merge);
            }
        }
    }

    /// A sample of what hashes nothing.
    fn unhashed<S: Sketch<Hasher = ()> + 'static>(
        &mut self,
        name: &str,
        differs: Differs,
        build: fn(&[u64], ()) -> S,
        merge: Typed<S>,
    ) {
        self.add(name, differs, ((), ListHasher::default()), build, merge);
    }
}

/// All of them, kind by kind, the first of each kind before its others.
pub(crate) fn all() -> Vec<Sample> {
    let mut samples = Samples(Vec::new());
    filters::add(&mut samples);
    distinct::add(&mut samples);
    counts::add(&mut samples);
    values::add(&mut samples);
    samples.0
}

/// The first sample of each kind.
pub(crate) fn firsts() -> Vec<Sample> {
    all().into_iter().filter(|sample| sample.differs == Differs::First).collect()
}

/// Keys of a shard, with repetitions; different shards share some.
pub(crate) fn shard(number: u64) -> Vec<u64> {
    let own = |i: u64| i * i % 397 + number * 211;
    (0..300).map(own).collect()
}

/// Keys that are not in any shard.
pub(crate) fn strangers() -> impl Iterator<Item = u64> {
    (0..1000).map(|i| (1 << 40) + i)
}

pub(crate) fn keyed(key: u8) -> ListHasher {
    SipHasher::new([key; 16]).into()
}

pub(crate) fn seeded() -> ListHasher {
    WyHasher::with_seed(42).into()
}

fn hashes<'a>(keys: &'a [u64], hasher: &'a ListHasher) -> impl Iterator<Item = u64> + 'a {
    keys.iter().map(|key| hasher.hash_key(key))
}

/// The hashes of the keys of turn 0, then of turns 1 and 2: the turn depends on the key alone, not on the shard.
fn by_turn<'a>(keys: &'a [u64], hasher: &'a ListHasher) -> impl Iterator<Item = (u64, u64)> + 'a {
    let of_turn = move |turn| {
        keys.iter().filter(move |&key| key % 3 == turn).map(move |key| (turn, hasher.hash_key(key)))
    };
    (0..3).flat_map(of_turn)
}

/// The sketch of these keys by `insert_hash`.
macro_rules! filled {
    ($sketch:ty, $params:expr, $keys:expr, $hasher:expr) => {{
        let mut sketch = <$sketch>::with_hasher($params.unwrap(), $hasher.clone());
        for hash in $crate::samples::hashes($keys, &$hasher) {
            let _ = sketch.insert_hash(hash);
        }
        sketch
    }};
}
use filled;
