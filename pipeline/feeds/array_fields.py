"""Text to values over arrays: the same functions as `foresail.pipeline.sources.fields` has for columns of Spark.

What a feed's columns are made of is written once, with either set of functions; that both give the same is tested.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foresail.pipeline.feeds.exact import in_zone, number_of
from foresail.pipeline.feeds.texts import Longs, Mask, Texts
from foresail.pipeline.sources.fields import EPOCH_MICROSECONDS, SHORTEST_TIME_TEXT, UNIT_FACTORS
from foresail.pipeline.stages.array_functions import Nullable, coalesce

LARGEST_LONG = 2.0**63
MOST_MICROS = 9.2e18
FORM_LETTERS = {"yyyy": 0, "MM": 1, "dd": 2, "HH": 3, "mm": 4, "ss": 5}
FORM_PARTS = re.compile(r"yyyy|MM|dd|HH|mm|ss|'[^']*'|[^A-Za-z']")

__all__ = ["coalesce"]


def number(text: Texts) -> Nullable:
    """The number that `text` spells, or null."""
    return text.numbers()


def whole(text: Texts) -> Nullable:
    """The whole number that `text` spells (`37.0` is 37), or null."""
    return as_whole(number(text))


def as_whole(value: Nullable) -> Nullable:
    """The number without its decimals; null where no long number holds it."""
    held = np.abs(value.values) < LARGEST_LONG
    return Nullable(np.where(held & value.known, value.values, 0.0).astype(np.int64), value.known & held)


def rounded(value: Nullable) -> Nullable:
    """The number nearest to it, halves away from zero, as a whole one."""
    size = np.abs(value.values)
    nearest = np.where(size == np.trunc(size), size, np.floor(size + 0.5))
    return as_whole(Nullable(np.sign(value.values) * nearest, value.known))


def as_integer(value: Nullable) -> Nullable:
    """A whole number of 32 bits; null where it does not fit."""
    fits = (value.values >= -(1 << 31)) & (value.values < 1 << 31)
    return Nullable(np.where(fits, value.values, 0).astype(np.int32), value.known & fits)


def as_text(value: Nullable | int) -> Any:
    """The whole number in digits."""
    if not isinstance(value, Nullable):
        return str(value)
    coded = pa.array(value.values, mask=~value.known).dictionary_encode()
    digits = [*(str(found) for found in coded.dictionary.to_pylist()), None]
    codes = coded.indices.fill_null(len(digits) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Texts.of(digits, codes)


def text_of(text: Texts) -> Texts:
    """`text` without blanks and AIS filling (`@`) around it, or null when nothing is left."""
    return text.stripped(" @\t\r")


def known_word(text: Texts, unknown: Sequence[str]) -> Texts:
    """Like `text_of`, and null where it is one of the words, whatever its case."""
    bare = text_of(text)
    return bare.mapped(lambda value: None if value.lower() in unknown else value)


def truth(text: Texts) -> Nullable:
    """true/false, 1/0, yes/no, on/off as a Boolean, or null."""
    words = {**dict.fromkeys(("true", "1", "yes", "on"), True), **dict.fromkeys(("false", "0", "no", "off"), False)}
    return text.looked_up(lambda value: words.get(value.strip(" ").lower()), np.bool_)


def without(text: Texts, part: str) -> Texts:
    """`text` with every `part` left out."""
    return text.mapped(lambda value: value.replace(part, ""))


def extracted(text: Texts, pattern: str) -> Texts:
    """The first group of the pattern; empty where it is not found."""
    found = re.compile(pattern)

    def group(value: str) -> str:
        match = found.search(value)
        return match.group(1) or "" if match else ""

    return text.mapped(group)


def named_code(text: Texts, table: Mapping[str, int]) -> Nullable:
    """What `table` has for a phrase, whatever its case."""
    return text.looked_up(lambda value: table.get(value.strip(" ").lower()), np.int64)


def named_text(text: Texts, table: Mapping[str, str]) -> Texts:
    """The same where it has texts."""
    return text.mapped(lambda value: table.get(value.strip(" ").lower()))


def looked_up(code: Nullable, table: Mapping[int, int]) -> Nullable:
    """What `table` has for `code`, or null."""
    least, most = min(table), max(table)
    values = np.array([table.get(code, 0) for code in range(least, most + 1)], np.int64)
    there = np.array([code in table for code in range(least, most + 1)])
    inside = code.known & (code.values >= least) & (code.values <= most)
    place = np.where(inside, code.values - least, 0)
    return Nullable(values[place], inside & there[place])


def angle_deg(value: Nullable, unit: str = "deg") -> Nullable:
    """`value` in degrees, 0..360; what is outside one turn either way is left for the cleaning to judge."""
    degrees = value.values * UNIT_FACTORS["angle"][unit]
    return Nullable(np.where((degrees < 0) & (degrees >= -360), degrees + 360, degrees), value.known)


def turn_rate_of(transmitted: Nullable, scale: float) -> Nullable:
    """Degrees a minute from the transmitted indicator; its sentinels stay for the cleaning."""
    scaled = transmitted.values / scale
    turned = np.sign(transmitted.values) * scaled * scaled
    return Nullable(np.where(np.abs(transmitted.values) >= 127, transmitted.values, turned), transmitted.known)


def scaled(value: Nullable, scale: float | None, offset: float | None) -> Nullable:
    """`value` times `scale` plus `offset`, as far as there are any."""
    larger = value if scale is None else value * scale
    return larger if offset is None else larger + offset


def time_from_iso(text: Texts, zone: str = "UTC") -> Nullable:
    """The instant that ISO 8601 text names; text without an offset is in `zone`."""
    parsed, zoned = text.instants(SHORTEST_TIME_TEXT)
    return parsed if zone == "UTC" else _in_zone(parsed, zone, ~zoned)


def time_from_format(text: Texts, pattern: str, zone: str = "UTC") -> Nullable:
    """The instant that `text` names in a datetime pattern, which has a `plain_form`."""
    form = plain_form(pattern)
    assert form is not None, "whoever reads a feed in batches looks at its patterns first"
    parsed = text.formed_instants(*form)
    return parsed if zone == "UTC" else _in_zone(parsed, zone, parsed.known)


def plain_form(pattern: str) -> tuple[Longs, int] | None:
    """Where in texts of a datetime pattern its parts stand, and their length; None where their widths may vary."""
    parts = FORM_PARTS.findall(pattern)
    if "".join(parts) != pattern:
        return None
    places, signs, at = [-1] * 6, list[int](), 0
    for part in parts:
        if part in FORM_LETTERS:
            if places[FORM_LETTERS[part]] >= 0:
                return None
            places[FORM_LETTERS[part]] = at
            at += len(part)
            continue
        for sign in part.strip("'"):
            signs += [at, ord(sign)]
            at += 1
    if min(places[:3]) < 0 or any(sign > 127 for sign in signs[1::2]):
        return None
    return np.array(places + signs, np.int64), at


def time_from_epoch(value: Nullable) -> Nullable:
    """The instant of an epoch number, in whichever unit it is."""
    size = np.abs(value.values)
    factors = [EPOCH_MICROSECONDS[unit] for unit in ("s", "ms", "us", "ns")]
    micros = value.values * np.select([size < 1e11, size < 1e14, size < 1e17], factors[:3], factors[3])
    return rounded(Nullable(micros, value.known & (np.abs(micros) < MOST_MICROS)))


def other_unit(value: Nullable, unit: str) -> Nullable:
    """Whether an epoch makes a time of this century in another unit than that; one that is not there counts as ns."""
    size = np.where(value.known, np.abs(value.values), np.inf)
    units = np.select([size < 1e11, size < 1e14, size < 1e17], [0, 1, 2], 3)
    return Nullable.of(units != ("s", "ms", "us", "ns").index(unit))


def time_from_anything(text: Texts, zone: str = "UTC") -> Nullable:
    """The instant that ISO text or an epoch number names."""
    plain, (spelled, zoned) = text.numbers(exact=False), text.instants(SHORTEST_TIME_TEXT, exact=False)
    times = spelled if zone == "UTC" else _in_zone(spelled, zone, ~zoned)
    found = coalesce(time_from_epoch(plain), times)
    rest = np.flatnonzero(text.known & ~plain.known & ~spelled.known)
    if len(rest):
        odd = text.take(rest)
        epochs = number(odd)
        exact = _chosen(epochs.known, time_from_epoch(epochs), time_from_iso(odd, zone))
        found.values[rest], found.known[rest] = exact.values, exact.known
    return found


def _chosen(condition: Mask, one: Nullable, other: Nullable) -> Nullable:
    return Nullable(np.where(condition, one.values, other.values), np.where(condition, one.known, other.known))


def _in_zone(parsed: Nullable, zone: str, which: Mask) -> Nullable:
    """Times of clocks in `zone` as instants."""
    local = pa.array(parsed.values, pa.timestamp("us"))
    try:
        moved = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="raise")
        values = moved.cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:  # an hour that clocks skipped
        coded = local.cast(pa.int64()).dictionary_encode()
        each = np.array([in_zone(value, zone) for value in coded.dictionary.to_pylist()], np.int64)
        values = each[coded.indices.to_numpy()]
    return Nullable(np.where(which, values, parsed.values), parsed.known)


def lit(value: Any) -> Any:
    """The same value in every row, which stands for itself."""
    return value


def file_name(cells: Any) -> Texts:
    """The name of the file, without folder and endings."""
    texts: Texts = cells.file_name()
    return texts


def kept_time(text: Texts) -> Nullable:
    """The instant that a further column holds."""
    time = time_from_anything(text)
    return Nullable(time.values.astype("datetime64[us]"), time.known)


def joined(parts: Sequence[Texts]) -> Texts:
    """The parts with a blank between; null where one is."""
    bare = [pc.ascii_trim(part.array(), " ") for part in parts]
    return Texts.of(pc.binary_join_element_wise(*bare, " ").to_pylist())


def known_text(text: Texts, missing: Sequence[str | float]) -> Texts:
    """`text`, or null where it is one of the values that mean: no value; -999 is also -999.0."""
    if not missing:
        return text
    words = {str(value).strip().lower() for value in missing}
    figures = {float(value) for value in missing if isinstance(value, int | float)}

    def known(value: str) -> str | None:
        bare = value.strip(" ").lower()
        return None if bare in words or number_of(bare.replace(",", ".")) in figures else value

    return text.mapped(known)


def spelled(text: Texts) -> Texts:
    """Texts are spelled."""
    return text


def with_point(text: Texts) -> Texts:
    """Commas as points."""
    return text.mapped(lambda value: value.replace(",", "."))
