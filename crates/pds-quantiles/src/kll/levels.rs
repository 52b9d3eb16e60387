//! The levels of a sketch: one vector, the top level first, the values that came last at its end.
//!
//! An item of level `h` stands for `2^h` values. Levels above 0 are sorted. A level is compacted by leaving out every
//! other item of it, whether the even or the odd ones a coin says, and merging the rest into the level above.

use alloc::vec::Vec;
use core::ops::Range;

/// Most levels: the weights of their items are the bits of a `u64`.
pub(crate) const MAX: usize = 64;

/// What a level holds at least before it is compacted.
const LEAST: u32 = 8;

/// What level 0 holds at least: sorting this many at once is what makes insertion fast.
const LEAST_UNSORTED: u32 = 64;

/// Items of all levels, of which level `h` are those from `starts[h]` on.
#[derive(Clone)]
pub(crate) struct Levels<S> {
    items: Vec<S>,
    /// Where each level begins; at least one level.
    starts: Vec<usize>,
    /// How many items there may be before something is compacted.
    capacity: usize,
}

/// What level `level` of `levels` may hold: k at the top, two thirds of the level above below, but not less than a
/// minimum.
pub(crate) fn capacity_of(k: u16, level: usize, levels: usize) -> usize {
    let depth = levels - 1 - level;
    let mut capacity = u64::from(k);
    for _ in 0..depth {
        capacity = capacity.div_ceil(3) * 2;
        // Further down it only falls.
        if capacity <= u64::from(LEAST) {
            break;
        }
    }
    let least = if level == 0 { LEAST_UNSORTED } else { LEAST };
    capacity.max(u64::from(least)) as usize
}

/// What all levels together may hold.
pub(crate) fn capacity(k: u16, levels: usize) -> usize {
    (0..levels).map(|level| capacity_of(k, level, levels)).sum()
}

impl<S: Ord> Levels<S> {
    pub(crate) fn new(k: u16) -> Self {
        Self { items: Vec::new(), starts: [0].into(), capacity: capacity(k, 1) }
    }

    /// Of the items of all levels, the top one first, and the number of items of each, level 0 first and at least.
    pub(crate) fn from_parts(k: u16, items: Vec<S>, sizes: &[usize]) -> Self {
        let mut end = items.len();
        let starts = sizes
            .iter()
            .map(|size| {
                end -= size;
                end
            })
            .collect();
        Self { items, starts, capacity: capacity(k, sizes.len()) }
    }

    /// All items, the top level first.
    pub(crate) fn items(&self) -> &[S] {
        &self.items
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn range(&self, level: usize) -> Range<usize> {
        let end = if level == 0 { self.items.len() } else { self.starts[level - 1] };
        self.starts[level]..end
    }

    pub(crate) fn level(&self, level: usize) -> &[S] {
        &self.items[self.range(level)]
    }

    /// Whether something has to be compacted.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= self.capacity
    }

    /// Bytes of the items that are allocated.
    pub(crate) fn size_bytes(&self) -> usize {
        self.items.capacity() * size_of::<S>()
    }

    /// Gives back memory that a merge or a weight, with more items than there may be, has taken.
    pub(crate) fn shrink(&mut self) {
        if self.items.capacity() > 2 * self.capacity {
            self.items.shrink_to(self.capacity);
        }
    }

    /// Adds an item of weight 1.
    #[inline]
    pub(crate) fn push(&mut self, item: S) {
        self.items.push(item);
    }

    /// Adds an item of weight `2^level`.
    pub(crate) fn add(&mut self, k: u16, level: usize, item: S) {
        self.grow(k, level + 1);
        if level == 0 {
            return self.push(item);
        }
        let at = self.starts[level] + self.level(level).partition_point(|other| *other <= item);
        self.items.insert(at, item);
        for start in &mut self.starts[..level] {
            *start += 1;
        }
    }

