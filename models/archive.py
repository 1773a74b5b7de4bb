"""Arrays with a JSON header in one npz: how counts and models are kept. No pickle; a checksum over all of it."""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelFileError

FORMAT = 1
_HEADER = "header"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every member: equal content makes equal files."""


@dataclass(frozen=True, slots=True, eq=False)
class Archive:
    """What a file holds: its kind, plain values, and arrays by name."""

    kind: str
    values: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    def checksum(self) -> str:
        """A hash of the values and of every array with its name, type and shape."""
        digest = hashlib.sha256(json.dumps(self.values, sort_keys=True).encode())
        for name in sorted(self.arrays):
            array = np.ascontiguousarray(self.arrays[name])
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()


def to_bytes(archive: Archive) -> bytes:
    """The content of the file."""
    header = {
        "format": FORMAT,
        "kind": archive.kind,
        "checksum": archive.checksum(),
        "values": archive.values,
    }
    text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as members:
        for name, array in {_HEADER: text, **archive.arrays}.items():
            with members.open(zipfile.ZipInfo(f"{name}.npy", _EPOCH), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def from_bytes(content: bytes, kind: str, where: str) -> Archive:
    """What `to_bytes` wrote, compared with its checksum; `where` names the file in errors."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as members:
            arrays = {name: members[name] for name in members.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        found, version = header["kind"], header["format"]
        archive = Archive(kind, header["values"], arrays)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{where}: this is no {kind} file, or it is cut short ({error}). Train it anew, or restore it."
        raise ModelFileError(msg) from None
    if (found, version) != (kind, FORMAT):
        msg = (
            f"{where}: this is a {found} file of format {version}, not a {kind} file of format {FORMAT}. "
            "Name the right file, or train it anew with this release."
        )
        raise ModelFileError(msg)
    if header["checksum"] != archive.checksum():
        msg = f"{where}: the checksum does not fit: the file was changed or damaged. Train it anew, or restore it."
        raise ModelFileError(msg)
    return archive


def write_archive(archive: Archive, file: Path) -> None:
    """Write the file; a reader sees the old one or the new one, never half of it."""
    half = file.with_name(f".{file.name}.{os.getpid()}.half")
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        half.write_bytes(to_bytes(archive))
        half.replace(file)
    finally:
        half.unlink(missing_ok=True)


def read_archive(file: Path, kind: str) -> Archive:
    """What `write_archive` wrote."""
    try:
        content = file.read_bytes()
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}). Name a {kind} file."
        raise ModelFileError(msg) from None
    return from_bytes(content, kind, str(file))
