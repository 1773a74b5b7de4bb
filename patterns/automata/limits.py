"""How large an automaton may grow before the pattern is refused."""

MOST_STATES = 4096


class SizeExceededError(Exception):
    """An automaton grew past the limit; the compiler turns this into a sentence that names the operator."""

    def __init__(self, size: int) -> None:
        super().__init__(f"more than {size} states")
        self.size = size
