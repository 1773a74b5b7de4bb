"""Messages as producers write them, and as they should not: canonical JSON with every oddity that a parser may meet."""

import json
import random
from typing import Any

FURTHER = {"coast_distance_m": "double", "in_fishing": "boolean", "imo": "long", "berth": "string"}


def some_messages(seed: int, many: int, domain: str) -> list[bytes]:
    """Some plain, some with one thing or two that is not."""
    rng = random.Random(seed)
    return [message(rng, domain) for _ in range(many)]


def message(rng: random.Random, domain: str) -> bytes:
    fields = position(rng, domain)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        name = rng.choice([*fields, "extra"])
        fields[name] = rng.choice(ODD)(rng)
    for name in rng.sample(list(fields), rng.choice([0, 0, 1, 3])):
        del fields[name]
    items = list(fields.items())
    if rng.random() < 0.3:
        rng.shuffle(items)
    if rng.random() < 0.03:
        items.append(rng.choice(items) if items else ("track", Raw('"7"')))
    blank = rng.choice(["", "", "", " ", "\n", "\t "])
    text = ("," + blank).join(f"{json.dumps(k)}{blank}:{blank}{written(v)}" for k, v in items)
    whole = f"{{{blank}{text}{blank}}}"
    return rng.choice(BROKEN)(whole) if rng.random() < 0.04 else whole.encode("utf-8", "surrogatepass")


class Raw(str):
    """Text of a message as it stands."""

    __slots__ = ()


def written(value: Any) -> str:
    return str(value) if isinstance(value, Raw) else json.dumps(value)


def position(rng: random.Random, domain: str) -> dict[str, Any]:
    number = rng.randrange(200_000_000, 800_000_000)
    common = {
        "track": rng.choice([str(number), number, f"t {number}", f" @{number}@ "]),
        "time": rng.choice([_epoch, _iso])(rng),
        "lon": round(rng.uniform(-180, 180), rng.randrange(16)),
        "lat": rng.uniform(-90, 90),
        "course_deg": rng.choice([0, 359.9, 360, 360.0, -1, 12.25, 400]),
        "heading_deg": rng.choice([511, 0, 359, 360, -0.5, 180.123456789]),
        "turn_rate": rng.choice([-128, 127, -127, 0.5, -3]),
        "coast_distance_m": rng.uniform(-1e6, 1e6),
        "in_fishing": rng.random() < 0.5,
        "imo": rng.choice([0, 9_074_729, None]),
        "berth": rng.choice(["A 1", "", " ", "@@@", "7", None]),
    }
    if domain == "maritime":
        return common | {
            "mmsi": rng.choice([number, float(number)]),
            "speed_kn": rng.choice([0, 102.2, 102.3, -0.1, 12.34, 1e-7, None]),
            "nav_status": rng.choice([0, 15, 16, -1, 3.0, 2.5, None]),
            "vessel_type": rng.choice(["cargo", "fishing", "", None]),
            "ship_type": rng.choice([30, 70, 19, 100, 0, None]),
            "length_m": rng.choice([0, 0.0, 120.5]),
            "name": rng.choice(["EMMA", "EMMA@@@", "Ærø", "tab\there", 'quo"te']),
        }
    return common | {
        "engine": rng.choice(["off", "idle", "moving", "broken", "", None]),
        "speed_kmh": rng.choice([0, 50.5, 1000, 1000.1, -1, None]),
        "fuel_level": rng.choice([0, 1, 1.01, 0.4]),
        "satellites": rng.choice([4, 9.0, None]),
        "accelerating": rng.choice([True, False, None, "yes"]),
    }


def _epoch(rng: random.Random) -> Any:
    seconds = rng.choice([1_700_000_000, 1_600_000_000, 800_000_000, 700_000_000, 1_750_000_000, 4_000_000_000])
    seconds += rng.randrange(1000)
    return rng.choice(
        [
            seconds,
            seconds + rng.random(),
            seconds + 0.1234565,
            seconds * 1000 + rng.randrange(1000),
            seconds * 1_000_000 + rng.randrange(1_000_000),
            seconds * 1_000_000_000 + rng.randrange(1_000_000_000),
            str(seconds),
        ]
    )


def _iso(rng: random.Random) -> str:
    day = rng.choice(["2024-02-29", "2023-02-29", "2023-11-30", "2023-11-31", "2000-02-29", "1990-01-01", "2023-1-2"])
    clock = rng.choice(["00:00:00", "23:59:59", "24:00:00", "12:60:00", "12:30", "1:02:03"])
    part = rng.choice(["", ".1", ".123456", ".1234567", ".", ".000"])
    zone = rng.choice(["Z", "", "+00:00", "+02:00", " Z", "z"])
    return day + rng.choice("T T t") + clock + part + zone


def _digits(rng: random.Random) -> Raw:
    whole = str(rng.randrange(10 ** rng.randrange(1, 25)))
    return Raw(rng.choice(["", "-"]) + whole + rng.choice(["", f".{rng.randrange(10 ** rng.randrange(1, 25))}"]))


ODD = (
    lambda _: None,
    lambda _: True,
    lambda rng: rng.choice(["", " ", "NaN", "12", "12.5", "-0", "yes", "\u00e9", "a\\b", "\ud83d\udea2", "x" * 1200]),
    lambda _: {"a": [1, {"b": 2}]},
    lambda _: [1, 2],
    lambda rng: rng.choice([0, -0.0, 181, 91, 1e300, 1e-300, 2**31, 2**53 + 1, 2**63, -(2**31) - 1]),
    lambda rng: Raw(rng.choice(["-0", "0.0", "-0.0", "1e3", "1E-3", "01", "1.", ".5", "NaN", "+1", "Infinity"])),
    lambda rng: Raw(rng.choice(['"\\ud800"', '"\\x41"', '"\\u0041"', "'single'", "undefined", "tru", "nul", "\x01"])),
    lambda rng: rng.choice([0, 123456789, 111_111_111, 970_123_456, 2_111_111, 12_345_678]),
    _digits,
    _epoch,
    _iso,
)
BROKEN = (
    lambda text: text[:-1].encode(),
    lambda text: text.encode() + b" ",
    lambda text: text.encode() + b"x",
    lambda text: text.encode() + text.encode(),
    lambda text: b"[" + text.encode() + b"]",
    lambda _: b"",
    lambda _: b"{}",
    lambda text: text.replace("{", "{,", 1).encode(),
    lambda text: text.replace(",", ",,", 1).encode(),
    lambda text: text.encode("utf-16"),
    lambda text: text.replace('"', '"\xff', 1).encode("latin-1", "replace"),
)
