"""Ids that are made many at once are those that are made one by one."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.pipeline.results.id_kernel import Named, ids_of
from foresail.pipeline.results.ids import id_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=70)
NUMBER = st.integers(-(2**63) + 1, 2**63 - 1)
RESULT = st.tuples(TEXT, TEXT, TEXT, NUMBER, NUMBER, st.lists(st.integers(0, 2**40), max_size=12))


def _named(results: list[tuple[str, str, str, int, int, list[int]]], index: int) -> Named:
    rows = np.arange(len(results))
    ends = np.cumsum([len(result[5]) for result in results], dtype=np.int64)
    begins = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])[: len(results)]
    times, ties = (np.array([result[n] for result in results], dtype=np.int64) for n in (3, 4))
    return Named(rows, rows, rows, times, ties, begins, ends, np.full(len(results), index))


@settings(deadline=None)
@given(st.lists(RESULT, max_size=8), st.integers(0, 2**40))
def test_ids_are_the_hashes_of_the_fields_that_name_a_result(
    results: list[tuple[str, str, str, int, int, list[int]]], index: int
) -> None:
    texts = [pa.array([result[n] for result in results], pa.string()) for n in range(3)]
    members = np.array([member for result in results for member in result[5]], dtype=np.int64)
    named = _named(results, index)
    listed = ids_of(*texts, named, members).to_pylist()
    plain = ids_of(*texts, named).to_pylist()
    for (head, instance, track, time, tie, events), with_list, without in zip(results, listed, plain, strict=True):
        relative = ",".join(str(index - event) for event in events)
        assert with_list == id_of(head, instance, track, str(time), str(tie), relative)
        assert without == id_of(head, instance, track, str(time), str(tie))


def test_texts_may_be_a_part_of_a_longer_array_or_a_dictionary() -> None:
    tracks = pa.array(["left out", "a", "bé"]).slice(1)
    one, none = np.array([1]), np.array([0])
    named = Named(none, none, one, one, none, none, none, none)
    for form in (tracks, tracks.dictionary_encode()):
        assert ids_of(pa.array(["p"]), pa.array([""]), form, named).to_pylist() == [id_of("p", "", "bé", "1", "0")]
