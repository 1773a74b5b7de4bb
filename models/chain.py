"""The automaton and the contexts merged into one Markov chain, of which only the reachable states exist."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.suffix_tree import SuffixTree
from patterns.compiler import CompiledPattern


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """State 0 is (start, empty). `step[x, symbol]` is the next state, `p[x, symbol]` the probability of that symbol."""

    step: NDArray[np.int32]
    state: NDArray[np.int32]
    """The automaton state of each chain state."""
    node: NDArray[np.int32]
    """The longest end of the history that begins some kept context, as a node of `nodes`."""
    context: NDArray[np.int32]
    """The longest kept context that ends the history: a row of the suffix tree."""
    accepting: NDArray[np.bool_]
    distribution: NDArray[np.float64]
    """Per kept context and symbol the probability that it comes next."""
    nodes: NDArray[np.int32]
    """`nodes[node, symbol]`: the Aho-Corasick automaton over the contexts, which follows the history alone."""

    @property
    def states(self) -> int:
        """How many chain states there are."""
        return len(self.state)

    @property
    def p(self) -> NDArray[np.float64]:
        """Per state and symbol the probability that it comes next."""
        return self.distribution[self.context]


def embed(tree: SuffixTree, pattern: CompiledPattern) -> Chain:
    """The chain of `tree` and the automaton of `pattern`; with `after_match: restart` a match steps like the start."""
    raise NotImplementedError


def distances(pattern: CompiledPattern) -> NDArray[np.int32]:
    """Per automaton state the least number of events to a match (0 when accepting); -1 where none can come."""
    raise NotImplementedError
