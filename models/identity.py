"""What a model is a model of: the pattern, the version, the alphabet, as counts and model files name it.

How a model version is named: `port_entry-v1-0003-ab12cd`, with a serial number and a hash of the content.

The model of one group of tracks has the group behind it: `port_entry-v1-0003-77e1f0@ferry`.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.errors import OtherPatternError
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.text import text_of


@dataclass(frozen=True, slots=True)
class Identity:
    """A pattern as counts know it: two with equal identity count the same symbols."""

    pattern: str
    version: int
    features: tuple[tuple[str, str], ...]
    """Name and text of each feature."""
    symbols: int
    """How many symbols the alphabet has."""
    alphabet: str
    """A fingerprint of the conditions and their combinations."""

    def check_same(self, other: "Identity", where: str) -> None:
        """Refuse `other`, found in `where`, unless it counts the same symbols."""
        if other == self:
            return
        if (other.pattern, other.version) != (self.pattern, self.version):
            what = f"{other.pattern} version {other.version}, not {self.pattern} version {self.version}"
        else:
            what = f"{other.pattern} version {other.version} over another alphabet ({_difference(other, self)})"
        msg = f"{where}: this is of {what}. Train it anew with `foresail train`."
        raise OtherPatternError(msg)


def identity_of(pattern: CompiledPattern) -> Identity:
    """The identity of a compiled pattern."""
    features = tuple((text.name, text.text.strip()) for text in pattern.spec.features)
    codes = pattern.alphabet.codes
    texts = [text_of(condition) for condition in pattern.conditions]
    return Identity(pattern.name, pattern.version, features, len(codes), alphabet_fingerprint(texts, codes))


def alphabet_fingerprint(conditions: list[str], codes: NDArray[np.uint64]) -> str:
    """A short hash of the conditions and of the combinations that are symbols."""
    digest = hashlib.sha256(json.dumps(conditions).encode())
    digest.update(np.ascontiguousarray(codes, dtype="<u8").tobytes())
    return digest.hexdigest()[:16]


def identity_as_json(identity: Identity) -> dict[str, Any]:
    """The identity as plain values."""
    return {
        "pattern": identity.pattern,
        "version": identity.version,
        "features": [list(feature) for feature in identity.features],
        "symbols": identity.symbols,
        "alphabet": identity.alphabet,
    }


def identity_from_json(held: Mapping[str, Any]) -> Identity:
    """The identity that `identity_as_json` wrote."""
    features = tuple((str(name), str(text)) for name, text in held["features"])
    return Identity(held["pattern"], int(held["version"]), features, int(held["symbols"]), held["alphabet"])


def _difference(one: Identity, other: Identity) -> str:
    if one.features != other.features:
        return f"features {_names(one)} instead of {_names(other)}"
    if one.symbols != other.symbols:
        return f"{one.symbols} symbols instead of {other.symbols}"
    return "other conditions or parameters"


def _names(identity: Identity) -> str:
    return ", ".join(name for name, _ in identity.features) or "none"


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


def with_content(version: str, content: str) -> str:
    """The same version made from something else."""
    found = _PARTS.fullmatch(version)
    assert found, f"'{version}' is a model version"
    return f"{found['pattern']}-v{found['version']}-{found['serial']}-{content}{found['group'] or ''}"


def pattern_of(version: str) -> str | None:
    """The pattern of a version; None where the text is none."""
    found = _PARTS.fullmatch(version)
    return found["pattern"] if found else None


def serial_of(version: str) -> int | None:
    """The serial number of a version; None where the text is none."""
    found = _PARTS.fullmatch(version)
    return int(found["serial"]) if found else None
