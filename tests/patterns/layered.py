"""Events as families over one layer read them, for tests that need no name for it."""

from dataclasses import replace

from foresail.patterns.recognition.events import EventBatch, LayerEvents, Near

LAYER = ""


def beside(far: EventBatch, near: Near) -> EventBatch:
    """The events of `far`, whose words hold far from every feature, with what they are near."""
    return replace(far, layers={LAYER: LayerEvents(far.words, near)})
