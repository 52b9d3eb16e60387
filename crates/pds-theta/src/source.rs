//! What set operations take.

use alloc::vec::Vec;

use pds_core::same_hasher;

use crate::reading::{Limits, Reading};
use crate::rice::Decoder;
use crate::{CompactTheta, Error, Fingerprint, ThetaParams, ThetaSketch, ThetaView};

/// Something that set operations take as it is: a [`ThetaSketch`], a [`CompactTheta`] or a [`ThetaView`], with hashers
/// of one type.
///
/// Compact forms are read where they are, views are decoded hash by hash from their bytes, sketches have to put their hashes
/// in order first. Of none more is read than the result needs. The trait is sealed: its methods are not for callers.
pub trait ThetaSource<H>: Parts<H> {}

impl<H, T: Parts<H> + ?Sized> ThetaSource<H> for T {}

/// The parts of a [`ThetaSource`].
pub trait Parts<H> {
    #[doc(hidden)]
    fn parts(&self) -> Operand<'_, H>;
}

/// A source, as the operations see it.
pub struct Operand<'a, H> {
    pub(crate) params: ThetaParams,
    pub(crate) reading: Reading,
    /// What its own sources allowed.
    pub(crate) limits: Limits,
    pub(crate) hasher: &'a H,
    pub(crate) hashes: Hashes<'a, H>,
}

/// Where the hashes of a source are.
pub(crate) enum Hashes<'a, H> {
    Sorted(&'a [u64]),
    Coded(Decoder<'a>),
    Loose(&'a ThetaSketch<H>),
}

impl<'a, H: Fingerprint> Operand<'a, H> {
    /// The sources' parts and their least size, if there is a source and the hashers agree.
    pub(crate) fn all(sources: &[&'a dyn ThetaSource<H>]) -> Result<(Vec<Self>, ThetaParams), Error> {
        let operands: Vec<Self> = sources.iter().map(|source| source.parts()).collect();
        let first = operands.first().ok_or(Error::Parameter {
            name: "sources",
            value: 0.0,
            domain: "at least one",
        })?;
        let expected = first.hasher.fingerprint();
        for operand in &operands {
            same_hasher(expected, operand.hasher.fingerprint())?;
        }
        let least = operands.iter().fold(first.params, |least, operand| least.min(operand.params));
        Ok((operands, least))
    }

    /// What it allows to its subsets.
    pub(crate) fn allows(&self) -> Limits {
        self.limits.and(self.reading.limits())
    }

    /// About how many hashes are below a limit.
    pub(crate) fn expected_below(&self, limit: u64) -> usize {
        if let Hashes::Sorted(hashes) = &self.hashes {
            return hashes.partition_point(|&hash| hash < limit);
        }
        let Reading { retained, theta } = self.reading;
        (u128::from(retained) * u128::from(limit.min(theta)) / u128::from(theta.max(1))) as usize
    }

    /// The hashes below a limit, in order.
    pub(crate) fn below(&self, limit: u64) -> Runs<'a> {
        match &self.hashes {
            Hashes::Sorted(hashes) => Runs::Slice(&hashes[..hashes.partition_point(|&hash| hash < limit)]),
            Hashes::Coded(decoder) => {
                Runs::Coded { decoder: decoder.clone(), limit, buffer: [0; RUN], done: false }
            }
            Hashes::Loose(sketch) => Runs::Owned { hashes: sketch.sorted_below(limit), done: false },
        }
    }
}

/// Hashes that are decoded at once.
const RUN: usize = 128;

/// Ascending hashes, some at a time.
#[allow(clippy::large_enum_variant)] // one for each operand, on the stack
pub(crate) enum Runs<'a> {
    Slice(&'a [u64]),
    Owned { hashes: Vec<u64>, done: bool },
    Coded { decoder: Decoder<'a>, limit: u64, buffer: [u64; RUN], done: bool },
}

impl Runs<'_> {
    /// The next hashes; none at the end.
    pub(crate) fn next_run(&mut self) -> &[u64] {
        match self {
            Self::Slice(rest) => core::mem::take(rest),
            Self::Owned { hashes, done } => {
                if core::mem::replace(done, true) {
                    &[]
                } else {
                    hashes
                }
            }
            Self::Coded { decoder, limit, buffer, done } => {
                let mut len = 0;
                while !*done && len < RUN {
                    match decoder.next() {
                        Some(hash) if hash < *limit => {
                            buffer[len] = hash;
                            len += 1;
                        }
                        _ => *done = true,
                    }
                }
                &buffer[..len]
            }
        }
    }

    /// All of them.
    pub(crate) fn collect(self, expected: usize) -> Vec<u64> {
        if let Self::Owned { hashes, done: false } = self {
            return hashes;
        }
        let mut all = Vec::with_capacity(expected);
        self.append_to(&mut all);
        all
    }

    /// Appends all of them.
    pub(crate) fn append_to(mut self, all: &mut Vec<u64>) {
        loop {
            let run = self.next_run();
            if run.is_empty() {
                return;
            }
            all.extend_from_slice(run);
        }
    }
}

impl<H: Fingerprint> Parts<H> for ThetaSketch<H> {
    fn parts(&self) -> Operand<'_, H> {
        Operand {
            params: self.params(),
            reading: self.reading(),
            limits: Limits::NONE,
            hasher: self.hasher(),
            hashes: Hashes::Loose(self),
        }
    }
}

impl<H: Fingerprint> Parts<H> for CompactTheta<H> {
    fn parts(&self) -> Operand<'_, H> {
        Operand {
            params: self.params(),
            reading: self.reading(),
            limits: self.limits(),
            hasher: self.hasher(),
            hashes: Hashes::Sorted(self.hashes()),
        }
    }
}

impl<H: Fingerprint> Parts<H> for ThetaView<'_, H> {
    fn parts(&self) -> Operand<'_, H> {
        Operand {
            params: self.params(),
            reading: self.reading(),
            limits: self.limits(),
            hasher: self.hasher(),
            hashes: Hashes::Coded(self.decoder()),
        }
    }
}
