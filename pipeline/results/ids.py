"""What names a result: a hash of its fields, the same in a batch, in a stream and in this process."""

import hashlib

ID_DIGITS = 32
SEPARATOR = "\x1f"


def id_of(*fields: str) -> str:
    """The id of what these fields name together."""
    return hashlib.sha256(SEPARATOR.join(fields).encode()).hexdigest()[:ID_DIGITS]
