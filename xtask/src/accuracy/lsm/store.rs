//! Sorted files and their filters on disk.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use pds_bloom::{BloomFilter, BloomParams, BloomView};
use pds_core::Sketch;
use pds_hash::{KeyHasher, WyHasher};
use pds_static_filters::{
    BinaryFuse, BinaryFuseFilter8, BinaryFuseParams8, RibbonFilter, RibbonParams, RibbonView, StaticView,
};
use pds_testkit::{DistinctKeys, SplitMix64, laws, seed_for};

/// The filter of a file, with its rate.
#[derive(Clone, Copy)]
pub(super) enum Filter {
    None,
    Bloom(f64),
    Ribbon(f64),
    Fuse,
}

impl Filter {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bloom(_) => "Bloom",
            Self::Ribbon(_) => "ribbon",
            Self::Fuse => "binary fuse, 8 bits",
        }
    }

    /// The rate that it is made for.
    pub(super) fn rate(self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Bloom(rate) | Self::Ribbon(rate) => Some(rate),
            Self::Fuse => BinaryFuseParams8::for_keys(1).ok().map(|params| params.fpr()),
        }
    }

    /// Whether filters of several files say yes independently: ribbon filters with one hash have their whole and their
    /// fractional columns at the same places, and with them the chance of a wrong yes.
    pub(super) fn is_independent(self) -> bool {
        !matches!(self, Self::Ribbon(_))
    }

    /// The bytes of the filter of keys with these hashes.
    fn bytes(self, hashes: &[u64]) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Bloom(rate) => {
                let params = BloomParams::for_fpr(hashes.len() as u64, rate).expect("a usual rate");
                let mut filter = BloomFilter::new(params);
                filter.insert_batch(hashes);
                filter.to_bytes()
            }
            Self::Ribbon(rate) => {
                let params = RibbonParams::for_fpr(rate).expect("a usual rate");
                RibbonFilter::from_hashes(params, hashes).expect("distinct keys").to_bytes()
            }
            Self::Fuse => BinaryFuseFilter8::from_hashes(hashes).expect("distinct keys").to_bytes(),
        }
    }
}

/// A filter as it answers from the bytes of its file.
pub(super) enum View<'a> {
    None,
    Bloom(BloomView<'a>),
    Ribbon(Box<RibbonView<'a>>),
    Fuse(StaticView<'a, BinaryFuse<3>, u8>),
}

impl<'a> View<'a> {
    fn open(filter: Filter, bytes: &'a [u8]) -> Self {
        match filter {
            Filter::None => Self::None,
            Filter::Bloom(_) => Self::Bloom(BloomFilter::view(bytes).expect("its own bytes")),
            Filter::Ribbon(_) => Self::Ribbon(Box::new(RibbonFilter::view(bytes).expect("its own bytes"))),
            Filter::Fuse => Self::Fuse(BinaryFuseFilter8::view(bytes).expect("its own bytes")),
        }
    }

    fn may_contain(&self, hash: u64) -> bool {
        match self {
            Self::None => true,
            Self::Bloom(view) => view.contains_hash(hash),
            Self::Ribbon(view) => view.contains_hash(hash),
            Self::Fuse(view) => view.contains_hash(hash),
        }
    }

    /// The rate that this very filter has.
    fn own_rate(&self) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Bloom(view) => view.estimated_fpr(),
            Self::Ribbon(view) => (**view).to_owned().map_or(f64::NAN, |filter| filter.estimated_fpr()),
            Self::Fuse(view) => view.params().fpr(),
        }
    }
}

/// What is looked up.
#[derive(Clone, Copy)]
pub(super) struct Lookups {
    /// The share of lookups that are for keys in the store.
    pub(super) present: f64,
    /// Whether the search ends with the first file that has the key; where versions are merged, it does not.
    pub(super) stops: bool,
}

/// A directory of files, removed at the end.
pub(super) struct Store {
    keys: DistinctKeys,
    filter: Filter,
    /// The newest first.
    files: Vec<SortedFile>,
    _dir: Directory,
}

