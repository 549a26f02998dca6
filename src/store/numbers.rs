//! A parser for JSON numbers: bit for bit the results of the standard library, in a third of the
//! time.

/// Powers of ten from 10^-`MOST_EXPONENT` to 10^`MOST_EXPONENT`.
const TENS: [f64; 45] = [
    1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10,
    1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
const MOST_EXPONENT: i32 = 22;
/// Number of decimal digits that always fit in 64 bits.
const MOST_DIGITS: usize = 19;
/// Bits of an `f64` that an `f32` does not have.
const ROUNDED_BITS: u32 = 29;

/// Parses the number at the start of `text`; returns it with its length in bytes. Returns `None` if
/// that is not a valid JSON number. The number may be infinite.
pub(super) fn number(text: &[u8]) -> Option<(f32, usize)> {
    let is_negative = text.first() == Some(&b'-');
    let whole = usize::from(is_negative);
    let (digits, mut end) = few_digits(text, whole, 0);
    let n_whole = end - whole;
    let begins_with_zero = text.get(whole) == Some(&b'0');
    if n_whole == 0 || (begins_with_zero && n_whole > 1) {
        return None;
    }
    let (mut digits, mut exponent, mut n_digits) =
        (digits, 0, if begins_with_zero { 0 } else { n_whole });
    if text.get(end) == Some(&b'.') {
        let fraction = end + 1;
        (digits, end) = self::digits(text, fraction, digits);
        if end == fraction {
            return None;
        }
        n_digits += end - fraction;
        exponent = -i32::try_from(end - fraction).ok()?;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let is_below = text.get(end + 1) == Some(&b'-');
        let start = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'-' | b'+')));
        let (power, after) = self::digits(text, start, 0);
        if after == start {
            return None;
        }
        // An exponent of more than four digits becomes 9999, which `rounded` rejects, so the
        // standard library parses the number.
        let power = if after - start > 4 { 9999 } else { i32::try_from(power).ok()? };
        (exponent, end) = (exponent + if is_below { -power } else { power }, after);
    }
    let quick = if n_digits <= MOST_DIGITS { rounded(digits, exponent) } else { None };
    let value = match quick {
        Some(value) => value.copysign(if is_negative { -1.0 } else { 1.0 }),
        None => std::str::from_utf8(&text[..end]).ok()?.parse().ok()?,
    };
    Some((value, end))
}

/// Returns `digits` × 10^`exponent`, unless an `f64` is too inexact to decide the result. Three
/// roundings (the digits, the power, the product) move the `f64` by at most three units in its last
/// place. So it rounds to the same `f32` as the exact value, unless it is that close to the middle
/// between two `f32` values.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "that is the point"
)]
fn rounded(digits: u64, exponent: i32) -> Option<f32> {
    const MIDDLE: u64 = 1 << (ROUNDED_BITS - 1);
    const MARGIN: u64 = 8;
    let value = digits as f64 * TENS.get(usize::try_from(exponent + MOST_EXPONENT).ok()?)?;
    let rest = value.to_bits() & ((1 << ROUNDED_BITS) - 1);
    let is_normal = value >= f64::from(f32::MIN_POSITIVE) && value <= f64::from(f32::MAX);
    (digits == 0 || is_normal && rest.abs_diff(MIDDLE) > MARGIN).then_some(value as f32)
}

/// Appends the digits from `at` on to `number`; returns the new number and where the digits end.
/// The number wraps around if it exceeds 64 bits.
fn digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(eight) = text.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()) {
        let (value, n) = digits_of(eight);
        number = number.wrapping_mul(WHOLE_TENS[n]).wrapping_add(value);
        at += n;
        if n < 8 {
            return (number, at);
        }
    }
    few_digits(text, at, number)
}

