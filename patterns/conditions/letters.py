"""Small letters for capitals, the same in every back end: one letter for one, whatever stands around it.

Python, Java and their versions of Unicode disagree on letters that become two (`İ`) or depend on their place in a word
(the final sigma). Those stay as they are, and every other letter of the basic plane is looked up in one table.
"""

from functools import cache

LAST = 0xFFFF
"""Beyond the basic plane, Java counts a letter as two."""


@cache
def capitals() -> tuple[str, str]:
    """All capitals that have a small letter, and those small letters in the same order."""
    pairs = [(letter, letter.lower()) for letter in map(chr, range(LAST + 1))]
    known = [(large, small) for large, small in pairs if small != large and len(small) == 1 and ord(small) <= LAST]
    return "".join(large for large, _ in known), "".join(small for _, small in known)


@cache
def _table() -> dict[int, int]:
    return str.maketrans(*capitals())


def lowered(text: str) -> str:
    """The text with small letters for capitals."""
    return text.translate(_table())
