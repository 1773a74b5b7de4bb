"""What every section of the settings is, wherever it is defined."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the settings; an unknown key is an error, not a surprise."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)
