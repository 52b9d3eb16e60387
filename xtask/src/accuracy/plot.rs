//! Plots of results, as SVG that is the same on every machine.

use pds_testkit::{Plot, Row};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Outcome;

const SIZE: (u32, u32) = (760, 420);

/// Legible on white, told apart with colour-blind eyes.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Draws the wanted columns of the rows.
///
/// Logarithms are taken here, by `libm`, and the axes are linear in them: the drawing library's own would come from
/// the platform.
pub(super) fn svg(plot: &Plot, outcome: &Outcome, note: &str) -> String {
    let lines = lines(plot, &outcome.rows);
    let mut text = String::new();
    draw(plot, &lines, &mut text).expect("drawing into a string has nowhere to fail");
    text.replacen('>', &format!(">\n<!-- {note} -->"), 1)
}

fn draw(plot: &Plot, lines: &[Line], text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let x_range = range(points().map(|point| point.0), plot.log_x);
    let y_range = range(points().map(|point| point.1), plot.log_y);

    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(x_range, y_range)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(plot.x_label)
        .y_desc(plot.y_label)
        .x_label_formatter(&|x| label(*x, plot.log_x))
        .y_label_formatter(&|y| label(*y, plot.log_y))
        .draw()?;
    for (i, line) in lines.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        chart.draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(2)))?;
        chart.draw_series(line.points.iter().map(|&point| Circle::new(point, 2, colour.filled())))?;
    }
    // A key of our own: the library's measures text by the platform's fonts.
    for (i, line) in lines.iter().enumerate() {
        let y = 22 + 18 * i as i32;
        let right = SIZE.0 as i32 - 24;
        let style = TextStyle::from(("sans-serif", 13).into_font()).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(line.name.clone(), (right - 30, y), style))?;
        area.draw(&PathElement::new(
            [(right - 24, y), (right, y)],
            COLOURS[i % COLOURS.len()].stroke_width(3),
        ))?;
    }
    area.present()?;
    Ok(())
}

/// A line per column of ordinates and per value of the series column.
fn lines(plot: &Plot, rows: &[Row]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows {
        for column in plot.y {
            let series = plot.series.and_then(|series| row.get(series)).map(pds_testkit::Value::markdown);
            let name = match &series {
                Some(series) if plot.y.len() == 1 => series.clone(),
                Some(series) => format!("{column}, {series}"),
                None => (*column).to_owned(),
            };
            let number = |column| row.get(column).and_then(pds_testkit::Value::number);
            let (Some(x), Some(y)) = (number(plot.x), number(column)) else { continue };
            if (plot.log_x && x <= 0.0) || (plot.log_y && y <= 0.0) || !x.is_finite() || !y.is_finite() {
                continue;
            }
            let point = (scaled(x, plot.log_x), scaled(y, plot.log_y));
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name, points: vec![point] }),
            }
        }
    }
    lines
}

fn scaled(value: f64, log: bool) -> f64 {
    if log { libm::log10(value) } else { value }
}

/// The data and a margin; a single value gets a unit around it.
fn range(values: impl Iterator<Item = f64>, log: bool) -> std::ops::Range<f64> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if !(low.is_finite() && high.is_finite()) {
        return 0.0..1.0;
    }
    // A linear axis of positive values begins at zero, so that sizes can be compared by eye.
    let low = if log || low < 0.0 { low } else { 0.0 };
    let margin = if high > low { (high - low) * 0.04 } else { 0.5 };
    let below = if log || low < 0.0 { margin } else { 0.0 };
    low - below..high + margin
}

fn label(value: f64, log: bool) -> String {
    let value = if log { libm::pow(10.0, value) } else { value };
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let rounded = pds_testkit::significant(value, 3);
        let trimmed = if rounded.contains('.') {
            rounded.trim_end_matches('0').trim_end_matches('.')
        } else {
            &rounded
        };
        trimmed.to_owned()
    } else {
        format!("{value:.0e}")
    }
}
