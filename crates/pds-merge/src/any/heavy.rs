//! Lists of the keys that occur most often.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use pds_cms::{HeavyKeeper, MisraGries, SpaceSaving, TopK};
use pds_core::wire::Kind;

use super::answer::TOP;
use super::counts::{share_of_total, wide};
use super::display::exact;
use super::held::{Held, Parameters};
use super::{Answer, ListHasher, MergeLaw, Stated};
use crate::{Error, Fingerprint, Merge, Sketch};

/// What all of them answer alike.
macro_rules! hold_list {
    ($list:ident $kind:ident $law:ident, $unlisted:expr, $room:expr, { $($own:item)* }) => {
        impl Held for $list<Vec<u8>, ListHasher> {
            const KIND: Kind = Kind::$kind;
            const NAME: &'static str = stringify!($list);

            fn read(bytes: &[u8], lists: &ListHasher) -> Result<Self, Error> {
                Self::from_bytes_with(bytes, lists.clone())
            }

            fn write(&self) -> Vec<u8> {
                self.to_bytes()
            }

            fn hashed_by(&self) -> u64 {
                self.hasher().fingerprint()
            }

            fn bytes(&self) -> usize {
                self.size_bytes()
            }

            fn law(&self) -> MergeLaw {
                MergeLaw::$law
            }

            fn ask(&self) -> Answer {
                Answer::HeavyHitters {
                    total: self.total(),
                    listed: self.len(),
                    top: self.top(TOP).iter().map(pds_cms::HeavyHitter::cloned).collect(),
                    unlisted: $unlisted(self),
                }
            }

            fn fill(&self) -> Option<f64> {
                let room: u32 = $room(self);
                Some(self.len() as f64 / f64::from(room))
            }

            $($own)*
        }
    };
}

/// The two whose counters are all that they have.
macro_rules! hold_counters {
    ($list:ident $kind:ident) => {
        hold_list! {
            $list $kind Bounded,
            |list: &Self| Some(list.max_error()),
            |list: &Self| list.params().capacity(),
            {
                fn take(&mut self, other: &Self) -> Result<(), Error> {
                    self.merge(other)
                }

                fn parameters(&self) -> Parameters {
                    vec![("capacity", self.params().capacity().to_string())]
                }

                fn stated(&self) -> Option<Stated> {
                    Some(Stated::ShareOfTotal { epsilon: self.params().epsilon(), delta: 0.0 })
                }
            }
        }
    };
}

hold_counters! { SpaceSaving SPACE_SAVING }
hold_counters! { MisraGries MISRA_GRIES }

hold_list! {
    TopK TOP_K Bounded,
    |list: &Self| Some(list.max_unlisted()),
    |list: &Self| list.params().k(),
    {
        fn take(&mut self, other: &Self) -> Result<(), Error> {
            self.merge(other)
        }

        fn between(&self, hash: u64) -> Option<(i128, i128)> {
            Some(wide(self.sketch().bounds_hash(hash)))
        }

        fn parameters(&self) -> Parameters {
            let params = self.params();
            vec![
                ("k", params.k().to_string()),
                ("width", params.sketch().width().to_string()),
                ("depth", params.sketch().depth().to_string()),
                ("delta", exact(params.sketch().delta())),
            ]
        }

        fn stated(&self) -> Option<Stated> {
            Some(share_of_total(self.params().sketch()))
        }
    }
}

hold_list! {
    HeavyKeeper HEAVY_KEEPER None,
    |_: &Self| None,
    |list: &Self| list.params().k(),
    {
        fn parameters(&self) -> Parameters {
            let params = self.params();
            vec![
                ("k", params.k().to_string()),
                ("buckets", params.buckets().to_string()),
                ("base", exact(params.base())),
                ("seed", params.seed().to_string()),
            ]
        }
    }
}
