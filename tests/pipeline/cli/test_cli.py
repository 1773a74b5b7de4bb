"""The command line as a user meets it: in processes of its own, with exit codes and one-line errors."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from foresail.pipeline.cli import COMMANDS
from foresail.pipeline.cli import foresail as group
from foresail.pipeline.runtime.processes import is_alive

FORESAIL = str(Path(sys.executable).parent / "foresail")


def foresail(*arguments: str, cwd: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [FORESAIL, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
    )


def wait_until(holds: Callable[[], bool], within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def first_child_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    wait_until(lambda: bool(children.read_text().split()))
    return int(children.read_text().split()[0])


def test_help_is_instant_and_lists_every_command() -> None:
    foresail("--help")
    took_s = []
    for _ in range(3):
        began = time.monotonic()
        done = foresail("--help")
        took_s.append(time.monotonic() - began)
    assert done.returncode == 0
    assert [name for name in COMMANDS if name not in done.stdout] == []
    assert min(took_s) < 1.0


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_a_help(command: str) -> None:
    done = foresail(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: foresail")


@pytest.mark.parametrize(
    "arguments", [["no-such-command"], ["demo", "--no-such-option"], ["kafka", "start", "--port", "0"]]
)
def test_wrong_usage_ends_with_code_2(arguments: list[str]) -> None:
    done = foresail(*arguments)
    assert done.returncode == 2
    assert "Usage:" in done.stderr
    assert "Traceback" not in done.stderr


EVENTS = ["--events", "x.csv", "--patterns", "drifting", "--out", "out"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["demo", "--conf", "nonsense"], "--conf nonsense: not a Spark setting"),
        (["recognise", *EVENTS, "--types", "a"], "--types a: not of the form COLUMN=TYPE"),
        (["recognise", *EVENTS, "--types", "a=strin"], "--types a=strin: unknown type. Did you mean 'string'?"),
        (["recognise", *EVENTS, "--set", "a=b"], "--set a=b: not an override"),
        (["ingest", "--from", "noaa", "--input", "x", "--out", "out", "--policy", "jumps"], "--policy jumps: not key"),
        (["ingest", "--from", "noa", "--input", "x", "--out", "out"], "--from noa: unknown feed"),
        (["replay", "--events", "x", "--bootstrap", "h:1", "--from", "noon"], "--from noon: not a time"),
        (["replay", "--events", "x", "--bootstrap", "h:1", "--max-lag", "3"], "--max-lag: nothing says"),
        (["catalog", "draw", "drifting", "--out", "x.png"], "x.png: cannot draw as '.png'"),
    ],
)
def test_an_option_that_is_not_of_its_form_is_wrong_usage(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = foresail(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"foresail: {says}")
    assert list(tmp_path.iterdir()) == [], "nothing is made before the options are right"


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["recognize"], "recognise"),
        (["evalute"], "evaluate"),
        (["catalog", "lst"], "list"),
        (["kafka", "stat"], "start"),
    ],
)
def test_the_nearest_command_is_suggested(arguments: list[str], near: str) -> None:
    done = foresail(*arguments)
    assert done.returncode == 2
    assert f"No such command '{arguments[-1]}'. Did you mean '{near}'?" in done.stderr


def leaves(group: click.Group, context: click.Context) -> Iterator[click.Command]:
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield from leaves(found, context) if isinstance(found, click.Group) else [found]


def test_every_command_can_be_quiet() -> None:
    without = [
        leaf.name
        for leaf in leaves(group, click.Context(group))
        if not any({"-q", "--quiet"} <= set(option.opts) for option in leaf.params)
    ]
    assert without == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["demo", "--settings", "/no/such.yaml"], "/no/such.yaml: cannot be read"),
        (["kafka", "stop", "--dir", "/no/such/folder"], "/no/such/folder: no broker was started there"),
    ],
)
def test_bad_input_ends_with_code_1_and_one_line(arguments: list[str], says: str) -> None:
    done = foresail(*arguments)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"foresail: {says}")
    assert "Traceback" not in done.stderr


def test_no_java_is_one_line() -> None:
    done = foresail("demo", JAVA_HOME="/nowhere")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("foresail: JAVA_HOME=/nowhere: no bin/java there. Foresail needs Java 17")


def test_java_11_is_one_line(tmp_path: Path) -> None:
    binary = tmp_path / "bin" / "java"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    binary.chmod(0o755)
    done = foresail("doctor", "--json", JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    checks = {check["check"]: check for check in json.loads(done.stdout.splitlines()[-1])["checks"]}
    assert "Java 11 is too old" in checks["Java"]["says"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--master", "local[many]"], "spark: did not start with master local[many] (Could not parse Master URL"),
        (
            ["--conf", "spark.sql.shuffle.partitions=few"],
            "spark: did not start with master local[2] (spark.sql.shuffle",
        ),
    ],
)
def test_a_wrong_master_or_conf_is_one_line_without_a_java_trace(arguments: list[str], says: str) -> None:
    done = foresail("demo", "--quiet", *arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"foresail: {says}")


@pytest.mark.spark
def test_an_interruption_is_quiet_ends_with_code_130_and_leaves_no_java_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [FORESAIL, "demo", "--out", str(tmp_path / "demo")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "starting Spark" in process.stderr.readline()
    java = first_child_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.strip() == ""
    wait_until(lambda: not is_alive(java))


@pytest.mark.kafka
def test_a_broker_is_started_asked_and_stopped_from_the_command_line(tmp_path: Path) -> None:
    from foresail.pipeline.kafka.broker import free_port

    folder, port = str(tmp_path / "broker"), free_port()
    started = foresail("kafka", "start", "--port", str(port), "--dir", folder, "--json")
    assert started.returncode == 0, started.stderr
    told = json.loads(started.stdout.splitlines()[-1])
    assert (told["running"], told["address"]) == (True, f"127.0.0.1:{port}")
    assert foresail("kafka", "status", "--dir", folder).returncode == 0
    assert foresail("kafka", "stop", "--dir", folder).returncode == 0
    status = foresail("kafka", "status", "--dir", folder, "--json")
    assert status.returncode == 1
    assert json.loads(status.stdout)["running"] is False


@pytest.mark.parametrize("name", ["recognise", "train", "forecast", "evaluate", "enrich", "replay"])
def test_every_command_that_reads_tables_takes_a_time_unit(name: str) -> None:
    said = foresail(name, "--help")
    assert "--time-unit [s|ms|us|ns]" in said.stdout
