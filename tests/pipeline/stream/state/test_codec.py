import numpy as np
import pytest

from foresail.patterns.recognition.joining import joined
from foresail.pipeline.stream.state.codec import StateFormatError, decode, encode
from tests.pipeline.stream import lines

PATTERNS = lines.some_patterns()


def test_states_come_back_as_they_were_and_writable() -> None:
    line = lines.Running(lines.spec_for(PATTERNS))
    line.read(lines.some_events(2))
    assert line.bucket is not None
    state = joined([line.bucket.state])
    again = decode(encode(state), line.bucket.monitor.fresh(0))
    assert encode(again) == encode(state)
    assert again.last_time.flags.writeable
    assert again.last_time.ctypes.data % 8 == 0


def test_states_of_other_patterns_are_refused() -> None:
    with pytest.raises(StateFormatError, match=r"name a new folder in stream\.checkpoint"):
        decode(encode((np.zeros((3, 2), np.int32),)), (np.zeros((0, 4), np.int32),))
    with pytest.raises(StateFormatError, match="more arrays"):
        decode(encode((np.zeros(1), np.zeros(1))), (np.zeros(0),))
