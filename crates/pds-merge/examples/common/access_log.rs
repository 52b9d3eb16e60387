//! Access logs in the common or combined format.

use super::random;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Two days, whose visitors stay for some hours and read several sections.
pub(crate) fn generated() -> impl Iterator<Item = String> {
    (0..96_000u64).map(|i| {
        let (hour, visitor, page) = (i / 2000, i / 2000 * 150 + random(i) % 1500, random(!i));
        let (day, section) = (17 + hour / 24, ["blog", "images", "files", "projects"][(page % 4) as usize]);
        let address = format!("198.18.{}.{}", visitor / 256, visitor % 256);
        format!(
            "{address} - - [{day}/May/2015:{:02}:05:03 +0000] \"GET /{section}/{page} HTTP/1.1\" 200 9",
            hour % 24
        )
    })
}

/// Address, hour and section (the first folder of the path) of a line. Hours are those of months that all have 31 days:
/// in order, and read back by [`date`].
pub(crate) fn parse(line: &[u8]) -> Option<(&[u8], u64, &[u8])> {
    let address = line.split(|&byte| byte == b' ').next().filter(|address| !address.is_empty())?;
    let time = std::str::from_utf8(line.split(|&byte| byte == b'[').nth(1)?.get(..14)?).ok()?;
    let parts: Vec<&str> = time.split(['/', ':']).collect();
    let [day, month, year, hour] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? as u64;
    let [day, year, hour] = [day, year, hour].map(|text| text.parse::<u32>().ok().map(u64::from));
    let (day, hour) = (day.filter(|day| (1..=31).contains(day))?, hour.filter(|&hour| hour < 24)?);
    let hour = ((year? * 12 + month) * 31 + day - 1) * 24 + hour;
    let path = line.split(|&byte| byte == b'"').nth(1)?.split(|&byte| byte == b' ').nth(1).unwrap_or(b"/");
    let folders = path.split(|&byte| byte == b'?').next().unwrap_or(path);
    let end = folders.iter().skip(1).position(|&byte| byte == b'/').map_or(1, |slash| slash + 2);
    let section = folders.get(..end).unwrap_or(folders);
    Some((address, hour, section))
}

/// The day of an hour divided by 24.
pub(crate) fn date(day: u64) -> String {
    format!("{:04}-{:02}-{:02}", day / 372, day / 31 % 12 + 1, day % 31 + 1)
}
