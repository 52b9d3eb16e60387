//! Merging: one sketch into another, a thousand by fold and by tree, and encoded ones by the ten thousand.
//!
//! One merge of a distinct counter, a theta sketch, a table of counts or a quantile sketch is in the bench of its family.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::hint::black_box;

use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement,
};
use pds_benches::blocks::{Blocked, Counting, Scalable, SplitBlock};
use pds_benches::cardinality::{self, Counter};
use pds_benches::filters::{self, Filter};
use pds_benches::heap::{self, measured};
use pds_benches::heavy_hitters::{
    AsapSaving, DatasketchesItems, Filtered, Heavy, KeeperBucketed, KeeperCuckoo, KeeperTopK, OursMisra,
    OursSaving, OursTopK, OxideItems, OxideSaving,
};
use pds_benches::merging::{
    Contract, Dd, Digest, DsCpc, DsDigestUnion, DsHll, DsKllUnion, DsTheta, Hll, Item, JavaDd, Kll, Own,
    OxideBlocked, OxideCounting, P, Part, Streams, Theta, Truth, Windowed,
};
use pds_benches::report::{Case, Gate, Role};
use pds_benches::workload::{Workload, numbers, quick, wanted};
use pds_benches::{heavy_hitters, merging};
use pds_merge::{AnyFold, ExactMerge, Fold, Sketch, merge_all, merge_tree, merge_tree_parallel};
use pds_testkit::{DistinctKeys, ExactQuantiles, Zipf};
use pds_theta::{ThetaSource, ThetaView, union};

#[global_allocator]
static ALLOCATOR: heap::Counting = heap::Counting;

const ONE: &str = "merging one sketch";
const MANY: &str = "merging 1,000 sketches";
const ENCODED: &str = "merging encoded sketches";

fn case(structure: &'static str, size: &str) -> Case {
    Case { structure, size: size.to_owned() }
}

fn group<'a>(
    c: &'a mut Criterion,
    case: &Case,
    op: &str,
    sketches: usize,
) -> BenchmarkGroup<'a, measurement::WallTime> {
    let mut group = c.benchmark_group(case.group(op));
    group.throughput(Throughput::Elements(sketches as u64));
    group
}

/// One into a copy made for the occasion: what was merged before must not make it easier.
fn once<T: Clone>(c: &mut Criterion, case: &Case, name: &str, into: &T, merge: impl Fn(&mut T) -> bool) {
    group(c, case, "merge", 1).bench_function(name, |b| {
        b.iter_batched_ref(|| into.clone(), |into| black_box(merge(into)), BatchSize::PerIteration);
    });
}

/// A filter sized for the keys of both, which are the members' halves.
fn filter<F: Filter<u64> + Clone>(c: &mut Criterion, kind: &str, load: &Workload<u64>, fpr: f64) {
    let case = case(ONE, &format!("{kind}, two of 50k u64"));
    if !wanted(&case, F::NAME, &["merge"]) {
        return;
    }
    let filled = |keys: &[u64]| {
        let mut filter = F::new(load.members.len(), fpr);
        keys.iter().for_each(|key| filter.insert(key));
        filter
    };
    let (left, right) = load.members.split_at(load.members.len() / 2);
    let (left, right) = (filled(left), filled(right));
    let mut both = left.clone();
    let merges = both.merge(&right);
    let mut gate = filters::gate(&both, &load.members, &load.strangers, load.members.len() as u64, fpr);
    if !merges {
        gate.kept = Err("the two do not merge".to_owned());
    }
    gate.report_as(&case, F::NAME, F::ROLE);
    once(c, &case, F::NAME, &left, |filter| filter.merge(black_box(&right)));
}

/// Events of both halves.
const EVENTS: usize = 1_000_000;

