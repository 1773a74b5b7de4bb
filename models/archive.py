"""Arrays with a JSON header in one npz: how counts and models are kept. No pickle; a checksum over all of it."""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.errors import ModelFileError

FORMAT = 1
MOST_BYTES = 1 << 30
"""Of a file, and of what it unpacks to: a hundred times the largest model that was ever trained."""
_HEADER = "header"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
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
    size = sum(array.nbytes for array in archive.arrays.values())
    if size > MOST_BYTES:
        msg = f"{archive.kind}: {size:,} bytes; {MOST_BYTES:,} are the limit of a file. Lower the order or the horizon."
        raise ModelFileError(msg)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as members:
        for name, array in {_HEADER: text, **archive.arrays}.items():
            with members.open(zipfile.ZipInfo(f"{name}.npy", _EPOCH), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def from_bytes(content: bytes, kind: str, where: str) -> Archive:
    """What `to_bytes` wrote, compared with its checksum; `where` names the file in errors."""
    try:
        arrays = _unpacked(content)
        header = json.loads(arrays.pop(_HEADER).tobytes())
        found, version = header["kind"], header["format"]
        archive = Archive(kind, header["values"], arrays)
    except Exception as error:  # whatever a zip file, an array or JSON made by somebody else can raise
        msg = f"{where}: this is no {kind} file, or it is cut short ({_said(error)}). Train it anew, or restore it."
        raise ModelFileError(msg) from None
    if (found, version) != (kind, FORMAT):
        msg = (
            f"{where}: this is a {found} file of format {version}, not a {kind} file of format {FORMAT}. "
            "Name the right file, or train it anew with this release."
        )
        raise ModelFileError(msg)
    if header.get("checksum") != archive.checksum():
        msg = f"{where}: the checksum does not fit: the file was changed or damaged. Train it anew, or restore it."
        raise ModelFileError(msg)
    return archive


def _unpacked(content: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of the file by name; what the file claims to be is compared with the limit before it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        size = sum(info.file_size for info in members.infolist())
        if size > MOST_BYTES:
            msg = f"it unpacks to {size:,} bytes; {MOST_BYTES:,} are the limit"
            raise ValueError(msg)
        return {info.filename.removesuffix(".npy"): _array(members.read(info)) for info in members.infolist()}


def _array(member: bytes) -> NDArray[Any]:
    """The array of one member, which must be as long as its header says: numpy makes room before it looks."""
    handle = io.BytesIO(member)
    read_header = _HEADERS[np.lib.format.read_magic(handle)]
    shape, _, dtype = read_header(handle)
    claimed, there = prod(shape) * dtype.itemsize, len(member) - handle.tell()
    if claimed != there:
        msg = f"an array claims {claimed:,} bytes, the file holds {there:,}"
        raise ValueError(msg)
    handle.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(handle, allow_pickle=False)
    return array


def _said(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def write_archive(archive: Archive, file: Path) -> None:
    """Write the file; a reader sees the old one or the new one, never half of it."""
    half = file.with_name(f".{file.name}.{os.getpid()}.half")
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        half.write_bytes(to_bytes(archive))
        half.replace(file)
    finally:
        half.unlink(missing_ok=True)


def bounded_bytes(file: Path) -> bytes:
    """The content of a file, unless it is larger than any of ours."""
    with file.open("rb") as handle:
        content = handle.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        msg = f"{file}: larger than {MOST_BYTES:,} bytes, which is the limit. This is no file of a model store."
        raise ModelFileError(msg)
    return content


def read_archive(file: Path, kind: str) -> Archive:
    """What `write_archive` wrote."""
    try:
        content = bounded_bytes(file)
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}). Name a {kind} file."
        raise ModelFileError(msg) from None
    return from_bytes(content, kind, str(file))
