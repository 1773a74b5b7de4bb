"""Models in a folder: every version kept, one of each pattern in force, promoted and rolled back in one move."""

from models.store.aliases import CHALLENGER, CHAMPION
from models.store.intervals import Interval, Merged
from models.store.judgement import Judgement
from models.store.manifest import Decision, Manifest, Record, Scored
from models.store.storage import LocalStorage, Storage
from models.store.store import ModelStore

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