/// Lists of the halves of a stream, whose tails differ.
fn list<H: Heavy + Clone>(c: &mut Criterion, kind: &str, stream: &LazyCell<Vec<u64>>) {
    let case = case(ONE, &format!("{kind}, two of {}k events", EVENTS / 2000));
    if !wanted(&case, H::NAME, &["merge"]) {
        return;
    }
    let filled = |keys: &[u64]| {
        let mut list = H::new();
        keys.iter().for_each(|&key| list.add(key));
        list
    };
    let (left, right) = stream.split_at(EVENTS / 2);
    let (left, right) = (filled(left), filled(right));
    let (both, held, _) = measured(|| {
        let mut both = left.clone();
        both.merge(&right).then_some(both)
    });
    let mut exact = HashMap::new();
    for &key in &**stream {
        *exact.entry(key).or_insert(0) += 1;
    }
    let mut gate = heavy_hitters::gate(both.as_ref().unwrap_or(&left), held, &exact);
    if both.is_none() {
        gate.kept = Err("the two do not merge".to_owned());
    }
    gate.report_as(&case, H::NAME, H::ROLE);
    once(c, &case, H::NAME, &left, |list| list.merge(black_box(&right)));
}

/// Distinct counters that are small yet: 500 keys each.
fn few<C: Counter<u64>>(c: &mut Criterion) {
    const KEYS: u64 = 500;
    let case = case(ONE, "HyperLogLog, p = 12, two of 500 u64");
    if !wanted(&case, C::NAME, &["merge"]) {
        return;
    }
    let keys = DistinctKeys::new(1);
    let filled = |start: u64| {
        let mut counter = C::new(P);
        keys.range(start..start + KEYS).for_each(|key| counter.insert(&key));
        counter
    };
    let (counter, held, _) = measured(|| filled(0));
    drop(counter);
    cardinality::gate::<C>(P, held + size_of::<C>(), 0).report_as(&case, C::NAME, C::ROLE);
    let other = filled(KEYS);
    group(c, &case, "merge", 1).bench_function(C::NAME, |b| {
        let merge = |counter: &mut C| counter.merge(black_box(&other));
        b.iter_batched_ref(|| filled(0), merge, BatchSize::PerIteration);
    });
}

fn one(c: &mut Criterion) {
    const FPR: f64 = 0.01;
    /// Of the Bloom family at 10 bits a key: that of the bench of the family.
    const BLOCKED_FPR: f64 = 0.0133;
    let load = numbers(100_000);
    filter::<filters::Ours>(c, "Bloom filter", &load, FPR);
    filter::<filters::Fastbloom<foldhash::fast::FixedState>>(c, "Bloom filter", &load, FPR);
    filter::<filters::Datasketches>(c, "Bloom filter", &load, FPR);
    filter::<filters::SketchOxide>(c, "Bloom filter", &load, FPR);
    filter::<SplitBlock>(c, "split-block filter", &load, FPR);
    filter::<Blocked>(c, "blocked filter", &load, BLOCKED_FPR);
    filter::<OxideBlocked>(c, "blocked filter", &load, BLOCKED_FPR);
    filter::<Counting>(c, "counting filter", &load, BLOCKED_FPR);
    filter::<OxideCounting>(c, "counting filter", &load, BLOCKED_FPR);
    filter::<Scalable<1>>(c, "scalable filter", &load, FPR);
    filter::<Windowed>(c, "windowed filter, 4 generations", &load, FPR);

    few::<cardinality::Ours>(c);
    few::<cardinality::Ultra>(c);
    few::<cardinality::Datasketches<8>>(c);
    few::<cardinality::Datasketches<4>>(c);
    few::<cardinality::Cpc>(c);
    few::<cardinality::Hyperloglockless>(c);
    few::<cardinality::Hyperloglogplus<u64>>(c);
    few::<cardinality::CardinalityEstimator<u64, { P as usize }>>(c);

    let stream: LazyCell<Vec<u64>> = LazyCell::new(|| {
        let ids = DistinctKeys::new(4);
        Zipf::new(1_000_000, 1.1, 1).take(EVENTS).map(|rank| ids.key(rank)).collect()
    });
    const SAVING: &str = "SpaceSaving, 1024 counters";
    list::<OursSaving>(c, SAVING, &stream);
    list::<AsapSaving>(c, SAVING, &stream);
    list::<Filtered>(c, SAVING, &stream);
    list::<OxideSaving>(c, SAVING, &stream);
    const ITEMS: &str = "frequent items, 768 counters";
    list::<OursMisra>(c, ITEMS, &stream);
    list::<DatasketchesItems>(c, ITEMS, &stream);
    list::<OxideItems>(c, ITEMS, &stream);
    const TOP: &str = "top 100, 64 KiB of cells";
    list::<OursTopK>(c, TOP, &stream);
    list::<KeeperTopK>(c, TOP, &stream);
    list::<KeeperBucketed>(c, TOP, &stream);
    list::<KeeperCuckoo>(c, TOP, &stream);
}

