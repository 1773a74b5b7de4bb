"""Parcels in a folder between the workers that read files and those that settle tracks.

A file for each piece and bucket; it is there only when the piece was read to its end, so that a task may be run again.
"""

import os
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import pyarrow as pa

from foresail.pipeline.feeds.parcels import Parcel, RowFigures

_PACKED = pa.ipc.IpcWriteOptions(compression="lz4")


def store(parcels: Iterable[Parcel], folder: Path, piece: int) -> RowFigures:
    """Put the parcels of a piece into the folder; what was counted in it comes back."""
    counted = RowFigures()
    names: dict[int, tuple[Path, Path]] = {}
    streams: dict[int, BinaryIO] = {}
    try:
        for parcel in parcels:
            if parcel.bucket not in streams:
                place = _bucket_folder(folder, parcel.bucket)
                place.mkdir(parents=True, exist_ok=True)
                names[parcel.bucket] = (place / f".{piece}-{uuid4().hex}", place / f"piece-{piece:06d}")
                streams[parcel.bucket] = names[parcel.bucket][0].open("wb")
            _write(parcel, streams[parcel.bucket])
            if parcel.counted:
                counted = parcel.counted
    finally:
        for stream in streams.values():
            stream.close()
    for made, place in names.values():
        made.replace(place)
    return counted


def stored_parcels(folder: Path, buckets: Iterable[int]) -> Iterator[Parcel]:
    """The parcels of these buckets; the texts of positions stay where they are until they are asked for."""
    for bucket in buckets:
        for path in sorted(_bucket_folder(folder, bucket).glob("piece-*")):
            yield from _read(path)


def _bucket_folder(folder: Path, bucket: int) -> Path:
    return folder / f"bucket-{bucket:04d}"


def _write(parcel: Parcel, stream: BinaryIO) -> None:
    parts = (parcel.positions, parcel.aside, parcel.texts() if parcel.texts else None)
    packed = [b"" if part is None else _packed(part) for part in parts]
    pickle.dump((replace(parcel, positions=None, texts=None, aside=None), [len(part) for part in packed]), stream)
    for part in packed:
        stream.write(part)


def _read(path: Path) -> Iterator[Parcel]:
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        while stream.tell() < size:
            parcel, (positions, aside, texts) = pickle.load(stream)
            some = [_unpacked(stream.read(length)) if length else None for length in (positions, aside)]
            at = stream.tell()
            stream.seek(texts, os.SEEK_CUR)
            later = partial(_read_at, path, at, texts) if texts else None
            yield replace(parcel, positions=some[0], aside=some[1], texts=later)


def _read_at(path: Path, at: int, length: int) -> pa.RecordBatch:
    with path.open("rb") as stream:
        stream.seek(at)
        return _unpacked(stream.read(length))


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_PACKED) as writer:
        writer.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(data: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(data).read_next_batch()
