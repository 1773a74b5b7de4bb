"""The section `console` of the settings: who may use the console, what it keeps, how its map looks."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from foresail.pipeline.settings_section import Section


class UserSettings(Section):
    """One who may use the console."""

    password: str | None = Field(
        None, description="Its hash, as `foresail console --hash-password` prints it; none with a proxy."
    )
    role: Literal["viewer", "operator", "admin"] = Field(
        "viewer", description="viewer looks, operator acts on alerts, admin also turns knobs and reads the audit log."
    )


class ConsoleSettings(Section):
    """The console: who may use it, what it keeps, how its map looks."""

    database: str = Field("sqlite:///console.db", description="Where operations are kept, as a URL of SQLAlchemy.")
    keep_hours: float = Field(24.0, gt=0, description="How much of the past is read at the start and kept at hand.")
    keep_positions: int = Field(4_000_000, ge=1000, description="Positions kept at hand at most, 36 bytes each.")
    keep_alerts: int = Field(20_000, ge=100, description="Alerts kept at hand at most.")
    silent_after_min: float = Field(30.0, gt=0, description="A track without news for so long is shown faded.")
    tiles: str | None = Field(None, description="A raster tile server of your own, as https://HOST/{z}/{x}/{y}.png.")
    tiles_said: str = Field("", description="Whom to name on the map for these tiles.")
    users: dict[str, UserSettings] = Field(
        default_factory=dict, description="Who may use it; without any a one-time token opens it on this machine."
    )
    proxy_header: str | None = Field(
        None, description="The header in which a trusted proxy names the user, such as X-Forwarded-User."
    )
    proxy_addresses: tuple[str, ...] = Field(
        ("127.0.0.1",), description="Where that proxy asks from; others are not believed."
    )
    hosts: tuple[str, ...] = Field((), description="Names by which it may be asked for, beside its address.")
    tls_certificate: Path | None = Field(None, description="The certificate (PEM) for https.")
    tls_key: Path | None = Field(None, description="The key (PEM) of that certificate.")
    requests_per_minute: int = Field(1200, ge=10, description="Requests that one address may make.")
    logins_per_minute: int = Field(10, ge=1, description="Attempts to log in that one address may make.")
    session_hours: float = Field(24.0, gt=0, description="How long a browser stays logged in.")
