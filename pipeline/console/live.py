"""Server-sent events: what has changed, a few times a second, encoded once for all browsers that look on."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from foresail.pipeline.console.operations import Operations
from foresail.pipeline.console.rows import iso
from foresail.pipeline.console.store import Store
from foresail.pipeline.console.views import alert_summary, track_row

logger = logging.getLogger(__name__)
EVERY_S = 0.5
ALIVE_EVERY_S = 10.0
MOST_WAITING = 20
MOST_AT_ONCE = 5_000
"""Tracks in one message: a browser that draws more at once would stutter."""


class Hub:
    """Tells every browser what has changed."""

    def __init__(self, store: Store, operations: Operations, status: Callable[[], dict[str, Any]]) -> None:
        self._store, self._operations, self._status = store, operations, status
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._told = 0
        self._last_status: dict[str, Any] = {}
        self.closing = False

    @property
    def listeners(self) -> int:
        """How many browsers look on."""
        return len(self._listeners)

    async def run(self) -> None:
        """Look for changes until the server ends."""
        alive = time.monotonic()
        while not self.closing:
            try:
                for text in self.look(alive_due=time.monotonic() - alive > ALIVE_EVERY_S):
                    alive = time.monotonic()
                    self._tell(text)
            except Exception:  # one bad row must not end the page of everybody
                logger.exception("console: changes could not be told")
            await asyncio.sleep(EVERY_S)

    def look(self, alive_due: bool = False) -> list[str]:
        """Messages about what has changed since the last look."""
        tracks, alerts = self._store.changed_since(self._told)
        done, self._operations.changed = set(self._operations.changed), []
        every, self._operations.mutes_changed = self._operations.mutes_changed, False
        told = {alert.last.alert_id for alert in alerts}
        held = self._store.alerts
        also = [alert for key, alert in list(held.items()) if key not in told and (every or key in done)]
        status = self._status()
        if not (tracks or alerts or also or alive_due or status != self._last_status):
            return []
        self._last_status, self._told = status, self._store.change
        clock = iso(self._store.clock_us())
        shown = [alert_summary(alert.last, self._operations, self._store) for alert in (*alerts, *also)]
        messages = []
        for first in range(0, max(1, len(tracks)), MOST_AT_ONCE):
            some = tracks[first : first + MOST_AT_ONCE]
            held_rows = {"tracks": [track_row(track) for track in some], "alerts": shown if first == 0 else []}
            said = {**held_rows, "clock": clock, "status": status}
            messages.append(f"id: {self._store.epoch}-{self._told}\nevent: update\ndata: {_json(said)}\n\n")
        return messages

    def _tell(self, text: str) -> None:
        for queue in list(self._listeners):
            if queue.qsize() >= MOST_WAITING:  # a browser that does not listen any more: it begins anew
                self._listeners.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(text)

    async def listen(self, last_id: str | None) -> AsyncIterator[str]:
        """All messages from now on; before them what a browser missed that was here a moment ago."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield "retry: 1000\n\n"
            yield self.missed(last_id)
            while not self.closing:
                text = await queue.get()
                if text is None:
                    return
                yield text
        finally:
            self._listeners.discard(queue)

    def missed(self, last_id: str | None) -> str:
        """What happened after the message of that id; `anew` where nobody can say."""
        epoch, _, number = (last_id or "").partition("-")
        status, clock = self._status(), iso(self._store.clock_us())
        if epoch != self._store.epoch or not number.isdigit():
            said: dict[str, Any] = {"clock": clock, "status": status}
            return f"id: {self._store.epoch}-{self._told}\nevent: anew\ndata: {_json(said)}\n\n"
        tracks, alerts = self._store.changed_since(int(number))
        shown = [alert_summary(alert.last, self._operations, self._store) for alert in alerts]
        said = {"tracks": [track_row(track) for track in tracks], "alerts": shown, "clock": clock, "status": status}
        return f"id: {self._store.epoch}-{self._store.change}\nevent: update\ndata: {_json(said)}\n\n"

    def close(self) -> None:
        """Let every browser go."""
        self.closing = True
        for queue in list(self._listeners):
            queue.put_nowait(None)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
