"""Models in a folder: every version kept, one of each pattern in force, promoted and rolled back in one move."""

from foresail.models.store.aliases import CHALLENGER, CHAMPION, Judgement
from foresail.models.store.intervals import Interval, Merged
from foresail.models.store.manifest import Decision, Manifest, Record, Scored
from foresail.models.store.storage import LocalStorage, Storage
from foresail.models.store.store import ModelStore

__all__ = [
    "CHALLENGER",
    "CHAMPION",
    "Decision",
    "Interval",
    "Judgement",
    "LocalStorage",
    "Manifest",
    "Merged",
    "ModelStore",
    "Record",
    "Scored",
    "Storage",
]
