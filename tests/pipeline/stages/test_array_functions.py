"""Arrays with unknown values decide as SQL does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foresail.pipeline.stages.array_functions import Nullable, coalesce, lit, pmod, when

TRUTHS = st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), min_size=1)


@given(TRUTHS)
def test_the_unknown_is_decided_as_in_sql(pairs: list[tuple[bool | None, bool | None]]) -> None:
    one, other = (
        Nullable(np.array([bool(p[n]) for p in pairs]), np.array([p[n] is not None for p in pairs])) for n in (0, 1)
    )

    def told(column: Nullable) -> list[bool | None]:
        return [bool(v) if known else None for v, known in zip(column.values, column.known, strict=True)]

    def both(a: bool | None, b: bool | None) -> bool | None:
        return False if a is False or b is False else None if a is None or b is None else True

    def either(a: bool | None, b: bool | None) -> bool | None:
        return True if a or b else None if a is None or b is None else False

    assert told(one & other) == [both(*pair) for pair in pairs]
    assert told(one | other) == [either(*pair) for pair in pairs]
    assert told(coalesce(one, other)) == [b if a is None else a for a, b in pairs]
    assert told(when(one, other)) == [b if a else None for a, b in pairs]
    assert told(one.isNull()) == [a is None for a, _ in pairs]


def test_remainders_have_the_sign_of_the_divisor() -> None:
    angles = Nullable.of(np.array([-540.0, -0.5, 0.0, 359.5, 720.25, np.nan]))
    rest = pmod(angles, lit(360.0))
    assert rest.known.tolist() == [True] * 5 + [False]
    assert rest.values[:5].tolist() == [180.0, 359.5, 0.0, 359.5, 0.25]
