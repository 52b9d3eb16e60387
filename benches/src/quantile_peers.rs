//! The peers of the quantile sketches.

use std::hint::black_box;

use datasketches::common::SearchCriteria;
use datasketches::kll::KllFloat;
use datasketches::req::{RankAccuracy, ReqFloat};

use crate::quantiles::{ALPHA, Contender, NotFor};

/// `sketches-ddsketch`, by the logarithm, 2048 bins.
#[derive(Clone)]
pub struct SketchesDd(sketches_ddsketch::DDSketch);

fn sketches_config() -> sketches_ddsketch::Config {
    sketches_ddsketch::Config::new(ALPHA, 2048, 1e-9)
}

impl Contender for SketchesDd {
    const NAME: &'static str = "sketches-ddsketch";
    type View = Self;

    fn new() -> Self {
        Self(sketches_ddsketch::DDSketch::new(sketches_config()))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.add(value);
    }
    fn view(&mut self) -> Self {
        self.clone()
    }
    fn quantile(view: &Self, q: f64) -> f64 {
        view.0.quantile(q).ok().flatten().unwrap_or(f64::NAN)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.count() as u64)
    }
    fn encode(&mut self) -> Option<Vec<u8>> {
        Some(self.0.to_java_bytes())
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        sketches_ddsketch::DDSketch::from_java_bytes(bytes).ok().map(Self)
    }
}

/// `asap_sketchlib`'s `DDSketch`.
#[derive(Clone)]
pub struct AsapDd(asap_sketchlib::DdSketch);

impl Contender for AsapDd {
    const NAME: &'static str = "asap_sketchlib";
    type View = Self;

    fn new() -> Self {
        Self(asap_sketchlib::DdSketch::new(ALPHA))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.add(&value);
    }
    fn view(&mut self) -> Self {
        self.clone()
    }
    fn quantile(view: &Self, q: f64) -> f64 {
        view.0.get_value_at_quantile(q).unwrap_or(f64::NAN)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.get_count())
    }
}

/// `hdrhistogram` of two digits, over thousandths up to the given limit.
#[derive(Clone)]
pub struct Hdr(hdrhistogram::Histogram<u64>);

const HDR_UNIT: f64 = 1e-4;

impl Contender for Hdr {
    const NAME: &'static str = "hdrhistogram (2 digits)";
    const NOT_FOR: NotFor = &[
        ("insert", "counts integers of a range fixed beforehand"),
        ("merge", "adds arrays of a range fixed beforehand"),
    ];
    type View = Self;

    fn new() -> Self {
        Self(hdrhistogram::Histogram::new_with_bounds(1, 1 << 40, 2).expect("usual bounds"))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.saturating_record((value / HDR_UNIT) as u64);
    }
    fn view(&mut self) -> Self {
        self.clone()
    }
    fn quantile(view: &Self, q: f64) -> f64 {
        view.0.value_at_quantile(q) as f64 * HDR_UNIT
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.add(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.len())
    }
}

/// The t-digest of `datasketches`, whose k is half a compression.
pub struct DsDigest<const DELTA: u32>(datasketches::tdigest::TDigestMut);

impl<const DELTA: u32> Contender for DsDigest<DELTA> {
    const NAME: &'static str = "datasketches";
    type View = datasketches::tdigest::TDigest;

    fn new() -> Self {
        let sketch = datasketches::tdigest::TDigestMut::new((DELTA / 2) as u16);
        Self(sketch.expect("a usual compression"))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.update(value);
    }
    fn view(&mut self) -> Self::View {
        self.0.clone().freeze()
    }
    fn quantile(view: &Self::View, q: f64) -> f64 {
        view.quantile(q).ok().flatten().unwrap_or(f64::NAN)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0);
        true
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.total_weight())
    }
    fn encode(&mut self) -> Option<Vec<u8>> {
        Some(self.0.serialize())
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        datasketches::tdigest::TDigestMut::deserialize(bytes).ok().map(Self)
    }
}

/// The crate `tdigest`.
#[derive(Clone)]
pub struct TdigestCrate<const DELTA: u32>(tdigest::TDigest);

impl<const DELTA: u32> Contender for TdigestCrate<DELTA> {
    const NAME: &'static str = "tdigest";
    type View = Self;

    fn new() -> Self {
        Self(tdigest::TDigest::new_with_size(DELTA as usize))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.push(value);
    }
    fn view(&mut self) -> Self {
        self.0.flush();
        self.clone()
    }
    fn quantile(view: &Self, q: f64) -> f64 {
        view.0.estimate_quantile(q).unwrap_or(f64::NAN)
    }
    fn merge(&mut self, other: &Self) -> bool {
        let merged = tdigest::TDigest::merge_digests(vec![std::mem::take(&mut self.0), other.0.clone()]);
        self.0 = black_box(merged);
        true
    }
}

