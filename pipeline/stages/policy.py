"""What cleaning does with rows that are odd but not wrong: one choice each, with the default an analyst would make."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foresail.pipeline.errors import OptionError


class Policy(BaseModel):
    """Every choice of the cleaning; `--policy key=value` sets one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    non_ships: Literal["reject", "keep"] = Field(
        "reject", description="Base stations, buoys, aircraft, beacons and MMSI that no ship can have."
    )
    default_ids: Literal["reject", "keep"] = Field(
        "reject", description="Identities as from the factory: 0, 123456789."
    )
    zero_position: Literal["reject", "keep"] = Field("reject", description="Positions at exactly 0, 0.")
    missing_position: Literal["reject", "keep"] = Field("reject", description="Messages that have no position at all.")
    same_time: Literal["drop", "keep"] = Field(
        "drop", description="A second position of a track at the same instant in another place: kept aside or kept."
    )
    jumps: Literal["flag", "split", "reject"] = Field(
        "flag",
        description="Steps faster than max_speed_kn: marked as position_jump, or the track is cut there, "
        "or pieces shorter than min_piece positions are rejected.",
    )
    spikes: Literal["reject", "keep"] = Field(
        "reject", description="A single position far off while the two before and the two after agree."
    )
    max_speed_kn: float = Field(50.0, gt=0, description="Faster than this between two positions is a jump; vessels.")
    max_speed_kmh: float = Field(250.0, gt=0, description="Faster than this between two positions is a jump; vehicles.")
    min_jump_m: float = Field(
        1000.0, ge=0, description="A shorter step is no jump, however fast: clocks and antennas have their jitter."
    )
    min_piece: int = Field(
        3, ge=1, description="Fewest positions of a piece between two jumps that jumps=reject keeps."
    )
    gap_min: float = Field(
        30.0, gt=0, description="A longer silence is a gap: minutes_since_start begins anew, and no speed is implied."
    )
    missing_speed: Literal["fill", "leave"] = Field(
        "fill",
        description="A speed that was not sent: taken from the way since the previous position, marked speed_implied; "
        "or left unknown.",
    )
    turn_threshold_deg: float = Field(15.0, gt=0, description="A turn above this is a change_in_heading.")
    earliest: datetime = Field(datetime(1995, 1, 1, tzinfo=UTC), description="Positions before this have a wrong time.")
    latest: datetime | None = Field(None, description="Positions after this have a wrong time; one day ahead if unset.")
    received_at: datetime | None = Field(
        None, description="When NMEA lines without any time were received; the file's own time if unset."
    )

    def end_of_time(self, now: datetime) -> datetime:
        """The last plausible instant: clocks run ahead by a day at most."""
        return self.latest or now + timedelta(days=1)

    @property
    def gap_us(self) -> int:
        """The longest silence that is no gap, in microseconds."""
        return round(self.gap_min * 60e6)

    def jump_speed_kn(self, domain: str) -> float:
        """The speed between two positions above which the step is a jump."""
        return self.max_speed_kn if domain == "maritime" else self.max_speed_kmh / 1.852


def parse_policy(entries: tuple[str, ...]) -> Policy:
    """The policy that `key=value` entries describe; what is not named keeps its default."""
    values: dict[str, str] = {}
    for entry in entries:
        key, sign, value = entry.partition("=")
        if not sign:
            msg = f"--policy {entry}: not key=value. Keys: {', '.join(Policy.model_fields)}."
            raise OptionError(msg)
        values[key.strip().replace("-", "_")] = value.strip()
    try:
        return _with_zones(Policy.model_validate(values))
    except ValidationError as error:
        raise OptionError(_sentence(error)) from None


def _with_zones(policy: Policy) -> Policy:
    """Times without a zone are UTC."""
    naive = {
        name: value.replace(tzinfo=UTC)
        for name in ("earliest", "latest", "received_at")
        if isinstance(value := getattr(policy, name), datetime) and value.tzinfo is None
    }
    return policy.model_copy(update=naive)


def _sentence(error: ValidationError) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    fault = error.errors()[0]
    key = str(fault["loc"][0])
    if fault["type"] != "extra_forbidden":
        return f"--policy {key}={fault['input']}: {fault['msg']}. {Policy.model_fields[key].description}"
    near = get_close_matches(key, Policy.model_fields, n=1)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    return f"--policy {key}: unknown. {hint}Keys: {', '.join(Policy.model_fields)}."
