//! Sketches and lists that count how often keys occur.

use pds_cms::{
    Cell, ConservativeCountMin, CountMinParams, CountMinSketch, CountSketch, CountSketchParams,
    DecayingCountMin, DecayingCountMinParams, HeavyKeeper, HeavyKeeperParams, MisraGries, MisraGriesParams,
    Pane, SignedCell, SlidingCountMin, SlidingCountMinParams, SpaceSaving, SpaceSavingParams, TopK,
    TopKParams,
};
use pds_core::Merge;
use pds_merge::ListHasher;

use super::Differs::{First, In};
use super::{Samples, Typed, by_turn, filled, hashes};

type Plain<C> = CountMinSketch<C, ListHasher>;
type Conservative<C> = ConservativeCountMin<C, ListHasher>;
type Signed<C> = CountSketch<C, ListHasher>;
type Window<S> = SlidingCountMin<S>;

pub(super) fn add(samples: &mut Samples) {
    tables(samples);
    signed(samples);
    windows(samples);
    decaying(samples);
    lists(samples);
}

/// The shape of the first ones, which is designed for its delta.
fn designed() -> CountMinParams {
    CountMinParams::for_error(0.02, 0.05).unwrap()
}

fn wider() -> CountMinParams {
    CountMinParams::with_shape(designed().width() + 1, designed().depth()).unwrap()
}

fn deeper() -> CountMinParams {
    CountMinParams::with_shape(designed().width(), designed().depth() + 1).unwrap()
}

fn raw() -> CountMinParams {
    CountMinParams::with_shape(designed().width(), designed().depth()).unwrap()
}

fn tables(samples: &mut Samples) {
    fn plain<C: Cell>(params: CountMinParams, keys: &[u64], h: ListHasher) -> Plain<C> {
        filled!(Plain<C>, Some(params), keys, h)
    }
    let merge: Typed<Plain<u32>> = Some(Merge::merge);
    samples.hashed("count-min", First, |keys, h| plain(designed(), keys, h), merge);
    samples.hashed::<Plain<u8>>(
        "count-min of u8",
        In("cell_bytes"),
        |keys, h| plain(designed(), keys, h),
        Some(Merge::merge),
    );
    samples.hashed::<Plain<u16>>(
        "count-min of u16",
        In("cell_bytes"),
        |keys, h| plain(designed(), keys, h),
        Some(Merge::merge),
    );
    samples.hashed::<Plain<u64>>(
        "count-min of u64",
        In("cell_bytes"),
        |keys, h| plain(designed(), keys, h),
        Some(Merge::merge),
    );
    samples.hashed("count-min, wider", In("width"), |keys, h| plain(wider(), keys, h), merge);
    samples.hashed("count-min, deeper", In("depth"), |keys, h| plain(deeper(), keys, h), merge);
    samples.hashed("count-min, raw shape", In("delta"), |keys, h| plain(raw(), keys, h), merge);

    fn conservative<C: Cell>(params: CountMinParams, keys: &[u64], h: ListHasher) -> Conservative<C> {
        filled!(Conservative<C>, Some(params), keys, h)
    }
    let merge: Typed<Conservative<u32>> = Some(Merge::merge);
    samples.hashed("conservative", First, |keys, h| conservative(designed(), keys, h), merge);
    samples.hashed::<Conservative<u8>>(
        "conservative of u8",
        In("cell_bytes"),
        |keys, h| conservative(designed(), keys, h),
        Some(Merge::merge),
    );
    samples.hashed::<Conservative<u16>>(
        "conservative of u16",
        In("cell_bytes"),
        |keys, h| conservative(designed(), keys, h),
        Some(Merge::merge),
    );
    samples.hashed::<Conservative<u64>>(
        "conservative of u64",
        In("cell_bytes"),
        |keys, h| conservative(designed(), keys, h),
        Some(Merge::merge),
    );
    samples.hashed("conservative, wider", In("width"), |keys, h| conservative(wider(), keys, h), merge);
    samples.hashed("conservative, deeper", In("depth"), |keys, h| conservative(deeper(), keys, h), merge);
    samples.hashed("conservative, raw shape", In("delta"), |keys, h| conservative(raw(), keys, h), merge);
}

fn signed(samples: &mut Samples) {
    fn of<C: SignedCell>(width: u64, depth: u32, keys: &[u64], h: ListHasher) -> Signed<C> {
        let params = CountSketchParams::with_shape(width, depth).unwrap();
        let mut sketch = Signed::<C>::with_hasher(params, h.clone());
        for (i, hash) in by_turn(keys, &h) {
            sketch.insert_hash_n(hash, 1 - i.cast_signed()).unwrap();
        }
        sketch
    }
    let merge: Typed<Signed<i32>> = Some(Merge::merge);
    samples.hashed("count-sketch", First, |keys, h| of(256, 5, keys, h), merge);
    samples.hashed::<Signed<i64>>(
        "count-sketch of i64",
        In("cell_bytes"),
        |keys, h| of(256, 5, keys, h),
        Some(Merge::merge),
    );
    samples.hashed("count-sketch, wider", In("width"), |keys, h| of(257, 5, keys, h), merge);
    samples.hashed("count-sketch, deeper", In("depth"), |keys, h| of(256, 7, keys, h), merge);
}