impl Store {
    /// Writes files of so many keys each, the newest first, with their filters.
    ///
    /// # Panics
    ///
    /// If the system's directory for temporary files cannot be written to.
    pub(super) fn new(filter: Filter, sizes: &[u64], seed: u64) -> Self {
        let keys = DistinctKeys::new(seed);
        let dir = Directory::new();
        let mut next = 0;
        let files = sizes.iter().enumerate().map(|(number, &size)| {
            let indices = next..next + size;
            next += size;
            SortedFile::write(&dir.0, number, keys, indices, filter)
        });
        let files = files.collect::<io::Result<Vec<_>>>().expect("room for temporary files");
        Self { keys, filter, files, _dir: dir }
    }

    /// The bytes of the filters of the first files.
    pub(super) fn filter_bytes(&self, files: usize) -> usize {
        self.files[..files].iter().map(|file| file.filter.len()).sum()
    }

    pub(super) fn views(&self) -> Vec<View<'_>> {
        self.files.iter().map(|file| View::open(self.filter, &file.filter)).collect()
    }

    /// Keys that the filter of their own file denies.
    pub(super) fn denied(&self, views: &[View]) -> usize {
        let of_file = |(file, view): (&SortedFile, &View)| {
            let denied = |key: &u64| !view.may_contain(WyHasher::default().hash_key(key));
            self.keys.range(file.indices.clone()).filter(denied).count()
        };
        self.files.iter().zip(views).map(of_file).sum()
    }

    /// Looks up random keys, and counts.
    pub(super) fn run(&self, views: &[View], what: Lookups, lookups: u64, seed: u64) -> Tally {
        let stored = self.files.last().map_or(0, |file| file.indices.end);
        let mut random = SplitMix64::new(seed_for("lookups", what.stops.into(), seed));
        let rates: Vec<f64> = views.iter().map(View::own_rate).collect();
        let mut tally = Tally::default();
        let mut block = Vec::new();
        for stranger in 0..lookups {
            let present = random.next_f64() < what.present;
            let index = if present { random.below(stored) } else { stored + stranger };
            let key = self.keys.key(index);
            let hash = WyHasher::default().hash_key(&key);
            let (mut reads, mut found, mut nothing) = (0.0, false, 1.0);
            for (number, (file, view)) in self.files.iter().zip(views).enumerate() {
                let home = file.indices.contains(&index);
                if !home {
                    tally.asked += 1.0;
                    tally.expected += rates[number];
                }
                nothing *= if home { 0.0 } else { 1.0 - rates[number] };
                if view.may_contain(hash) {
                    let version = file.find(key, &mut block).expect("a file that was written");
                    reads += 1.0;
                    tally.vain += f64::from(u8::from(version.is_none()));
                    found |= home && version == Some(number as u64);
                    if version.is_some() && what.stops {
                        break;
                    }
                }
            }
            tally.lookups += 1.0;
            tally.reads += reads;
            tally.hits += f64::from(u8::from(found));
            tally.missed += f64::from(u8::from(present != found));
            tally.nothing += f64::from(u8::from(reads == 0.0));
            tally.expected_nothing += nothing;
        }
        tally
    }
}

/// What lookups cost.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    lookups: f64,
    /// Blocks read, and those that did not have the key.
    reads: f64,
    vain: f64,
    /// Filters of files without the key that were asked, and the sum of their rates.
    asked: f64,
    expected: f64,
    /// Lookups that read nothing, and how many were to be expected.
    nothing: f64,
    expected_nothing: f64,
    /// Keys found, and those that should have been and were not, or the other way round.
    hits: f64,
    missed: f64,
}

impl Tally {
    pub(super) const COLUMNS: usize = 9;

    pub(super) fn columns(self) -> [f64; Self::COLUMNS] {
        let Self { lookups, reads, vain, asked, expected, nothing, expected_nothing, hits, missed } = self;
        [lookups, reads, vain, asked, expected, nothing, expected_nothing, hits, missed]
    }

