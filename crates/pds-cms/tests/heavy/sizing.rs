//! From targets to capacities.

use pds_cms::prelude::*;

#[test]
fn capacities_are_the_same_in_every_release() {
    let saving = |phi| SpaceSavingParams::for_phi(phi).map(|params| params.capacity());
    let misra = |phi| MisraGriesParams::for_phi(phi).map(|params| params.capacity());
    // The doubles next to 1/3 and to 1e-6 are below them.
    for (phi, capacities) in [
        (0.9, (2, 2)),
        (0.5, (2, 2)),
        (1.0 / 3.0, (4, 6)),
        (0.3, (4, 6)),
        (0.2, (5, 8)),
        (0.1, (10, 18)),
        (0.05, (20, 38)),
        (0.02, (50, 98)),
        (0.01, (100, 198)),
        (0.003, (334, 666)),
        (0.001, (1000, 1998)),
        (1e-4, (10_000, 19_998)),
        (1e-6, (1_000_001, 2_000_000)),
    ] {
        assert_eq!((saving(phi), misra(phi)), (Ok(capacities.0), Ok(capacities.1)), "{phi}");
    }
}

#[test]
fn what_a_summary_is_sized_for_it_answers_whatever_the_stream() {
    for phi in [0.9, 0.5, 1.0 / 3.0, 0.3, 0.1, 1.0 / 7.0, 0.01] {
        let mut saving = SpaceSaving::<u64>::new(SpaceSavingParams::for_phi(phi).unwrap());
        let mut misra = MisraGries::<u64>::new(MisraGriesParams::for_phi(phi).unwrap());
        for key in 0..1000 {
            saving.insert(&key);
            misra.insert(&key);
            assert!(saving.heavy_hitters(phi, Guarantee::NoFalseNegatives).is_ok(), "{phi}, {key} keys");
            assert!(misra.heavy_hitters(phi, Guarantee::NoFalseNegatives).is_ok(), "{phi}, {key} keys");
        }
        assert!(saving.params().epsilon() <= phi && misra.params().epsilon() <= phi);
    }
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    #[allow(clippy::needless_pass_by_value)] // so that calls stay short
    fn name<T>(result: Result<T, Error>) -> &'static str {
        match result {
            Err(Error::Parameter { name, .. }) => name,
            _ => "nothing",
        }
    }
    for phi in [f64::NAN, -0.1, -0.0, 0.0, 1.0, f64::INFINITY, 1e-9, 1e-300, f64::from_bits(1)] {
        assert_eq!(name(SpaceSavingParams::for_phi(phi)), "phi", "{phi}");
        assert_eq!(name(MisraGriesParams::for_phi(phi)), "phi", "{phi}");
    }
    let sketch = CountMinParams::with_shape(4, 2).unwrap();
    for capacity in [0, (1 << 28) + 1, u32::MAX] {
        assert_eq!(name(SpaceSavingParams::with_capacity(capacity)), "capacity");
        assert_eq!(name(MisraGriesParams::with_capacity(capacity)), "capacity");
        assert_eq!(name(TopKParams::with_sketch(capacity, sketch)), "k");
        assert_eq!(name(HeavyKeeperParams::for_top(capacity)), "k");
        assert_eq!(name(HeavyKeeperParams::with_shape(5, capacity)), "buckets");
    }
    assert_eq!(name(TopKParams::for_error(5, 0.0, 0.1)), "eps");
    for base in [f64::NAN, 0.0, 1.0, 1.009, 2.1, f64::INFINITY] {
        assert_eq!(name(HeavyKeeperParams::for_top(5).unwrap().with_base(base)), "base");
    }
}

/// The greatest capacity costs nothing until keys come.
#[test]
fn memory_grows_with_the_keys() {
    let mut saving = SpaceSaving::<u64>::new(SpaceSavingParams::with_capacity(1 << 28).unwrap());
    let mut misra = MisraGries::<u64>::new(MisraGriesParams::with_capacity(1 << 28).unwrap());
    assert_eq!((saving.size_bytes(), misra.size_bytes()), (0, 0));
    saving.extend(0..100);
    misra.extend(0..100);
    assert!(saving.size_bytes() < 16_384 && misra.size_bytes() < 16_384);
}

#[test]
fn parameters_are_read_through_the_gate() {
    let params = HeavyKeeperParams::for_top(10).unwrap().with_base(1.1).unwrap().with_seed(5);
    let json = serde_json::to_string(&params).unwrap();
    assert_eq!(serde_json::from_str::<HeavyKeeperParams>(&json).unwrap(), params);
    assert!(serde_json::from_str::<HeavyKeeperParams>(&json.replace("1.1", "9.0")).is_err());
    assert_eq!(serde_json::from_str::<SpaceSavingParams>("7").unwrap().capacity(), 7);
    assert!(serde_json::from_str::<SpaceSavingParams>("0").is_err());
    assert!(serde_json::from_str::<MisraGriesParams>("0").is_err());
    let params = TopKParams::for_error(3, 0.1, 0.1).unwrap();
    let json = serde_json::to_string(&params).unwrap();
    assert_eq!(serde_json::from_str::<TopKParams>(&json).unwrap(), params);
    assert!(serde_json::from_str::<TopKParams>(&json.replace("\"k\":3", "\"k\":0")).is_err());
}

#[test]
fn what_is_priced_is_what_is_allocated_when_full() {
    for capacity in [1, 2, 3, 7, 100, 1000] {
        let mut saving = SpaceSaving::<u64>::new(SpaceSavingParams::with_capacity(capacity).unwrap());
        let mut misra = MisraGries::<u64>::new(MisraGriesParams::with_capacity(capacity).unwrap());
        let mut top = TopK::<u64>::new(TopKParams::for_error(capacity, 0.01, 0.01).unwrap());
        let mut keeper = HeavyKeeper::<u64>::new(HeavyKeeperParams::for_top(capacity).unwrap());
        let check = |sizes: [(usize, u64); 4], full: bool| {
            for (allocated, priced) in sizes {
                assert!(allocated as u64 <= priced && (!full || allocated as u64 == priced), "{sizes:?}");
            }
        };
        for key in 0..3 * u64::from(capacity) {
            saving.insert(&key);
            misra.insert(&key);
            top.insert(&key);
            keeper.insert(&key);
            let sizes = [
                (saving.size_bytes(), saving.params().size_bytes::<u64>()),
                (misra.size_bytes(), misra.params().size_bytes::<u64>()),
                (top.size_bytes(), top.params().size_bytes::<u64>()),
                (keeper.size_bytes(), keeper.params().size_bytes::<u64>()),
            ];
            check(sizes, key + 1 >= u64::from(capacity));
        }
        let (other, mine) = (saving.clone(), saving.size_bytes());
        saving.merge(&other).unwrap();
        assert_eq!(saving.size_bytes(), mine);
    }
}
