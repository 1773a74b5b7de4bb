"""`fs.Models`: the models that training made, in memory or in a folder, to look at and to give to `fs.forecast`."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from foresail.models.store import ModelStore
from foresail.models.store.storage import MemoryStorage
from foresail.pipeline.errors import InputError

COLUMNS = ("pattern", "model_version", "order", "symbols", "chain_states", "events", "matches", "threshold")


class Models:
    """Models by pattern; without a folder they live as long as this object. Printed they are a table."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.store = ModelStore(MemoryStorage() if folder is None else Path(folder))
        self.trained: tuple[dict[str, Any], ...] = ()
        """Of each pattern that was trained now what `foresail train --json` says of it."""

    def with_trained(self, rows: Sequence[Mapping[str, Any]]) -> "Models":
        """The same models, with what a training says of them."""
        self.trained = tuple(dict(row) for row in rows)
        return self

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that have a model."""
        return tuple(sorted(self.store.manifest().patterns))

    def __repr__(self) -> str:
        rows = [COLUMNS, *(tuple(map(_cell, (row[name] for name in COLUMNS))) for row in self.trained)]
        if len(rows) == 1:
            return f"Models({self.store.storage.place}: {', '.join(self.patterns) or 'none'})"
        widths = [max(len(row[n]) for row in rows) for n in range(len(COLUMNS))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    def _repr_html_(self) -> str:
        if not self.trained:
            return f"<p>{escape(repr(self))}</p>"
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(row[name]))}</td>" for name in COLUMNS) + "</tr>"
            for row in self.trained
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


AnyModels: TypeAlias = Models | str | Path
"""What `fs.train` gave, or the folder of a model store."""


def opened(models: object) -> Models:
    """The models behind what a caller gives; an error for what is none."""
    if isinstance(models, Models):
        return models
    if not isinstance(models, str | Path):
        msg = f"models: a {type(models).__name__} is none. Give what fs.train gave, or the folder of a model store."
        raise InputError(msg)
    if not Path(models).is_dir():
        msg = f"{models}: there is no such folder of models. Train with fs.train(events, patterns, models='{models}')."
        raise InputError(msg)
    return Models(models)
