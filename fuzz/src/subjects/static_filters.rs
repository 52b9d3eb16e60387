//! Static filters.

use pds_static_filters::{
    BinaryFuse, Layout, RibbonFilter, RibbonParams, Sketch, Slot, StaticFilter, StaticParams, Xor,
};

use crate::probe::{Probe, assert_count, assert_share};
use crate::subject::Subject;

fn ask<L: Layout, S: Slot>(filter: &StaticFilter<L, S>, probe: &Probe) {
    ask_membership!(filter, probe);
    assert_share(filter.estimated_fpr());
    assert_count(filter.bits_per_key());
    assert_eq!(filter.is_empty(), matches!(filter.len(), 0));
    assert_eq!(filter.size_bytes() as u64, filter.params().size_bytes());
    _ = filter.attempts();
}

macro_rules! layouts {
    ($($layout:ty),*) => {$(
        impl<S: Slot> Subject for StaticFilter<$layout, S> {
            fn ask(&self, probe: &Probe) {
                ask(self, probe);
            }

            fn change(&mut self, _probe: &Probe) {}

            fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
                _ = StaticParams::<$layout, S>::peek(bytes);
                look!(StaticFilter<$layout, S>, bytes, decoded, |view| {
                    ask_membership!(view, probe);
                }, |view, owned| agree!(view, owned, probe, contains_hash; len, is_empty));
            }
        }
    )*};
}
layouts!(BinaryFuse<3>, BinaryFuse<4>, Xor);

impl Subject for RibbonFilter {
    fn ask(&self, probe: &Probe) {
        ask_membership!(self, probe);
        assert_share(self.estimated_fpr());
        assert_count(self.bits_per_key());
        assert_eq!(self.is_empty(), matches!(self.len(), 0));
        let all = probe.hashes.iter().all(|&hash| self.contains_hash(hash));
        assert_eq!(self.contains_all(&probe.hashes), all);
        for &keys in &probe.counts {
            assert_share(self.params().fpr(keys));
            _ = (self.params().size_bytes(keys), self.params().bits_per_key(keys));
        }
        _ = format!("{self:?}");
    }

    fn change(&mut self, _probe: &Probe) {}

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = RibbonParams::peek(bytes);
        look!(
            RibbonFilter,
            bytes,
            decoded,
            |view| ask_membership!(view, probe),
            |view, owned| agree!(view, owned, probe, contains_hash; len, is_empty, params),
        );
    }
}