    /// Puts the items of another sketch to those of the same weight.
    pub(crate) fn merge(&mut self, k: u16, other: &Self)
    where
        S: Clone,
    {
        self.grow(k, other.count());
        let levels = self.count();
        let mut items = Vec::with_capacity(self.items.len() + other.items.len());
        let mut starts = alloc::vec![0; levels];
        let sizes: Vec<usize> = (0..levels).map(|level| self.range(level).len()).collect();
        let mut mine = core::mem::take(&mut self.items).into_iter();
        for level in (0..levels).rev() {
            starts[level] = items.len();
            let mut mine = mine.by_ref().take(sizes[level]).peekable();
            let theirs = if level < other.count() { other.level(level) } else { &[] };
            if level > 0 {
                for item in theirs {
                    while let Some(first) = mine.next_if(|first| first <= item) {
                        items.push(first);
                    }
                    items.push(item.clone());
                }
                items.extend(mine);
            } else {
                items.extend(mine);
                items.extend_from_slice(theirs);
            }
        }
        (self.items, self.starts) = (items, starts);
    }

    /// Compacts the lowest level that holds what it may, of which there is one when all together are full.
    #[inline(never)]
    pub(crate) fn compact(&mut self, k: u16, coin: bool) {
        let levels = self.count();
        let full = |&level: &usize| self.range(level).len() >= capacity_of(k, level, levels);
        // There always is one; the lowest is as good as any if not.
        let level = (0..levels).find(full).unwrap_or(0);
        self.grow(k, level + 2);
        if level == 0 {
            let unsorted = self.range(0);
            self.items[unsorted].sort_unstable();
        }
        let Range { start, end } = self.range(level);
        // An odd one out stays where it is.
        let half = (end - start) / 2;
        // Those that stay change places with those that go, from the last to the first.
        for pair in (0..half).rev() {
            self.items.swap(start + 2 * pair + usize::from(coin), start + half + pair);
        }
        // Those that go come before the level above, which leaves room to merge forwards.
        let above = self.starts[level + 1];
        self.items[above..start + half].rotate_right(half);
        merge_forwards(&mut self.items[above..start + 2 * half], half, start + half - above);
        let merged = start + half;
        self.items.drain(merged..merged + half);
        self.starts[level] = merged;
        for start in &mut self.starts[..level] {
            *start -= half;
        }
    }

    /// Empty levels on top, until there are so many.
    fn grow(&mut self, k: u16, levels: usize) {
        if self.count() < levels {
            self.starts.resize(levels, 0);
            self.capacity = capacity(k, levels);
        }
    }
}

/// Merges two sorted runs, `items[gap..middle]` and `items[middle..]`, to `items[..]` less its last `gap` places, which
/// is where what lay before goes.
///
/// The second run is no longer than the gap: what is written never reaches what is still to be read.
fn merge_forwards<S: Ord>(items: &mut [S], gap: usize, middle: usize) {
    let (mut first, mut second) = (gap, middle);
    for to in 0..items.len() - gap {
        let from_second = first == middle || (second < items.len() && items[second] < items[first]);
        let from = if from_second { &mut second } else { &mut first };
        items.swap(to, *from);
        *from += 1;
    }
}

#[cfg(test)]
mod tests {
    use pds_testkit::SplitMix64;

    use super::*;

    #[test]
    fn two_runs_are_merged_whatever_their_order() {
        let mut random = SplitMix64::new(7);
        for _ in 0..2000 {
            let (u, h) = (random.below(20) as usize, 1 + random.below(20) as usize);
            let mut runs = |n: usize| {
                let mut run: Vec<u64> = (0..n).map(|_| random.below(30)).collect();
                run.sort_unstable();
                run
            };
            let (a, b) = (runs(u), runs(h));
            let mut items = [alloc::vec![u64::MAX; h], a.clone(), b.clone()].concat();
            merge_forwards(&mut items, h, h + u);
            let mut expected = [a, b].concat();
            expected.sort_unstable();
            assert_eq!(items[..u + h], expected);
            assert_eq!(items[u + h..], alloc::vec![u64::MAX; h]);
        }
    }

    #[test]
    fn capacities_fall_by_a_third_to_a_minimum() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(|level| capacity_of(200, level, 6)), [64, 40, 60, 90, 134, 200]);
        assert_eq!(capacity_of(200, 1, MAX), 8);
        assert_eq!(capacity_of(u16::MAX, 0, 1), 65_535);
        assert_eq!(capacity_of(8, 0, 1), 64);
    }
}
