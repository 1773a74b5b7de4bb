"""Small files as users have them."""

import zipfile
from pathlib import Path

ROWS = 40


def positions(rows: int = ROWS, sign: str = ",", comma: bool = False) -> str:
    """A plain table of three vehicles."""
    lines = [sign.join(("vehicle_id", "timestamp", "lon", "lat", "speed"))]
    for n in range(rows):
        cells = [
            f"v{n % 3}",
            f"2024-05-01T10:{n % 60:02d}:00Z",
            f"{10 + n / 1000:.4f}",
            f"{57 + n / 1000:.4f}",
            f"{n}.5",
        ]
        lines.append(sign.join(cell.replace(".", ",") if comma else cell for cell in cells))
    return "\n".join(lines) + "\n"


def timed(times: list[str], name: str = "time") -> str:
    """A table of one vessel with these times."""
    rows = [f"219001559,{time},1.{n:03d},2.{n:03d}" for n, time in enumerate(times)]
    return "\n".join((f"mmsi,{name},lon,lat", *rows)) + "\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """A file with this content."""
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def zipped(folder: Path, name: str, members: dict[str, str | bytes]) -> Path:
    """A zip with these members."""
    file = folder / name
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return file