const WHOLE_TENS: [u64; 9] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Returns the number that the leading digits of `bytes` form, and how many digits these are. It
/// has no branches, since numbers have any length.
fn digits_of(bytes: [u8; 8]) -> (u64, usize) {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const UPPER: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    let v = u64::from_le_bytes(bytes);
    // The upper half byte of an ASCII digit is 3, and stays 3 when six is added.
    let others = ((v ^ ZEROS) | (v.wrapping_add(0x0606_0606_0606_0606) ^ ZEROS)) & UPPER;
    let n = others.trailing_zeros() / 8;
    // Shift the digits to the end, behind zeros; then combine neighbouring digits, all at once.
    let v = v.checked_shl(64 - 8 * n).unwrap_or_default() & 0x0f0f_0f0f_0f0f_0f0f;
    let v = v.wrapping_mul((10 << 8) + 1) >> 8;
    let v = (v & 0x00ff_00ff_00ff_00ff).wrapping_mul((100 << 16) + 1) >> 16;
    ((v & 0x0000_ffff_0000_ffff).wrapping_mul((10_000 << 32) + 1) >> 32, n as usize)
}

/// Appends the digits from `at` on to `number` as [`digits`] does, but one at a time.
fn few_digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(digit) =
        text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
    {
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        at += 1;
    }
    (number, at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_is_the_same(text: &str) {
        let ours = number(text.as_bytes()).map(|(value, n)| (value.to_bits(), n));
        let theirs = text.parse::<f32>().unwrap();
        assert_eq!(ours, Some((theirs.to_bits(), text.len())), "{text}");
    }

    #[test]
    fn numbers_at_the_edges_are_those_of_the_standard_library() {
        for text in [
            "0", "-0", "0.0", "-0.0e5", "1", "12345678", "123456789012345678",
            "9999999999999999999", "18446744073709551616", "1e22", "1e23", "1e-22", "1E+5",
        ] {
            assert_is_the_same(text);
        }
        // Middles between two neighbouring `f32` values, and numbers next to them.
        for text in [
            "16777217", "16777217.0000001", "16777216.9999999", "33554435",
            "1.00000005960464477539", "1.000000059604644775390625", "1.0000000596046448",
        ] {
            assert_is_the_same(text);
        }
        for text in [
            "3.4028234663852886e38",
            "3.4028235677973366e38",
            "1e39",
            "1e99999",
            "1e-99999",
            "1.1754943e-38",
            "1.1754942e-38",
            "1e-45",
            "7e-46",
            "0.000000000000000000000000000000000000011754942",
        ] {
            assert_is_the_same(text);
        }
        for text in [
            "", "-", "+1", ".5", "1.", "01", "-01", "1e", "1e+", "nan", "inf", "-inf", "e5",
            "\u{e9}",
        ] {
            let whole = number(text.as_bytes()).filter(|(_, n)| *n == text.len());
            assert!(whole.is_none(), "{text}");
        }
        assert_eq!(number(b"1.5, 2"), Some((1.5, 3)));
        for i in 0..8 {
            for byte in 0..=255 {
                let mut bytes = *b"12345678";
                bytes[i] = byte;
                assert_eq!(digits_of(bytes), few_digits(&bytes, 0, 0), "{bytes:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn any_number_is_that_of_the_standard_library(text in "-?(0|[1-9][0-9]{0,21})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?") {
            assert_is_the_same(&text);
        }

        /// Numbers as programs print them.
        #[test]
        fn numbers_that_are_written_out_come_back(single: f32, double: f64) {
            for text in [single.to_string(), f64::from(single).to_string(), double.to_string(), format!("{single:e}"), format!("{double:e}"), format!("{:.8}", single % 1.0)] {
                if text.ends_with(|c: char| c.is_ascii_digit()) {
                    assert_is_the_same(&text);
                }
            }
        }

        /// Middles between two neighbours, written with few and with all digits.
        #[test]
        fn middles_are_rounded_alike(bits in 0x0080_0000_u32..0x7f7f_ffff, n in 6_usize..24) {
            let (low, high) = (f64::from(f32::from_bits(bits)), f64::from(f32::from_bits(bits + 1)));
            let middle = low / 2.0 + high / 2.0;
            for value in [middle, middle.next_up(), middle.next_down(), middle.next_up().next_up()] {
                assert_is_the_same(&value.to_string());
                assert_is_the_same(&format!("{value:.n$e}"));
            }
        }
    }
}
