"""Feeds made up to be odd: cells in every form that a reader may trip over, the same ones at each run."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

NUMBERS = (
    "", "1", "-1.5", "+2.5", " 3.25", "4.5 ", "1e1", "1.5E1", "7d", "8.5f", "NaN", "inf", "-Infinity", "0x10", "1,5",
    "x",
    "000012.50", ".5", "5.", "-0.0", "123456789012345678901", "0.12345678901234567890", "1e400", "٣", "360", "511",
    "102.3",
    "102.2", "91", "181", "-128", "127", "15", "16", "\t2", "--1", "1.2.3", "12_000", "180", "90", "109.9", "359.99",
)  # fmt: skip
TIMES = (
    "", "2024-05-01", "2024-05-01T10:00", "2024-05-01 1:2:3", "2024-05-01T10:00:00.123456789", "2024-05-01T10:00:61",
    "2024-05-01T10:00:00Z", "2024-05-01T10:00:00+02:00", "2024-05-01T10:00:00 -0330",
    "2024-05-01T10:00:00 Europe/Paris",
    "2024-02-30T10:00:00", "soon", " 2024-05-01T10:00:00 ", "2024-05-01T10:00:00+02", "1714557600",
    "2024-05-01T24:00:00",
    "20240501T100000", "2024-05-01T10:00:00.", "12024-05-01T10:00:00", "2024-5-1 10:00:00", "2099-01-01T00:00:00",
    "1970-01-01T00:00:00", "2024-05-01T10:00:00UTC",
)  # fmt: skip
DANISH_TIMES = (
    "", "01/05/2024 10:00:00", "1/5/2024 10:00:00", "31/02/2024 10:00:00", "01/05/2024 24:00:00", "01/05/2024T10:00:00",
    "01/05/2024 10:00:00 ", "29/02/2023 10:00:00", "2024-05-01 10:00:00", "01/13/2024 10:00:00",
)  # fmt: skip
EPOCHS = (
    "",
    "1714557600",
    "1714557600000",
    "1714557600.5",
    "1.7145576e9",
    "-5",
    "171455760000000",
    "x",
    "1714557600000000000",
)
TEXTS = (
    "", "ABC", " @ABC@@ ", "@", "Ærø", '"A, B"', '"A ""B"" C"', '"A" ', 'A "B" C', '"never closed', '""', "Unknown",
    "undefined",
    "A\tB", "'x'", '"A"B', "#", "null",
)  # fmt: skip
MMSIS = (
    "219001559",
    "0",
    "123456789",
    "002190048",
    "992191234",
    "111219501",
    "970219000",
    "21900155",
    "",
    "219001559.0",
    " 219001560",
    "x",
    "912345678",
)
STATIONS = ("Class A", "Class B", "Base Station", "AtoN", "SAR Airborne", "", "class a", "Man Overboard Device")
STATUSES = ("Under way using engine", "moored", " At anchor ", "Unknown value", "", "Reserved", "ENGAGED IN FISHING")
SHIP_TYPES = ("Fishing", "Cargo", "Tug", "", "Undefined", "HSC", "towing long/wide")
ROWS = 3000


def _noaa(pick: random.Random, row: int) -> list[str]:
    time = f"2024-05-01T{row // 300:02d}:{row // 5 % 60:02d}:{pick.randrange(60):02d}"
    return [
        _mostly(pick, f"21900{row % 7:04d}", MMSIS),
        _mostly(pick, time, TIMES),
        _mostly(pick, f"{57 + row / 9000:.5f}", NUMBERS),
        _mostly(pick, f"{9 + row / 9000:.5f}", NUMBERS),
        _mostly(pick, f"{row % 20}.5", NUMBERS),
        _mostly(pick, f"{row % 360}.1", NUMBERS),
        _mostly(pick, f"{row % 360}", NUMBERS),
        pick.choice(TEXTS),
        pick.choice(("IMO0000000", "IMO9074729", "9074729", "", "IMO", "IMOx")),
        pick.choice(TEXTS),
        _mostly(pick, pick.choice(("1001", "37", "70.0", "1025", "999", "31")), NUMBERS[:20]),
        _mostly(pick, str(row % 16), NUMBERS[:20]),
        _mostly(pick, "20", NUMBERS),
        "5",
        _mostly(pick, "0", NUMBERS[:20]),
        pick.choice(("52", "", "52.0", "x")),
        pick.choice(("A", "B", "")),
    ]


def _danish(pick: random.Random, row: int) -> list[str]:
    time = f"01/05/2024 {row // 300:02d}:{row // 5 % 60:02d}:{pick.randrange(60):02d}"
    return [
        _mostly(pick, time, DANISH_TIMES),
        _mostly(pick, "Class A", STATIONS),
        _mostly(pick, f"21900{row % 7:04d}", MMSIS),
        _mostly(pick, f"{57 + row / 9000:.6f}", NUMBERS),
        _mostly(pick, f"{9 + row / 9000:.6f}", NUMBERS),
        pick.choice(STATUSES),
        _mostly(pick, "0.0", NUMBERS),
        _mostly(pick, f"{row % 20}.5", NUMBERS),
        _mostly(pick, f"{row % 360}.1", NUMBERS),
        _mostly(pick, f"{row % 360}", NUMBERS),
        pick.choice(("Unknown", "9074729", "0", "")),
        pick.choice(TEXTS),
        pick.choice(TEXTS),
        pick.choice(SHIP_TYPES),
        "",
        "12",
        _mostly(pick, "80", NUMBERS),
        "GPS",
        pick.choice(("", "0", "6.1")),
        pick.choice(TEXTS),
        "",
        "AIS",
        *("10", "70", "6", "6"),
    ]


def _brest(pick: random.Random, row: int) -> list[str]:
    return [
        _mostly(pick, f"21900{row % 7:04d}", MMSIS),
        _mostly(pick, str(row % 16), NUMBERS),
        _mostly(pick, str(row % 250 - 125), NUMBERS),
        _mostly(pick, f"{row % 20}.5", NUMBERS),
        _mostly(pick, f"{row % 360}.1", NUMBERS),
        _mostly(pick, f"{row % 360}", NUMBERS),
        _mostly(pick, f"{-4 + row / 9000:.6f}", NUMBERS),
        _mostly(pick, f"{48 + row / 9000:.6f}", NUMBERS),
        _mostly(pick, str(1714557600 + 7 * row), EPOCHS),
    ]


def _mostly(pick: random.Random, usual: str, odd: tuple[str, ...]) -> str:
    return pick.choice(odd) if pick.random() < 0.04 else usual


MAKERS: dict[str, tuple[str, Callable[[random.Random, int], list[str]]]] = {
    "noaa": (
        "MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,VesselName,IMO,CallSign,VesselType,Status,Length,Width,Draft,Cargo,"
        "TransceiverClass",
        _noaa,
    ),
    "danish": (
        "# Timestamp,Type of mobile,MMSI,Latitude,Longitude,Navigational status,ROT,SOG,COG,Heading,IMO,Callsign,Name,"
        "Ship type,Cargo type,Width,Length,Type of position fixing device,Draught,Destination,ETA,Data source type,"
        "A,B,C,D",
        _danish,
    ),
    "brest": (
        "sourcemmsi,navigationalstatus,rateofturn,speedoverground,courseoverground,trueheading,lon,lat,t",
        _brest,
    ),
}


def write_odd_feed(folder: Path, feed: str) -> None:
    """Files of the feed: LF, CRLF and CR, with and without a byte order mark, gzip, another delimiter, Latin-1."""
    folder.mkdir(parents=True, exist_ok=True)
    header, cells = MAKERS[feed]
    pick = random.Random(7)
    lines = [",".join(cells(pick, row)) for row in range(ROWS)]
    for place in range(0, ROWS, 97):
        lines[place] = pick.choice(
            ("", "   ", header, lines[place] + ",", lines[place].rsplit(",", 3)[0], f" {header} ", "a")
        )
    parts = [lines[n * ROWS // 6 : (n + 1) * ROWS // 6] for n in range(6)]
    (folder / "a.csv").write_bytes("\n".join([header, *parts[0]]).encode())
    (folder / "b.csv").write_bytes("\r\n".join([header, *parts[1], ""]).encode())
    (folder / "c.csv").write_bytes(b"\xef\xbb\xbf" + "\n".join([header, *parts[2], ""]).encode())
    (folder / "d.csv.gz").write_bytes(gzip.compress("\n".join([header, *parts[3], ""]).encode(), mtime=0))
    semicolons = [line.replace(";", "").replace(",", ";") for line in (header, *parts[4])]
    (folder / "e.csv").write_bytes("\n".join([*semicolons, ""]).encode("latin-1", "replace"))
    (folder / "f.csv").write_bytes("\r".join([header, *parts[5], ""]).encode())
    (folder / "g_strange.txt").write_bytes(b"Dear all,\nplease find attached\n")
    (folder / "h_empty.csv").write_bytes(b"")
