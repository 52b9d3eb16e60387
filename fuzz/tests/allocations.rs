//! What decoding allocates: at most 16 times the input, and a constant of the kind of at most 1 MiB.
//!
//! One test, so that nothing else allocates meanwhile.

mod mutations;

use mutations::{changed, changes};
use pds_core::wire::{HEADER_LEN, Kind};
use pds_fuzz::{Subject, Visitor, golden_files, sealed, unsealed, visit_types};
use peak_alloc::PeakAlloc;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes that a byte of input may cost.
const FACTOR: usize = 16;
/// Bytes that any input may cost.
const CONSTANT: usize = 1 << 20;
/// Where the kind stands.
const KIND: usize = 4;
/// Mutations tried.
const CASES: u32 = 20_000;

/// Decodes bytes by every type of a kind.
struct Measure<'a> {
    bytes: &'a [u8],
    /// How many types decode them.
    decoded: usize,
    /// The most that was allocated beyond what the input pays for.
    constant: usize,
}

impl Visitor for Measure<'_> {
    fn visit<S: Subject>(&mut self) {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let outcome = S::from_bytes_with(self.bytes, S::Hasher::default());
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        self.decoded += usize::from(outcome.is_ok());
        self.constant = self.constant.max(peak.saturating_sub(FACTOR * self.bytes.len()));
        let len = self.bytes.len();
        assert!(peak <= FACTOR * len + CONSTANT, "{:?} allocates {peak} bytes for {len}", S::KIND);
    }
}

fn measure(bytes: &[u8]) -> Measure<'_> {
    let mut measure = Measure { bytes, decoded: 0, constant: 0 };
    assert!(visit_types(Kind(bytes[KIND]), &mut measure), "no type of kind {}", bytes[KIND]);
    measure
}

/// The kinds that the core names, read from its source: a new one has no way past this list.
fn kinds() -> Vec<u8> {
    let source = include_str!("../../crates/pds-core/src/wire.rs");
    source
        .lines()
        .filter_map(|line| {
            line.trim().strip_prefix("pub const ")?.split_once(": Self = Self(")?.1.strip_suffix(");")
        })
        .map(|number| number.parse().expect("the number of a kind"))
        .collect()
}

/// Parameters that claim a lot: at each place of a golden file's the greatest numbers of 8 to 64 bits, with payloads of
/// few bytes.
fn forgeries(envelope: &[u8], start: usize) -> Vec<Vec<u8>> {
    const VARINTS: [&[u8]; 5] = [
        &[0xff, 0x01],
        &[0xff, 0xff, 0x03],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    ];
    let params = &envelope[HEADER_LEN..start];
    let payloads = [&[][..], &[0; 64], &[0xff; 64], &envelope[start..]];
    let mut forged = Vec::new();
    for at in 0..=params.len().min(40) {
        for varint in VARINTS {
            for payload in payloads {
                let rest = params.get(at + 1..).unwrap_or(&[]);
                forged.push(pds_testkit::forge(envelope, &[&params[..at], varint, rest].concat(), payload));
            }
        }
    }
    forged
}

#[test]
fn decoding_keeps_to_the_bound_of_the_architecture_for_every_kind() {
    let golden = golden_files().unwrap();
    let mut decoded: Vec<u8> = Vec::new();
    let mut constant = 0;
    let mut seeds = Vec::new();
    for (_, bytes) in &golden {
        let seed = unsealed(bytes).expect("the checksums of a golden file");
        let own = sealed(&seed, 0).expect("a header");
        // Those by other hashers may be in an order that is not the default one's.
        if measure(&own).decoded > 0 {
            decoded.push(bytes[KIND]);
        }
        let start = u32::from_le_bytes(seed[16..20].try_into().unwrap()) as usize;
        for bytes in [bytes, &own].into_iter().chain(&forgeries(&own, start)) {
            constant = constant.max(measure(bytes).constant);
        }
        seeds.push(seed);
    }
    for kind in kinds() {
        assert!(decoded.contains(&kind), "no golden file of kind {kind} decodes");
    }

    let config = Config { failure_persistence: None, ..Config::with_cases(CASES) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mutations = (select(seeds), changes(), -2..3i64);
    let outcome = runner.run(&mutations, |(seed, changes, shift)| {
        let mut bytes = changed(&seed, &changes);
        if bytes.len() > KIND {
            bytes[KIND] = seed[KIND];
            measure(&bytes);
            sealed(&bytes, shift).iter().for_each(|bytes| _ = measure(bytes));
        }
        Ok(())
    });
    outcome.unwrap();
    println!("at most {constant} bytes beyond {FACTOR} times the input");
}