/// Sketches of a kind: their items, the truth, and what is promised of it.
struct Kind<'a, T: Item, G> {
    size: String,
    data: &'a Data<T, G>,
    contract: Contract,
}

impl<T: Item, G: Truth<T>> Kind<'_, T, G> {
    fn parts(&self) -> impl Iterator<Item = &[T]> {
        self.data.0.parts()
    }

    /// Judges and reports a contender.
    fn gate(&self, case: &Case, name: &str, role: Role, wire: f64, answers: &[f64]) {
        let (error, promise, verdict) = self.data.1.judge(self.contract, answers);
        Gate { wire, ..Gate::of(0.0, error, promise, verdict) }.report_as(case, name, role);
    }

    fn sketches_of<O: Own<Item = T>>(&self) -> Vec<O::Sketch> {
        let of = |items: &[T]| {
            let mut sketch = O::empty();
            O::extend(&mut sketch, items);
            sketch
        };
        self.parts().map(of).collect()
    }
}

/// Ours as they are: one after the other, and as a tree.
fn own_many<O: Own, G: Truth<O::Item>>(c: &mut Criterion, kind: &Kind<'_, O::Item, G>) {
    let case = case(MANY, &kind.size);
    let (fold, tree) = (format!("{}, merge_all", O::NAME), format!("{}, merge_tree", O::NAME));
    if !wanted(&case, &fold, &["merge"]) && !wanted(&case, &tree, &["merge"]) {
        return;
    }
    let sketches = kind.sketches_of::<O>();
    let folded = || {
        let mut all = O::empty();
        merge_all(&mut all, &sketches).expect("equal parameters");
        all
    };
    kind.gate(&case, &fold, Role::Ours, 0.0, &O::answers(&folded()));
    group(c, &case, "merge", sketches.len()).bench_function(&fold, |b| b.iter(|| black_box(folded())));

    let merged = merge_tree(sketches.clone()).all().expect("equal parameters").expect("there are some");
    kind.gate(&case, &tree, Role::Variant, 0.0, &O::answers(&merged));
    group(c, &case, "merge", sketches.len()).bench_function(&tree, |b| {
        b.iter_batched(|| sketches.clone(), merge_tree, BatchSize::PerIteration);
    });
}

/// Ours on all cores, where the merge is exact.
fn parallel<O: Own<Sketch: ExactMerge>, G: Truth<O::Item>>(c: &mut Criterion, kind: &Kind<'_, O::Item, G>) {
    let case = case(MANY, &kind.size);
    let name = format!("{}, merge_tree_parallel", O::NAME);
    if !wanted(&case, &name, &["merge"]) {
        return;
    }
    let sketches = kind.sketches_of::<O>();
    let merged = merge_tree_parallel(sketches.clone()).all().expect("equal parameters");
    kind.gate(&case, &name, Role::Beside, 0.0, &O::answers(&merged.expect("there are some")));
    group(c, &case, "merge", sketches.len()).bench_function(&name, |b| {
        b.iter_batched(|| sketches.clone(), merge_tree_parallel, BatchSize::PerIteration);
    });
}

/// A peer's as they are, into its union.
fn peer_many<R: Part, G: Truth<R::Item>>(c: &mut Criterion, kind: &Kind<'_, R::Item, G>) {
    let case = case(MANY, &kind.size);
    if !wanted(&case, R::NAME, &["merge"]) {
        return;
    }
    let parts: Vec<R> = kind.parts().map(R::of).collect();
    let merged = || {
        let mut whole = R::whole();
        parts.iter().for_each(|part| R::merge(&mut whole, part));
        whole
    };
    kind.gate(&case, R::NAME, Role::Peer, 0.0, &R::answers(&mut merged()));
    group(c, &case, "merge", parts.len()).bench_function(R::NAME, |b| b.iter(|| black_box(merged())));
}

