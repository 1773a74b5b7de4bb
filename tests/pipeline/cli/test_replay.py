"""The command line of `foresail replay`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from foresail.pipeline.cli import foresail
from foresail.pipeline.errors import InputError


def test_a_broker_must_be_named() -> None:
    result = CliRunner().invoke(foresail, ["replay", "--events", "a.csv"], env={"FORESAIL_SETTINGS": ""})
    assert result.exit_code == 2
    assert "--bootstrap host:port" in result.output


def test_a_time_that_is_none_is_told() -> None:
    arguments = ["replay", "--events", "a.csv", "--bootstrap", "h:1", "--from", "noon"]
    result = CliRunner().invoke(foresail, arguments)
    assert isinstance(result.exception, InputError)
    assert "--from noon: not a time" in str(result.exception)


@pytest.mark.soak
@pytest.mark.kafka
def test_the_whole_command_sends_and_sums_up(broker: str, tmp_path: Path) -> None:
    import subprocess
    import sys

    file = tmp_path / "events.csv"
    file.write_text("track,time,lon,lat\na,2024-05-01T00:00:00Z,1,2\nb,2024-05-01T00:00:01Z,1,2\n", encoding="utf-8")
    arguments = ["replay", "--events", str(file), "--to-topic", "replay-cli", "--bootstrap", broker, "--json"]
    done = subprocess.run(
        [str(Path(sys.executable).with_name("foresail")), *arguments], capture_output=True, text=True, check=True
    )
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["events"] == 2
