//! Audiences of campaigns: who saw both, who saw one alone, how alike they are, from the bytes that each campaign's server wrote.
//!
//! `cargo run -p pds-theta --example audiences`

use std::collections::HashSet;

use pds_theta::prelude::*;
use pds_theta::{difference, intersection, jaccard, union};

/// Who saw a campaign: overlapping ranges of users, some of them many times.
fn viewers(campaign: u64) -> impl Iterator<Item = u64> {
    (0..150_000).map(move |i| campaign * 40_000 + (i * 7919) % 100_000)
}

fn main() -> Result<(), Error> {
    let params = ThetaParams::for_error(0.01)?;
    // What is stored: one sketch a campaign, as bytes.
    let campaigns: Vec<Vec<u8>> = (0..3)
        .map(|campaign| {
            let mut sketch = ThetaSketch::new(params);
            sketch.extend(viewers(campaign));
            sketch.to_bytes()
        })
        .collect();
    let exact: Vec<HashSet<u64>> = (0..3).map(|campaign| viewers(campaign).collect()).collect();

    // Operations read the bytes where they are.
    let spring = ThetaSketch::view(&campaigns[0])?;
    let summer = ThetaSketch::view(&campaigns[1])?;
    let autumn = ThetaSketch::view(&campaigns[2])?;

    let print = |what: &str, result: &CompactTheta, exact: usize| {
        let (low, high) = result.bounds(2.0);
        println!("{what}: {:.0}, in {low:.0}..{high:.0} (exact: {exact})", result.estimate());
    };
    let any = union(&[&spring, &summer, &autumn])?;
    print("saw any campaign", &any, exact.iter().flatten().collect::<HashSet<_>>().len());
    let both = intersection(&[&spring, &summer])?;
    print("saw spring and summer", &both, exact[0].intersection(&exact[1]).count());
    // Results are sources again.
    let lost = difference(&both, &[&autumn])?;
    let seen = |user: &&u64| exact[1].contains(user) && !exact[2].contains(user);
    print("saw spring and summer, not autumn", &lost, exact[0].iter().filter(seen).count());

    let alike = jaccard(&spring, &summer)?;
    let (low, high) = alike.bounds(2.0);
    let share = exact[0].intersection(&exact[1]).count() as f64 / exact[0].union(&exact[1]).count() as f64;
    println!(
        "spring and summer are {:.3} alike, in {low:.3}..{high:.3} (exact: {share:.3})",
        alike.estimate()
    );
    Ok(())
}
