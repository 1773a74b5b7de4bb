"""The automaton and the contexts merged into one Markov chain, of which only the reachable states exist."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.automaton import SymbolAutomaton, symbol_automaton
from foresail.models.automaton import distances as automaton_distances
from foresail.models.errors import ModelSizeError
from foresail.models.kernels.compilation import reachable_kernel
from foresail.models.suffix_tree import SuffixTree, context_automaton
from foresail.patterns.compiler import CompiledPattern

MOST_PAIRS = 400_000_000
"""The most pairs of an automaton state and a node that are looked at."""
MOST_STEPS = 100_000_000
"""The most entries of the table of steps: chain states times symbols."""


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
    """`nodes[node, symbol]`: the automaton over the contexts, which follows the history alone."""

    @property
    def states(self) -> int:
        """How many chain states there are."""
        return len(self.state)

    @property
    def p(self) -> NDArray[np.float64]:
        """Per state and symbol the probability that it comes next."""
        return np.asarray(self.distribution[self.context])


def embed(tree: SuffixTree, pattern: CompiledPattern) -> Chain:
    """The chain of `tree` and the automaton of `pattern`; with `after_match: restart` a match steps like the start."""
    return merged(tree, symbol_automaton(pattern), pattern.name)


def merged(tree: SuffixTree, automaton: SymbolAutomaton, name: str = "the pattern") -> Chain:
    """The chain of `tree` and `automaton`: the pairs that some history reaches, in the order of their discovery."""
    contexts = context_automaton(tree)
    pairs = len(automaton.delta) * len(contexts.step)
    if pairs > MOST_PAIRS:
        raise _too_large(name, pairs, len(tree.lengths))
    number, found = np.full(pairs, -1, dtype=np.int32), np.empty(pairs, dtype=np.int32)
    states = reachable_kernel()(automaton.delta, contexts.step, number, found)
    if states * tree.symbols > MOST_STEPS:
        raise _too_large(name, states * tree.symbols, len(tree.lengths))
    state, node = np.divmod(found[:states], np.int32(len(contexts.step)))
    step = number[automaton.delta[state] * np.int64(len(contexts.step)) + contexts.step[node]]
    return Chain(
        step=np.ascontiguousarray(step),
        state=state,
        node=node,
        context=contexts.context[node],
        accepting=automaton.accepting[state],
        distribution=tree.distribution,
        nodes=contexts.step,
    )


def distances(pattern: CompiledPattern) -> NDArray[np.int32]:
    """Per automaton state the least number of events to a match (0 when accepting); -1 where none can come."""
    return automaton_distances(symbol_automaton(pattern))


def _too_large(name: str, size: int, contexts: int) -> ModelSizeError:
    return ModelSizeError(
        f"{name}: its automaton and {contexts} contexts make a table of {size} entries, which is too large. "
        "Choose a lower order, or a higher `min_context_probability`."
    )