    /// The sum over outcomes of the columns from `first` on.
    pub(super) fn sum(outcomes: &[Vec<f64>], first: usize) -> Self {
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[first + i]).sum();
        let [lookups, reads, vain, asked, expected, nothing, expected_nothing, hits, missed] =
            std::array::from_fn(sum);
        Self { lookups, reads, vain, asked, expected, nothing, expected_nothing, hits, missed }
    }

    pub(super) fn reads_each(&self) -> f64 {
        self.reads / self.lookups
    }

    /// By the filters' rates, and one read for each key that is there.
    pub(super) fn predicted_reads(&self) -> f64 {
        (self.hits + self.expected) / self.lookups
    }

    pub(super) fn nothing_share(&self) -> f64 {
        self.nothing / self.lookups
    }

    pub(super) fn predicted_nothing(&self) -> f64 {
        self.expected_nothing / self.lookups
    }

    /// Reads in vain against the filters' rates. Where the filters of one lookup depend on each other, the share of its files is
    /// what is drawn: Chernoff's bound is for numbers up to 1, not for hits alone.
    pub(super) fn wasted(&self, filter: Filter, files: usize) -> laws::Verdict {
        if filter.is_independent() {
            laws::rate_is(self.vain as u64, self.asked as u64, self.expected / self.asked)
        } else {
            let shares = self.vain / files as f64;
            laws::rate_is(shares as u64, self.lookups as u64, self.expected / files as f64 / self.lookups)
        }
    }

    /// Lookups that read nothing against what the filters' rates leave, which is the least where yeses come together.
    pub(super) fn nothing(&self, filter: Filter) -> laws::Verdict {
        let law = if filter.is_independent() { laws::rate_is } else { laws::rate_at_least };
        law(self.nothing as u64, self.lookups as u64, self.predicted_nothing())
    }

    pub(super) fn missed(&self) -> u64 {
        self.missed as u64
    }

    pub(super) fn asked(&self) -> u64 {
        self.asked as u64
    }
}

/// Bytes that are read at once.
const BLOCK: usize = 4096;

/// A key, big-endian so that bytes sort as keys do, the number of its file, and something to carry.
const RECORD: usize = 32;

const FIELD: usize = size_of::<u64>();

/// Records in the order of their keys, in blocks of which the first keys are held in memory, and a filter.
struct SortedFile {
    indices: Range<u64>,
    records: File,
    first_keys: Vec<u64>,
    /// As read from its file.
    filter: Vec<u8>,
}

impl SortedFile {
    fn write(
        dir: &Path,
        number: usize,
        keys: DistinctKeys,
        indices: Range<u64>,
        filter: Filter,
    ) -> io::Result<Self> {
        let mut sorted: Vec<u64> = keys.range(indices.clone()).collect();
        sorted.sort_unstable();
        let mut records = Vec::with_capacity(sorted.len() * RECORD);
        for key in &sorted {
            records.extend(key.to_be_bytes());
            records.extend((number as u64).to_be_bytes());
            records.resize(records.len() + RECORD - 2 * FIELD, 0);
        }
        let data = dir.join(format!("{number}.records"));
        fs::write(&data, &records)?;
        let hashes: Vec<u64> = sorted.iter().map(|key| WyHasher::default().hash_key(key)).collect();
        let beside = dir.join(format!("{number}.filter"));
        fs::write(&beside, filter.bytes(&hashes))?;
        let first_keys = sorted.iter().step_by(BLOCK / RECORD).copied().collect();
        Ok(Self { indices, records: File::open(data)?, first_keys, filter: fs::read(beside)? })
    }

    /// Reads the block that may have the key: the number that is stored with it.
    fn find(&self, key: u64, block: &mut Vec<u8>) -> io::Result<Option<u64>> {
        let number = self.first_keys.partition_point(|&first| first <= key).saturating_sub(1);
        let start = (number * BLOCK) as u64;
        let bytes = (self.indices.end - self.indices.start) * RECORD as u64;
        block.resize((bytes - start).min(BLOCK as u64) as usize, 0);
        let mut records = &self.records;
        records.seek(SeekFrom::Start(start))?;
        records.read_exact(block)?;
        let (records, _) = block.as_chunks::<RECORD>();
        let field = |record: &[u8; RECORD], i: usize| {
            let mut bytes = [0; FIELD];
            bytes.copy_from_slice(&record[i * FIELD..][..FIELD]);
            u64::from_be_bytes(bytes)
        };
        let place = records.binary_search_by_key(&key, |record| field(record, 0));
        Ok(place.ok().map(|place| field(&records[place], 1)))
    }
}

/// A directory of this process's own among the temporary files.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pds-accuracy-{}-{number}", process::id()));
        fs::create_dir_all(&path).expect("a directory for temporary files");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Whatever stays is the system's to clear away.
        _ = fs::remove_dir_all(&self.0);
    }
}
