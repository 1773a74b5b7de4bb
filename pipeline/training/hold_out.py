"""Which tracks are held out: never counted, so that models can be judged on them."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

PARTS = 1000


def is_held_out(share: float) -> Column:
    """Whether a track is held out: by its name, so that it is so every day."""
    return F.pmod(F.xxhash64(F.lit("held out"), F.col("track")), F.lit(PARTS)) < F.lit(round(share * PARTS))
