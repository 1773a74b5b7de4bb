"""How a model version is named: `port_entry-v1-0003-ab12cd`, with a serial number and a hash of the content.

The model of one group of tracks has the group behind it: `port_entry-v1-0003-77e1f0@ferry`.
"""

import hashlib
import re

_PARTS = re.compile(
    r"(?P<pattern>[^@]+)-v(?P<version>\d+)-(?P<serial>\d+)-(?P<content>[0-9a-f]+)(?P<group>@.*)?", re.DOTALL
)


def content_hash(*parts: object) -> str:
    """A short hash of what a model was made from; values are told apart by how they print."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:6]


def numbered(version: str, serial: int) -> str:
    """The same version with another serial number."""
    found = _PARTS.fullmatch(version)
    assert found, f"'{version}' is a model version"
    return f"{found['pattern']}-v{found['version']}-{serial:04d}-{found['content']}{found['group'] or ''}"


def pattern_of(version: str) -> str | None:
    """The pattern of a version; None where the text is none."""
    found = _PARTS.fullmatch(version)
    return found["pattern"] if found else None


def serial_of(version: str) -> int | None:
    """The serial number of a version; None where the text is none."""
    found = _PARTS.fullmatch(version)
    return int(found["serial"]) if found else None