fn windows(samples: &mut Samples) {
    fn of<S: Pane<Hasher = ListHasher>>(
        pane: CountMinParams,
        panes: u32,
        keys: &[u64],
        h: ListHasher,
    ) -> Window<S> {
        let params = SlidingCountMinParams::with_panes(pane, panes).unwrap();
        let mut window = Window::<S>::with_hasher(params, h.clone());
        for (i, hash) in by_turn(keys, &h) {
            window.advance_by(i - window.generation());
            window.insert_hash(hash);
        }
        window.advance_by(2 - window.generation());
        window
    }
    let merge: Typed<Window<Plain<u32>>> = Some(Merge::merge);
    samples.hashed("sliding", First, |keys, h| of(designed(), 3, keys, h), merge);
    macro_rules! others {
        ($($name:literal $field:literal $pane:ty;)*) => {$(
            samples.hashed::<Window<$pane>>(
                $name, In($field), |keys, h| of(designed(), 3, keys, h), Some(Merge::merge),
            );
        )*};
    }
    others! {
        "sliding, of u8" "cell_bytes" Plain<u8>;
        "sliding, of u16" "cell_bytes" Plain<u16>;
        "sliding, of u64" "cell_bytes" Plain<u64>;
        "sliding, conservative" "pane" Conservative<u32>;
        "sliding, conservative of u8" "cell_bytes" Conservative<u8>;
        "sliding, conservative of u16" "cell_bytes" Conservative<u16>;
        "sliding, conservative of u64" "cell_bytes" Conservative<u64>;
    }
    samples.hashed("sliding, more panes", In("panes"), |keys, h| of(designed(), 4, keys, h), merge);
    samples.hashed("sliding, wider", In("width"), |keys, h| of(wider(), 3, keys, h), merge);
    let later = |keys: &[u64], h| {
        let mut window = of(designed(), 3, keys, h);
        window.advance();
        window
    };
    samples.hashed("sliding, later", In("generation"), later, merge);
}

fn decaying(samples: &mut Samples) {
    type Decaying = DecayingCountMin<ListHasher>;
    fn of(table: CountMinParams, half_life: f64, keys: &[u64], h: ListHasher) -> Decaying {
        let params = DecayingCountMinParams::with_half_life(table, half_life).unwrap();
        let mut sketch = Decaying::with_hasher(params, h.clone());
        for (i, hash) in hashes(keys, &h).enumerate() {
            sketch.insert_hash(hash, i as f64).unwrap();
        }
        sketch
    }
    let merge: Typed<Decaying> = Some(Merge::merge);
    samples.hashed("decaying", First, |keys, h| of(designed(), 60.0, keys, h), merge);
    samples.hashed("decaying slower", In("half_life"), |keys, h| of(designed(), 61.0, keys, h), merge);
    samples.hashed("decaying, wider", In("width"), |keys, h| of(wider(), 60.0, keys, h), merge);
}

fn lists(samples: &mut Samples) {
    /// A list with integers as keys, which are read as their bytes.
    macro_rules! listed {
        ($list:ty, $params:expr, $keys:expr, $hasher:expr) => {{
            let mut list = <$list>::with_hasher($params.unwrap(), $hasher);
            for key in $keys {
                list.insert(key);
            }
            list
        }};
    }

    type Saving = SpaceSaving<u64, ListHasher>;
    let merge: Typed<Saving> = Some(Merge::merge);
    samples.hashed(
        "space-saving",
        First,
        |keys, h| listed!(Saving, SpaceSavingParams::with_capacity(32), keys, h),
        merge,
    );
    samples.hashed(
        "space-saving, more",
        In("capacity"),
        |keys, h| listed!(Saving, SpaceSavingParams::with_capacity(33), keys, h),
        merge,
    );

    type Gries = MisraGries<u64, ListHasher>;
    let merge: Typed<Gries> = Some(Merge::merge);
    samples.hashed(
        "misra-gries",
        First,
        |keys, h| listed!(Gries, MisraGriesParams::with_capacity(32), keys, h),
        merge,
    );
    samples.hashed(
        "misra-gries, more",
        In("capacity"),
        |keys, h| listed!(Gries, MisraGriesParams::with_capacity(33), keys, h),
        merge,
    );

    type Top = TopK<u64, ListHasher>;
    let merge: Typed<Top> = Some(Merge::merge);
    samples.hashed(
        "top-k",
        First,
        |keys, h| listed!(Top, TopKParams::with_sketch(16, designed()), keys, h),
        merge,
    );
    samples.hashed(
        "top-k, more",
        In("k"),
        |keys, h| listed!(Top, TopKParams::with_sketch(17, designed()), keys, h),
        merge,
    );
    samples.hashed(
        "top-k, wider",
        In("width"),
        |keys, h| listed!(Top, TopKParams::with_sketch(16, wider()), keys, h),
        merge,
    );

    type Keeper = HeavyKeeper<u64, ListHasher>;
    samples.hashed(
        "heavy-keeper",
        First,
        |keys, h| listed!(Keeper, HeavyKeeperParams::for_top(16), keys, h),
        None,
    );
    samples.hashed(
        "heavy-keeper, more",
        In("k"),
        |keys, h| listed!(Keeper, HeavyKeeperParams::for_top(17), keys, h),
        None,
    );
}
