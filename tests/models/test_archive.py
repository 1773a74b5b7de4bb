"""Files that claim more than they hold, or unpack to more than a machine has, are refused before they are unpacked."""

import io
import json
import time
import tracemalloc
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from foresail.models.archive import MOST_BYTES, Archive, from_bytes, read_archive, to_bytes, write_archive
from foresail.models.errors import ModelError, ModelFileError
from foresail.models.files import model_from_bytes, model_to_bytes
from tests.models.forecasting import model_of, random_text
from tests.models.letters import lettered

PATTERN = lettered("a ; b")


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def member(shape: tuple[int, ...], content: bytes, descr: str = "|u1") -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
    return buffer.getvalue() + content


def headed(text: str, **members: bytes) -> bytes:
    raw = text.encode()
    return zipped({"header.npy": member((len(raw),), raw), **{f"{name}.npy": held for name, held in members.items()}})


@cache
def bomb() -> bytes:
    """A few megabytes that unpack to more than the limit."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("header.npy", "w", force_zip64=True) as held,
    ):
        for _ in range(MOST_BYTES // (1 << 24) + 1):
            held.write(bytes(1 << 24))
    return buffer.getvalue()


HOSTILE = {
    "claims 7 PiB": lambda: headed("{}", waiting=member((1 << 53,), b"", "<f4")),
    "claims 8 GB": lambda: headed("{}", waiting=member((1 << 31,), b"1234", "<f4")),
    "claims less than nothing": lambda: headed("{}", waiting=member((-5,), b"1234", "<f4")),
    "a header of 100,000 brackets": lambda: headed("[" * 100_000),
    "a header that is no text": lambda: headed("\ud800".encode("utf-16", "surrogatepass").decode("latin-1")),
    "a header that is a list": lambda: headed("[1]"),
    "an array of objects": lambda: headed("{}", x=member((1,), b"12345678", "|O")),
    "an array header of nonsense": lambda: zipped({"header.npy": b"\x93NUMPY\x01\x00\x10\x00" + b"-" * 5_000}),
    "another version of arrays": lambda: zipped({"header.npy": b"\x93NUMPY\x09\x00\x10\x00"}),
    "no zip": lambda: b"PK\x03\x04" + bytes(100),
    "nothing": lambda: b"",
    "unpacks to more than the limit": bomb,
}


@pytest.mark.parametrize("case", list(HOSTILE))
def test_a_hostile_file_is_refused_at_once_and_in_one_line(case: str) -> None:
    content = HOSTILE[case]()
    tracemalloc.start()
    began = time.monotonic()
    with pytest.raises(ModelFileError) as caught:
        from_bytes(content, "model", "store/x")
    assert time.monotonic() - began < 5
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert str(caught.value).startswith("store/x: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_the_limit_is_named() -> None:
    with pytest.raises(ModelFileError, match=rf"unpacks to [\d,]+ bytes; {MOST_BYTES:,} are the limit"):
        from_bytes(bomb(), "model", "x")


def test_a_file_larger_than_any_of_ours_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    with file.open("wb") as handle:
        handle.truncate(MOST_BYTES + 1)  # takes no room on the disk
    with pytest.raises(ModelFileError, match=f"larger than {MOST_BYTES:,} bytes"):
        read_archive(file, "model")


def changed(**values: Any) -> bytes:
    """A sound model file, with a right checksum, whose header says something else."""
    model = model_of(PATTERN, [random_text(Random(n), 40, "abx") for n in range(3)])
    archive = from_bytes(model_to_bytes(model), "model", "x")
    held = json.loads(json.dumps(archive.values))
    for name, value in values.items():
        outer, _, inner = name.partition("__")
        if inner:
            held[outer][inner] = value
        else:
            held[outer] = value
    return to_bytes(Archive("model", held, archive.arrays))


@pytest.mark.parametrize(
    "values",
    [
        {"settings__horizon": 10**15},
        {"settings__horizon": 9_999, "settings__within": 10**15},
        {"max_order": 10**15},
        {"max_order": "deep"},
        {"condition_texts": ["(" * 19_000]},
        {"condition_texts": [" or ".join(["x > 1"] * 100_000)]},
        {"identity": None},
        {"training": [1]},
        {"spec": {}},
    ],
)
def test_a_model_whose_header_asks_for_too_much_is_refused(values: dict[str, Any]) -> None:
    began = time.monotonic()
    with pytest.raises(ModelError) as caught:
        model_from_bytes(changed(**values), "store/x")
    assert time.monotonic() - began < 5
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["delta", "accepting", "chain_nodes", "chain_distribution", "codes", "waiting"])
def test_a_table_of_another_shape_never_reaches_a_kernel(name: str) -> None:
    archive = from_bytes(model_to_bytes(model_of(PATTERN, ["abxabab"])), "model", "x")
    arrays = {**archive.arrays, name: archive.arrays[name].reshape(-1)[:1]}
    with pytest.raises(ModelFileError):
        model_from_bytes(to_bytes(Archive("model", archive.values, arrays)), "x")


def test_a_horizon_for_which_there_is_no_room_is_refused_and_says_why() -> None:
    model = model_of(PATTERN, ["abxabab" * 5])
    with pytest.raises(ModelError, match="10000 are the limit"):
        model.with_settings(horizon=10_001)


def test_the_folder_of_a_file_is_made_with_those_above_it(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "model.npz"
    write_archive(Archive("model", {"n": 1}, {}), file)
    write_archive(Archive("model", {"n": 2}, {}), file)
    assert [path.name for path in file.parent.iterdir()] == ["model.npz"]
