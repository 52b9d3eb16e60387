//! Making room: the shortest way to an empty slot, found before anything is moved.

use crate::Error;
use crate::geometry::{Bucket, Entry, Growth, Place};
use crate::lanes::{Form, NONE, SLOTS, Window};
use crate::table::Table;

/// Most buckets that are looked into for an empty slot: a table of no more is searched whole. Some of every
/// hundred buckets have one even at the highest load, so that the limit is met only where the table is as good as full.
const NODES: usize = 512;

/// Bits of the memory of buckets that were seen; a larger table takes a few of its buckets for seen ones.
const SEEN_BITS: u64 = 4096;

/// The two buckets of the new entry come first in the tree.
const ROOTS: usize = 2;

/// Stores an entry both of whose buckets are full.
///
/// Breadth first: of all chains of moves that end at an empty slot a shortest one is taken, always the same one for
/// the same table. Nothing is written before it is found.
#[inline(never)]
pub(crate) fn insert<G: Growth, F: Form>(table: &mut Table<G>, entry: Entry) -> Result<(), Error> {
    let roots = table.places(entry);
    if table.is_at_limit_in::<F>(entry) {
        return Err(Error::DuplicateLimit);
    }
    if !one_move::<G, F>(table, roots) {
        search::<G, F>(table, roots)?;
    }
    table.count_one();
    Ok(())
}

/// Moves one entry of the two buckets to its other bucket, if one of them has room there, and takes its slot.
fn one_move<G: Growth, F: Form>(table: &mut Table<G>, roots: [Place; 2]) -> bool {
    let width = table.lanes().width();
    let mut others = roots.map(|root| [root; SLOTS as usize]);
    for (root, others) in roots.into_iter().zip(&mut others) {
        let window = table.window::<F>(root.bucket);
        for (at, other) in (0..SLOTS).map(|slot| slot * width).zip(others) {
            *other = other_place(table, root.bucket, window.get(table.lanes(), at));
            table.prefetch(*other);
        }
    }
    for (root, others) in roots.into_iter().zip(others) {
        for (at, other) in (0..SLOTS).map(|slot| slot * width).zip(others) {
            let hole = table.hole::<F>(other.bucket);
            if hole != NONE {
                table.set::<F>(other.bucket, hole, other.value);
                table.set::<F>(root.bucket, at, root.value);
                return true;
            }
        }
    }
    false
}

/// A tree of buckets: each but the two roots is the other bucket of an entry in a slot of its parent.
struct Tree {
    buckets: [Bucket; NODES],
    /// The parent's number, times the slots, plus the slot.
    from: [u16; NODES],
    len: usize,
    seen: [u64; (SEEN_BITS / 64) as usize],
}

impl Tree {
    fn new(roots: [Place; 2]) -> Self {
        let mut tree = Self {
            buckets: [Bucket::FIRST; NODES],
            from: [0; NODES],
            len: 0,
            seen: [0; (SEEN_BITS / 64) as usize],
        };
        for (node, root) in roots.into_iter().enumerate() {
            tree.visit(root.bucket);
            tree.buckets[node] = root.bucket;
        }
        tree.len = ROOTS;
        tree
    }

    /// False if the bucket was seen before.
    fn visit(&mut self, bucket: Bucket) -> bool {
        let bit = bucket.number() % SEEN_BITS;
        let word = &mut self.seen[(bit / 64) as usize];
        let before = *word;
        *word |= 1 << (bit % 64);
        *word != before
    }

    fn push(&mut self, bucket: Bucket, parent: usize, slot: u32) {
        if self.len < NODES && self.visit(bucket) {
            self.buckets[self.len] = bucket;
            self.from[self.len] = (parent * SLOTS as usize) as u16 + slot as u16;
            self.len += 1;
        }
    }
}

/// Finds a way of more than one move, and goes it.
#[inline(never)]
fn search<G: Growth, F: Form>(table: &mut Table<G>, roots: [Place; 2]) -> Result<(), Error> {
    let mut tree = Tree::new(roots);
    let mut node = 0;
    while node < tree.len {
        let bucket = tree.buckets[node];
        let window = table.window::<F>(bucket);
        for slot in 0..SLOTS {
            let value = window.get(table.lanes(), slot * table.lanes().width());
            let other = other_place(table, bucket, value);
            let hole = table.hole::<F>(other.bucket);
            if hole != NONE {
                table.set::<F>(other.bucket, hole, other.value);
                walk_back::<G, F>(table, &tree, roots, node, slot);
                return Ok(());
            }
            tree.push(other.bucket, node, slot);
        }
        node += 1;
    }
    Err(Error::Full)
}

/// Fills the slot of a node whose entry has moved on from its parent, and so on up to a root, which gets the new
/// entry.
fn walk_back<G: Growth, F: Form>(
    table: &mut Table<G>,
    tree: &Tree,
    roots: [Place; 2],
    mut node: usize,
    mut slot: u32,
) {
    let width = table.lanes().width();
    while node >= ROOTS {
        let from = u32::from(tree.from[node]);
        let (parent, parent_slot) = ((from / SLOTS) as usize, from % SLOTS);
        let parent_bucket = tree.buckets[parent];
        let value = table.window::<F>(parent_bucket).get(table.lanes(), parent_slot * width);
        let moved = other_place(table, parent_bucket, value);
        table.set::<F>(tree.buckets[node], slot * width, moved.value);
        (node, slot) = (parent, parent_slot);
    }
    table.set::<F>(tree.buckets[node], slot * width, roots[node].value);
}

#[inline]
fn other_place<G: Growth>(table: &Table<G>, bucket: Bucket, value: u64) -> Place {
    table.geometry().other(Place { bucket, value })
}
