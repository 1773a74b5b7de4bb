"""Zip archives as sources: their members are unpacked for the length of the process, and read like any other files.

Spark reads no zip. Members keep the archive's path in their names (`/data/day.zip/day.csv`), wherever they lie.
"""

import atexit
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path, PurePosixPath

from foresail.pipeline.errors import InputError
from foresail.pipeline.runtime.processes import is_alive

ZIP_MAGIC = b"PK\x03\x04"
EMPTY_ZIP_MAGIC = b"PK\x05\x06"
FOLDER_PREFIX = "foresail-zip-"
UNPACKED_PREFIX = rf"^.*?/{FOLDER_PREFIX}[0-9]+-[a-z0-9_]+(?=/)"
"""What stands before the archive's own path in the path of an unpacked member."""
MOST_RATIO = 200
SMALL_BYTES = 100 << 20
"""Positions shrink five to twentyfold; what swells two-hundredfold beyond this size is made to fill the disk."""
HIDDEN = re.compile(r"_|\.(?!\.?$)")
"""How names of hidden files begin; `.` and `..` hide nothing."""
COPIED_BYTES = 1 << 20
WORKBOOKS = {"[Content_Types].xml": "an Office file (Excel workbook or document)", "mimetype": "an OpenDocument file"}


def is_zip(path: Path) -> bool:
    """Whether the file begins as a zip does, whatever its name."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4) in (ZIP_MAGIC, EMPTY_ZIP_MAGIC)


def open_zip(path: Path) -> zipfile.ZipFile:
    """The archive; one that cannot be read is a fault in one line."""
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        msg = f"{path}: begins as a zip but cannot be read as one ({error}). Fetch it again, or unpack it."
        raise InputError(msg) from None


def data_members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """The files inside, by name; folders and hidden files left out. None, or an office file, is a fault."""
    names = set(archive.namelist())
    for sign, what in WORKBOOKS.items():
        if sign in names:
            msg = f"{path}: is {what}, not a table. Save it as CSV."
            raise InputError(msg)
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not any(HIDDEN.match(part) for part in PurePosixPath(member.filename).parts)
    ]
    if not members:
        msg = f"{path}: is a zip without files in it. Name one that holds data."
        raise InputError(msg)
    return sorted(members, key=lambda member: member.filename)


def with_unpacked(paths: Iterable[str], scratch: str | None = None) -> list[str]:
    """`paths` with the members of each local zip in its place; `scratch` is where there is room for them."""
    found: list[str] = []
    for given in paths:
        path = Path(given)
        if "://" not in given and is_zip(path):
            status = path.stat()
            found += _unpack(path.resolve(), status.st_mtime_ns, status.st_size, scratch)
        else:
            found.append(given)
    return found


def archive_name(path: str) -> str:
    """The path of an unpacked member as a user knows it: the archive's, then the member's; any other as it is."""
    return re.sub(UNPACKED_PREFIX, "", path)


@cache
def _unpack(path: Path, modified_ns: int, size_bytes: int, scratch: str | None) -> tuple[str, ...]:  # noqa: ARG001
    """Where the members of `path` are now; once per process and state of the file."""
    with open_zip(path) as archive:
        members = data_members(archive, path)
        folder = _scratch_folder(scratch)
        _check_sizes(path, members, folder)
        return tuple(_extract(archive, path, member, folder) for member in members)


def _check_sizes(path: Path, members: list[zipfile.ZipInfo], folder: Path) -> None:
    locked = next((member for member in members if member.flag_bits & 1), None)
    if locked:
        msg = f"{path}: '{locked.filename}' is encrypted. Unpack it with its password first."
        raise InputError(msg)
    inner = next((member for member in members if member.filename.lower().endswith(".zip")), None)
    if inner:
        msg = f"{path}: holds a zip inside ('{inner.filename}'). Unpack the outer one first."
        raise InputError(msg)
    total = sum(member.file_size for member in members)
    packed = max(sum(member.compress_size for member in members), 1)
    if total > SMALL_BYTES and total > packed * MOST_RATIO:
        msg = (
            f"{path}: would unpack to {total:,} bytes, {total // packed} times its size; the limit is {MOST_RATIO} "
            "times. Unpack it yourself if you trust it."
        )
        raise InputError(msg)
    free = shutil.disk_usage(folder).free
    if total > free:
        msg = (
            f"{path}: unpacks to {total:,} bytes, but {folder.parent} has only {free:,} free. "
            "Set spark.local_directory to a folder with room."
        )
        raise InputError(msg)


def _extract(archive: zipfile.ZipFile, path: Path, member: zipfile.ZipInfo, folder: Path) -> str:
    parts = [part for part in PurePosixPath(member.filename.replace("\\", "/")).parts if part not in ("/", "..")]
    place = folder.joinpath(*path.parts[1:], *parts)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as stream, place.open("wb") as file:
            shutil.copyfileobj(stream, file, COPIED_BYTES)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        msg = f"{path}: '{member.filename}' is damaged ({error}). Fetch it again."
        raise InputError(msg) from None
    # undated NMEA is dated from its file: the member's own time, not that of the unpacking
    with suppress(ValueError, OverflowError):
        modified = datetime(*member.date_time).timestamp()  # noqa: DTZ001 - zip keeps local time without a zone
        os.utime(place, (modified, modified))
    return str(place)


@cache
def _scratch_folder(scratch: str | None) -> Path:
    """A folder of this process, removed when it ends; those of processes that were killed are removed now."""
    base = Path(scratch.split(",")[0] if scratch else tempfile.gettempdir())  # Spark may be given several
    for left in base.glob(f"{FOLDER_PREFIX}*"):
        owner = left.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-", dir=base))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
