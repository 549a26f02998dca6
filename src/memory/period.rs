//! Parses times as people and agents write them.

use chrono::{
    DateTime, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc,
};

/// A period of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Period {
    /// At this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Before this time.
    pub until: Option<DateTime<Utc>>,
}

/// Why a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a time: give a date (2026-01-31), a date and time (2026-01-31T12:00:00Z), or how long ago (30m, 12h, 3d, 2w)"
)]
pub struct NoTime(String);

impl Period {
    /// Parses both ends. A date means the whole local day: `since` is its start, `until` the start
    /// of the next day.
    ///
    /// # Errors
    /// When one of them is not a time.
    pub fn parse(
        since: Option<&str>,
        until: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Self, NoTime> {
        let time = |text: Option<&str>, days: u64| {
            text.map(str::trim)
                .filter(|text| !text.is_empty())
                .map(|text| read(text, days, now).ok_or_else(|| NoTime(text.into())))
                .transpose()
        };
        Ok(Self { since: time(since, 0)?, until: time(until, 1)? })
    }

    /// Returns whether the period contains a time.
    #[must_use]
    pub fn contains(&self, at: DateTime<Utc>) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }
}

/// Parses a time. A date means midnight, `days` days after it.
fn read(text: &str, days: u64, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.to_utc());
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        return here(date.checked_add_days(Days::new(days))?.and_time(NaiveTime::MIN));
    }
    let clock = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"];
    if let Some(at) = clock.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()) {
        return here(at);
    }
    let unit = text.chars().next_back()?;
    let n: i64 = text.strip_suffix(unit)?.parse().ok().filter(|n| *n >= 0)?;
    let ago = match unit {
        'm' => TimeDelta::try_minutes(n),
        'h' => TimeDelta::try_hours(n),
        'd' => TimeDelta::try_days(n),
        'w' => TimeDelta::try_weeks(n),
        _ => None,
    };
    now.checked_sub_signed(ago?)
}

/// Converts a local time. A time that clocks skip becomes the next one that exists.
fn here(at: NaiveDateTime) -> Option<DateTime<Utc>> {
    let found = Local.from_local_datetime(&at).earliest();
    found
        .or_else(|| Local.from_local_datetime(&(at + TimeDelta::hours(1))).earliest())
        .map(|at| at.to_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_clock_times_or_how_long_ago() {
        let now: DateTime<Utc> = "2026-03-10T12:00:00Z".parse().unwrap();
        let since = |text| Period::parse(Some(text), None, now).map(|p| p.since.unwrap());
        for (text, is) in [
            ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"),
            ("30m", "2026-03-10T11:30:00Z"),
            (" 12h ", "2026-03-10T00:00:00Z"),
            ("3d", "2026-03-07T12:00:00Z"),
            ("2w", "2026-02-24T12:00:00Z"),
        ] {
            assert_eq!(since(text), Ok(is.parse().unwrap()), "{text}");
        }
        let day = Period::parse(Some("2026-01-31"), Some("2026-01-31"), now).unwrap();
        assert_eq!(
            day.until.unwrap() - day.since.unwrap(),
            TimeDelta::days(1),
            "a date is the whole day"
        );
        assert_eq!(since("2026-01-31 00:00"), Ok(day.since.unwrap()));
        for none in [
            "yesterday", "3", "d", "-3d", "3y", "2026-13-01", "99999999999999999d",
            "9223372036854775807w", "3é",
        ] {
            assert_eq!(since(none), Err(NoTime(none.into())), "{none}");
        }
        assert_eq!(Period::parse(Some(" "), None, now), Ok(Period::default()));
    }

    #[test]
    fn a_period_has_its_beginning_and_not_its_end() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let period = Period {
            since: Some(at("2026-01-01T00:00:00Z")),
            until: Some(at("2026-01-02T00:00:00Z")),
        };
        assert!(
            period.contains(at("2026-01-01T00:00:00Z"))
                && !period.contains(at("2026-01-02T00:00:00Z"))
        );
        assert!(
            !period.contains(at("2025-12-31T23:59:59Z"))
                && Period::default().contains(at("2026-01-02T00:00:00Z"))
        );
    }
}
