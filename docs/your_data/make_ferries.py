"""The made-up day of three ferries that docs/your_data.md reads: `python docs/your_data/make_ferries.py`.

It is written as a spreadsheet in much of Europe writes it: semicolons, decimal commas, the day first, -999 for none.
"""

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

HEADER = "Ship;Date;Time (UTC);Latitude;Longitude;Speed (km/h);Course;Depth (m)"
PORTS = {"Westhavn": (54.40, 10.20), "Ostby": (54.62, 10.62)}
STEP_S = 60
FERRIES = {"Alk": (0, 30.0, False), "Ravn": (25, 28.0, True), "Tern": (55, 34.0, False)}
"""For each: minutes after six at which it casts off, its speed in km/h, and whether its engine fails on the way."""


def distance_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    mean = math.radians((one[0] + other[0]) / 2)
    return 111.195 * math.hypot(other[0] - one[0], (other[1] - one[1]) * math.cos(mean))


def rows_of(ship: str, start_min: int, speed_kmh: float, fails: bool) -> list[str]:
    west, east = PORTS.values()
    whole = distance_km(west, east)
    course = math.degrees(math.atan2((east[1] - west[1]) * math.cos(math.radians(54.5)), east[0] - west[0]))
    rows, travelled = [], 0.0
    for minute in range(170):
        stopped = fails and 70 <= minute < 90
        moving = minute >= 20 and travelled < whole and not stopped
        speed = speed_kmh if moving else 0.6 if stopped else 0.0
        travelled = min(whole, travelled + speed * STEP_S / 3600)
        share = travelled / whole
        lat, lon = (west[n] + (east[n] - west[n]) * share for n in (0, 1))
        depth = 6 + 14 * math.sin(math.pi * share) - (9 if 0.42 < share < 0.5 else 0)
        time = datetime(2024, 5, 13, 6, tzinfo=UTC) + timedelta(minutes=start_min + minute)
        cells = [
            ship, f"{time:%d.%m.%Y}", f"{time:%H:%M:%S}", f"{lat:.5f}", f"{lon:.5f}", f"{speed:.1f}",
            f"{course:.0f}" if moving else "", "-999" if minute % 17 == 3 else f"{depth:.1f}",
        ]  # fmt: skip
        rows.append(";".join(cell.replace(".", ",") if place > 2 else cell for place, cell in enumerate(cells)))
    return rows


if __name__ == "__main__":
    lines = [HEADER, *(row for ship, plan in FERRIES.items() for row in rows_of(ship, *plan))]
    Path(__file__).with_name("ferries.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