/// The crate `tdigests`, which takes lists of values: a buffer stands before it, as large as ours.
#[derive(Clone)]
pub struct TdigestsCrate<const DELTA: u32> {
    digest: Option<tdigests::TDigest>,
    buffer: Vec<f64>,
}

impl<const DELTA: u32> TdigestsCrate<DELTA> {
    fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let fresh = tdigests::TDigest::from_values(std::mem::take(&mut self.buffer));
        let mut digest = match self.digest.take() {
            Some(digest) => digest.merge(&fresh),
            None => fresh,
        };
        digest.compress(DELTA as usize);
        self.digest = Some(digest);
    }
}

impl<const DELTA: u32> Contender for TdigestsCrate<DELTA> {
    const NAME: &'static str = "tdigests";
    type View = Self;

    fn new() -> Self {
        Self { digest: None, buffer: Vec::new() }
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.buffer.push(value);
        if self.buffer.len() >= 8 * DELTA as usize {
            self.flush();
        }
    }
    fn view(&mut self) -> Self {
        self.flush();
        self.clone()
    }
    fn quantile(view: &Self, q: f64) -> f64 {
        view.digest.as_ref().map_or(f64::NAN, |digest| digest.estimate_quantile(q))
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.flush();
        let mut other = other.clone();
        other.flush();
        if let (Some(digest), Some(other)) = (&mut self.digest, &other.digest) {
            *digest = digest.merge(other);
            digest.compress(DELTA as usize);
        }
        true
    }
}

/// The KLL sketch of `datasketches`, k = 200.
pub struct DsKll(datasketches::kll::KllSketch<KllFloat<f64>>);

impl Contender for DsKll {
    const NAME: &'static str = "datasketches";
    type View = datasketches::kll::SortedView<KllFloat<f64>>;

    fn new() -> Self {
        Self(datasketches::kll::KllSketch::new(200).expect("a usual k"))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        if let Ok(value) = KllFloat::<f64>::new(value) {
            self.0.update(value);
        }
    }
    fn view(&mut self) -> Self::View {
        self.0.sorted_view()
    }
    fn quantile(view: &Self::View, q: f64) -> f64 {
        view.quantile(q, SearchCriteria::Inclusive).ok().flatten().map_or(f64::NAN, KllFloat::into_inner)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.n())
    }
    fn encode(&mut self) -> Option<Vec<u8>> {
        Some(self.0.serialize())
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        datasketches::kll::KllSketch::deserialize(bytes).ok().map(Self)
    }
}

/// `asap_sketchlib`'s KLL sketch, k = 200.
#[derive(Clone)]
pub struct AsapKll(asap_sketchlib::Kll<f64>);

impl Contender for AsapKll {
    const NAME: &'static str = "asap_sketchlib";
    type View = asap_sketchlib::sketches::kll::Cdf;

    fn new() -> Self {
        Self(asap_sketchlib::Kll::with_k_and_seed(200, 1))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        self.0.update(&value);
    }
    fn view(&mut self) -> Self::View {
        self.0.cdf()
    }
    fn quantile(view: &Self::View, q: f64) -> f64 {
        view.value_at(q)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0);
        true
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.count() as u64)
    }
}

const OTHER_CONTRACT: &str = "bounds ranks relative to one end, in more bytes";

/// The REQ sketch of `datasketches`, k = 12, sharp at the upper end.
pub struct DsReq(datasketches::req::ReqSketch<ReqFloat<f64>>);

impl Contender for DsReq {
    const NAME: &'static str = "datasketches (REQ, k = 12)";
    const NOT_FOR: NotFor = &[
        ("insert", OTHER_CONTRACT),
        ("quantile", OTHER_CONTRACT),
        ("merge", OTHER_CONTRACT),
        ("encode", OTHER_CONTRACT),
        ("decode", OTHER_CONTRACT),
    ];
    type View = datasketches::req::SortedView<ReqFloat<f64>>;

    fn new() -> Self {
        Self(datasketches::req::ReqSketch::new(12, RankAccuracy::HighRank).expect("a usual k"))
    }
    #[inline]
    fn insert(&mut self, value: f64) {
        if let Ok(value) = ReqFloat::<f64>::new(value) {
            self.0.update(value);
        }
    }
    fn view(&mut self) -> Self::View {
        self.0.sorted_view()
    }
    fn quantile(view: &Self::View, q: f64) -> f64 {
        view.quantile(q, SearchCriteria::Inclusive).ok().flatten().map_or(f64::NAN, ReqFloat::into_inner)
    }
    fn merge(&mut self, other: &Self) -> bool {
        self.0.merge(&other.0).is_ok()
    }
    fn count(&self) -> Option<u64> {
        Some(self.0.n())
    }
    fn encode(&mut self) -> Option<Vec<u8>> {
        Some(self.0.serialize())
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        datasketches::req::ReqSketch::deserialize(bytes).ok().map(Self)
    }
}