const DECODE: &str = "decode and merge";

/// The mean length.
fn mean_bytes(encoded: &[Vec<u8>]) -> f64 {
    encoded.iter().map(Vec::len).sum::<usize>() as f64 / encoded.len() as f64
}

/// Ours as bytes, the type known, and not.
fn own_encoded<O: Own, G: Truth<O::Item>>(c: &mut Criterion, kind: &Kind<'_, O::Item, G>) {
    let case = case(ENCODED, &kind.size);
    let (known, any) = (format!("{}, Fold", O::NAME), format!("{}, AnyFold", O::NAME));
    if !wanted(&case, &known, &[DECODE]) && !wanted(&case, &any, &[DECODE]) {
        return;
    }
    let encoded: Vec<Vec<u8>> = kind.sketches_of::<O>().iter().map(Sketch::to_bytes).collect();
    let wire = mean_bytes(&encoded);
    let folded = || {
        let mut fold = Fold::<O::Sketch>::default();
        encoded.iter().try_for_each(|bytes| fold.push(bytes)).expect("its own bytes");
        fold.finish().sketch.expect("there are some")
    };
    kind.gate(&case, &known, Role::Ours, wire, &O::answers(&folded()));
    group(c, &case, DECODE, encoded.len()).bench_function(&known, |b| b.iter(|| black_box(folded())));

    let folded = || {
        let mut fold = AnyFold::default();
        encoded.iter().try_for_each(|bytes| fold.push(bytes)).expect("its own bytes");
        fold.finish().sketch.expect("there are some")
    };
    let merged = O::Sketch::from_bytes(&folded().to_bytes()).expect("its own bytes");
    kind.gate(&case, &any, Role::Variant, wire, &O::answers(&merged));
    group(c, &case, DECODE, encoded.len()).bench_function(&any, |b| b.iter(|| black_box(folded())));
}

/// Our theta sketches as bytes that are read where they lie, all at once.
fn views<G: Truth<u64>>(c: &mut Criterion, kind: &Kind<'_, u64, G>) {
    const NAME: &str = "pds-theta, union of views";
    let case = case(ENCODED, &kind.size);
    if !wanted(&case, NAME, &[DECODE]) {
        return;
    }
    let encoded: Vec<Vec<u8>> =
        kind.sketches_of::<Theta>().iter().map(|sketch| sketch.compact().to_bytes()).collect();
    let merged = || {
        let views: Vec<ThetaView<'_>> = encoded
            .iter()
            .map(|bytes| pds_theta::CompactTheta::view(bytes).expect("its own bytes"))
            .collect();
        let sources: Vec<&dyn ThetaSource<_>> = views.iter().map(|view| view as _).collect();
        union(&sources).expect("equal hashers")
    };
    kind.gate(&case, NAME, Role::Variant, mean_bytes(&encoded), &[merged().estimate()]);
    group(c, &case, DECODE, encoded.len()).bench_function(NAME, |b| b.iter(|| black_box(merged())));
}

/// A peer's as bytes, into its union.
fn peer_encoded<R: Part, G: Truth<R::Item>>(c: &mut Criterion, kind: &Kind<'_, R::Item, G>) {
    let case = case(ENCODED, &kind.size);
    if !wanted(&case, R::NAME, &[DECODE]) {
        return;
    }
    let encoded: Vec<Vec<u8>> = kind.parts().map(|items| R::of(items).encode()).collect();
    let merged = || {
        let mut whole = R::whole();
        for bytes in &encoded {
            R::merge(&mut whole, &R::decode(bytes).expect("its own bytes"));
        }
        whole
    };
    kind.gate(&case, R::NAME, Role::Peer, mean_bytes(&encoded), &R::answers(&mut merged()));
    group(c, &case, DECODE, encoded.len()).bench_function(R::NAME, |b| b.iter(|| black_box(merged())));
}

/// The standard deviation of a HyperLogLog's relative error, and of a theta sketch's.
fn deviations() -> (f64, f64) {
    let registers = f64::from(1u32 << P);
    (1.04 / registers.sqrt(), 1.0 / (registers - 1.0).sqrt())
}

