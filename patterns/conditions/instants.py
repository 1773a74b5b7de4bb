"""Times written in conditions: ISO 8601, in UTC unless an offset is given, as whole microseconds since 1970."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds_of(text: str) -> int | None:
    """The instant that the text names, or None when it names none."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)
