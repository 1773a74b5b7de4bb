"""Names in a store: patterns and versions are folders of it, so nothing else may be asked for under their name."""

from foresail.models.errors import BadNameError

LONGEST = 200


def is_name(text: str) -> bool:
    """Whether the text can be the name of one file or folder inside the store, and of nothing outside it."""
    return 0 < len(text) <= LONGEST and text.isprintable() and not text.startswith(".") and not set(text) & set("/\\")


def checked_name(text: str) -> str:
    """The text, if it is a name."""
    if not is_name(text):
        msg = (
            f"{text[:60]!r}: not a name but a path, or too long. Name a pattern or a version as "
            "`foresail models list` shows it."
        )
        raise BadNameError(msg)
    return text


def inside(*names: str) -> str:
    """The path below the store that these names make."""
    return "/".join(map(checked_name, names))
