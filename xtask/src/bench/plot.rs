//! A bar for every contender, by operation and size.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::collect::{Case, Results};

const WIDTH: u32 = 900;
const ROW: i32 = 16;
const LABELS: i32 = 330;
const OURS: RGBColor = RGBColor(0, 114, 178);
const PEER: RGBColor = RGBColor(150, 150, 150);
const FAILED: RGBColor = RGBColor(213, 94, 0);

/// One bar: its label, time and colour; a heading has no time.
struct Bar {
    label: String,
    time: Option<(f64, RGBColor)>,
}

impl Bar {
    fn nanoseconds(&self) -> f64 {
        self.time.map_or(0.0, |(ns, _)| ns)
    }
}

/// Horizontal bars, each group scaled to its own longest.
pub(super) fn svg(results: &Results, cases: &[&Case]) -> String {
    let groups: Vec<Vec<Bar>> = cases
        .iter()
        .flat_map(|case| {
            results.times(case).iter().map(|(op, times)| {
                let heading = Bar { label: format!("{op}, {}", case.1), time: None };
                let mut bars: Vec<Bar> = times
                    .iter()
                    .map(|(name, &ns)| {
                        let gate = results.gate(case, name);
                        let colour = if gate.role.is_ours() {
                            OURS
                        } else if gate.failed.is_some() {
                            FAILED
                        } else {
                            PEER
                        };
                        Bar { label: name.clone(), time: Some((ns, colour)) }
                    })
                    .collect();
                bars.sort_by(|a, b| a.nanoseconds().total_cmp(&b.nanoseconds()));
                std::iter::once(heading).chain(bars).collect()
            })
        })
        .collect();
    let rows: usize = groups.iter().map(|group| group.len() + 1).sum();
    let mut text = String::new();
    let size = (WIDTH, (rows as i32 * ROW + 20) as u32);
    draw(&groups, size, &mut text).expect("drawing into a string has nowhere to fail");
    text
}

fn draw(groups: &[Vec<Bar>], size: (u32, u32), text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(text, size).into_drawing_area();
    area.fill(&WHITE)?;
    let font = |size: i32| TextStyle::from(("sans-serif", size).into_font());
    let mut y = 10;
    for group in groups {
        let longest = group.iter().filter_map(|bar| bar.time).map(|time| time.0).fold(0.0, f64::max);
        for bar in group {
            let middle = y + ROW / 2;
            match bar.time {
                None => {
                    let style = font(13).pos(Pos::new(HPos::Left, VPos::Center));
                    area.draw(&Text::new(bar.label.clone(), (8, middle), style))?;
                }
                Some((ns, colour)) => {
                    let right = font(12).pos(Pos::new(HPos::Right, VPos::Center));
                    area.draw(&Text::new(bar.label.clone(), (LABELS - 8, middle), right))?;
                    let length = (ns / longest * f64::from(WIDTH as i32 - LABELS - 90)) as i32;
                    let corners = [(LABELS, y + 2), (LABELS + length.max(1), y + ROW - 2)];
                    area.draw(&Rectangle::new(corners, colour.filled()))?;
                    let left = font(12).pos(Pos::new(HPos::Left, VPos::Center));
                    let number = format!("{} ns", pds_testkit::significant(ns, 3));
                    area.draw(&Text::new(number, (LABELS + length + 6, middle), left))?;
                }
            }
            y += ROW;
        }
        y += ROW;
    }
    area.present()?;
    Ok(())
}
