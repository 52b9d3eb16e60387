//! Unique visitors by hour, merged into days: sketches are merged, their estimates never added.
//!
//! `cargo run -p pds-hll --example unique_visitors`

use std::collections::HashSet;

use pds_hll::prelude::*;

/// Who visits in an hour: a crowd that drifts, so that hours of a day overlap.
fn visitors(hour: u64) -> impl Iterator<Item = u64> {
    (0..5000).map(move |i| hour * 1500 + (i * 7919 + hour * 104_729) % 9000)
}

fn main() -> Result<(), Error> {
    let params = HllParams::for_error(0.01)?;
    // What is stored: one sketch an hour, as bytes.
    let hours: Vec<Vec<u8>> = (0..48)
        .map(|hour| {
            let mut sketch = HyperLogLog::new(params);
            sketch.extend(visitors(hour));
            sketch.to_bytes()
        })
        .collect();

    for (day, hours) in hours.chunks(24).enumerate() {
        let mut merged = HyperLogLog::new(params);
        let mut sum = 0.0;
        for bytes in hours {
            let hour = HyperLogLog::from_bytes(bytes)?;
            sum += hour.estimate();
            merged.merge(&hour)?;
        }
        let exact: HashSet<u64> = (0..24).flat_map(|hour| visitors(day as u64 * 24 + hour)).collect();
        let (low, high) = merged.bounds(2.0);
        println!(
            "day {day}: {:.0} visitors, in {low:.0}..{high:.0} (exact: {}); the sum of the hours would say {sum:.0}",
            merged.estimate(),
            exact.len()
        );
    }
    Ok(())
}
