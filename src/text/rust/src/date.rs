//! strftime for `strftime_now`, on seconds that the caller supplies: a chat template's date must be reproducible in tests.

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

struct Date {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: i64,
    weekday: usize, // 0 is Thursday, the weekday of 1970-01-01
    second: i64,    // of the day
}

/// Gregorian date of seconds since 1970 (days are counted from 0000-03-01, so that the leap day is a year's last).
fn date_of(seconds: i64) -> Date {
    let days = seconds.div_euclid(86400);
    let shifted = days + 719468;
    let era = shifted.div_euclid(146097);
    let day_of_era = shifted.rem_euclid(146097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    let day_of_march_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_march_year + 2) / 153;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let january_first = if month <= 2 { 306 } else { -59 - i64::from(leap) };
    Date {
        year,
        month,
        day: day_of_march_year - (153 * march_month + 2) / 5 + 1,
        day_of_year: day_of_march_year - january_first + 1,
        weekday: days.rem_euclid(7) as usize,
        second: seconds.rem_euclid(86400),
    }
}

/// The conversions of Python's strftime in the C locale; `%-d` and the like drop the padding. Unknown conversions stay as they are.
pub fn strftime(format: &str, seconds: i64) -> String {
    let date = date_of(seconds);
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('-') => match chars.next() {
                Some(c) => convert(&mut out, &date, c, false),
                None => out.push_str("%-"),
            },
            Some(c) => convert(&mut out, &date, c, true),
            None => out.push('%'),
        }
    }
    out
}

fn convert(out: &mut String, date: &Date, conversion: char, pad: bool) {
    let (hour, minute, second) = (date.second / 3600, date.second / 60 % 60, date.second % 60);
    let hour12 = (hour + 11) % 12 + 1;
    let month = MONTHS[(date.month - 1) as usize];
    let weekday = WEEKDAYS[date.weekday];
    let mut number = |value: i64, width: usize| {
        let width = if pad { width } else { 0 };
        out.push_str(&format!("{value:0width$}"));
    };
    match conversion {
        'Y' => number(date.year, 4),
        'y' => number(date.year.rem_euclid(100), 2),
        'm' => number(date.month, 2),
        'd' => number(date.day, 2),
        'j' => number(date.day_of_year, 3),
        'H' => number(hour, 2),
        'I' => number(hour12, 2),
        'M' => number(minute, 2),
        'S' => number(second, 2),
        'e' => out.push_str(&format!("{:2}", date.day)),
        'B' => out.push_str(month),
        'b' | 'h' => out.push_str(&month[..3]),
        'A' => out.push_str(weekday),
        'a' => out.push_str(&weekday[..3]),
        'p' => out.push_str(if hour < 12 { "AM" } else { "PM" }),
        'F' => out.push_str(&format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)),
        'T' => out.push_str(&format!("{hour:02}:{minute:02}:{second:02}")),
        'R' => out.push_str(&format!("{hour:02}:{minute:02}")),
        'D' => out.push_str(&format!("{:02}/{:02}/{:02}", date.month, date.day, date.year.rem_euclid(100))),
        '%' => out.push('%'),
        other => {
            out.push('%');
            if !pad {
                out.push('-');
            }
            out.push(other);
        }
    }
}
