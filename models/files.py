"""Models as files: arrays and a JSON header in one npz, without pickle, with a checksum that is compared on load."""

from pathlib import Path

from models.model import Model
from patterns.compiler import CompiledPattern


def write_model(model: Model, file: Path) -> None:
    """Write the model; a reader sees the old file or the new one, never half of it."""
    raise NotImplementedError


def read_model(file: Path, pattern: CompiledPattern | None = None) -> Model:
    """The model of a file, checked; refused when it is not for `pattern`, its version and its alphabet."""
    raise NotImplementedError


def model_to_bytes(model: Model) -> bytes:
    """The content of a model file, to be sent to a worker."""
    raise NotImplementedError


def model_from_bytes(content: bytes, where: str = "model") -> Model:
    """The model that `model_to_bytes` wrote."""
    raise NotImplementedError