const KINDS: [&str; 5] = [
    "HyperLogLog, p = 12",
    "theta sketch, k = 4096",
    "DDSketch, 1 %",
    "t-digest, compression 200",
    "KLL, k = 200",
];

/// What is merged, and the truth; made when the first contender asks for it.
type Data<T, G> = LazyCell<(Streams<T>, G)>;

fn data<T: Item, G: Truth<T>>(streams: Streams<T>) -> (Streams<T>, G) {
    let truth = G::new(&streams);
    (streams, truth)
}

/// A thousand parts of equal length: every distinct counter is full.
fn equal<T: Item, G: Truth<T>>() -> Data<T, G> {
    LazyCell::new(|| data(Streams::equal(1000)))
}

/// So many parts of unequal length.
fn unequal_parts() -> usize {
    if quick() { 1000 } else { 10_000 }
}

fn unequal<T: Item, G: Truth<T>>() -> Data<T, G> {
    LazyCell::new(|| data(Streams::unequal(unequal_parts())))
}

fn kind<'a, T: Item, G: Truth<T>>(
    index: usize,
    of: &str,
    contract: Contract,
    data: &'a Data<T, G>,
) -> Kind<'a, T, G> {
    Kind { size: format!("{}, {of}", KINDS[index]), data, contract }
}

fn many(c: &mut Criterion) {
    const OF: &str = "each of 10k";
    let (hll, theta) = deviations();
    let keys = equal::<u64, merging::Count>();
    let hll = kind(0, OF, Contract::Distinct(hll), &keys);
    own_many::<Hll, _>(c, &hll);
    parallel::<Hll, _>(c, &hll);
    peer_many::<DsHll<8>, _>(c, &hll);
    peer_many::<DsHll<4>, _>(c, &hll);
    peer_many::<DsCpc, _>(c, &hll);
    let theta = kind(1, OF, Contract::Distinct(theta), &keys);
    own_many::<Theta, _>(c, &theta);
    parallel::<Theta, _>(c, &theta);
    peer_many::<DsTheta<true>, _>(c, &theta);

    let values = equal::<f64, ExactQuantiles>();
    let dd = kind(2, OF, Contract::Alpha, &values);
    own_many::<Dd, _>(c, &dd);
    parallel::<Dd, _>(c, &dd);
    peer_many::<JavaDd, _>(c, &dd);
    let digest = kind(3, OF, Contract::Tail, &values);
    own_many::<Digest, _>(c, &digest);
    peer_many::<DsDigestUnion, _>(c, &digest);
    let kll = kind(4, OF, Contract::Rank, &values);
    own_many::<Kll, _>(c, &kll);
    peer_many::<DsKllUnion, _>(c, &kll);
}

fn encoded(c: &mut Criterion) {
    let of = format!("{}k of 100 to 10k", unequal_parts() / 1000);
    let (hll, theta) = deviations();
    let keys = unequal::<u64, merging::Count>();
    let hll = kind(0, &of, Contract::Distinct(hll), &keys);
    own_encoded::<Hll, _>(c, &hll);
    peer_encoded::<DsHll<8>, _>(c, &hll);
    peer_encoded::<DsHll<4>, _>(c, &hll);
    peer_encoded::<DsCpc, _>(c, &hll);
    let theta = kind(1, &of, Contract::Distinct(theta), &keys);
    own_encoded::<Theta, _>(c, &theta);
    views(c, &theta);
    peer_encoded::<DsTheta<true>, _>(c, &theta);
    peer_encoded::<DsTheta<false>, _>(c, &theta);

    let values = unequal::<f64, ExactQuantiles>();
    let dd = kind(2, &of, Contract::Alpha, &values);
    own_encoded::<Dd, _>(c, &dd);
    peer_encoded::<JavaDd, _>(c, &dd);
    let digest = kind(3, &of, Contract::Tail, &values);
    own_encoded::<Digest, _>(c, &digest);
    peer_encoded::<DsDigestUnion, _>(c, &digest);
    let kll = kind(4, &of, Contract::Rank, &values);
    own_encoded::<Kll, _>(c, &kll);
    peer_encoded::<DsKllUnion, _>(c, &kll);
}

criterion_group!(benches, one, many, encoded);
criterion_main!(benches);
