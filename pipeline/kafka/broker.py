"""A real single-node Kafka in the background, for development and tests; known by its folder."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from foresail.pipeline.errors import BrokerError, JavaError
from foresail.pipeline.kafka.topics import HOST, controller_port_in, is_reachable, server_properties
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.runtime.jars import KAFKA_BROKER, resolve
from foresail.pipeline.runtime.prerequisites import java_binary, java_fault
from foresail.pipeline.runtime.processes import command_line, is_alive
from foresail.pipeline.sinks.output_folder import claim_output

READY_WITHIN_S = 60
STOPPED_WITHIN_S = 30
MAIN_CLASS = "kafka.Kafka"


@dataclass(frozen=True, slots=True)
class BrokerStatus:
    """What is known of the broker of one folder."""

    directory: Path
    running: bool
    pid: int | None = None
    port: int | None = None
    stale: bool = False
    """Whether the pid file names a process that is gone."""

    @property
    def address(self) -> str | None:
        """host:port for clients while it runs."""
        return f"{HOST}:{self.port}" if self.running else None

    @property
    def summary(self) -> dict[str, object]:
        """What --json shows."""
        return {"running": self.running, "address": self.address, "pid": self.pid, "directory": str(self.directory)}


def status_of(directory: Path) -> BrokerStatus:
    """Whether the broker of `directory` runs, and where."""
    try:
        record = json.loads(_pid_file(directory).read_text(encoding="utf-8"))
        pid, port = int(record["pid"]), int(record["port"])
    except FileNotFoundError:
        return BrokerStatus(directory, running=False)
    except (OSError, ValueError, KeyError, TypeError):
        return BrokerStatus(directory, running=False, stale=True)
    # the number may have been given to another program since
    if is_alive(pid) and MAIN_CLASS in command_line(pid):
        return BrokerStatus(directory, running=True, pid=pid, port=port)
    return BrokerStatus(directory, running=False, pid=pid, port=port, stale=True)


def start_broker(directory: Path, port: int, cache: Path, progress: Progress = SILENT) -> BrokerStatus:
    """The broker of `directory`, answering on `port` when this returns; one that already runs there is left alone."""
    directory = directory.absolute()
    status = status_of(directory)
    if status.running:
        return _already_running(status, port)
    if status.stale:
        progress.say(f"{_pid_file(directory)}: was left by a broker that is gone; removed")
        _pid_file(directory).unlink()
    _check_port(port)
    claim_output(directory, "kafka")
    fault = java_fault()
    if fault:
        raise JavaError(fault)
    library = resolve(KAFKA_BROKER, cache, progress)[0].parent
    with progress.step(f"starting Kafka on {HOST}:{port}"):
        properties = _prepare(directory, port, library)
        process = _launch(directory, properties, library)
        _record(directory, process.pid, port)
        _await(process, directory, port)
    return status_of(directory)


def stop_broker(directory: Path) -> BrokerStatus:
    """The status before the broker of `directory` was stopped; it is gone when this returns."""
    status = status_of(directory.absolute())
    if status.stale:
        _pid_file(directory).unlink()
        msg = f"{directory}: the broker (process {status.pid}) is already gone; its pid file was removed."
        raise BrokerError(msg)
    if not status.running or status.pid is None:
        msg = f"{directory}: no broker was started there. See `foresail kafka status --dir`."
        raise BrokerError(msg)
    os.kill(status.pid, signal.SIGTERM)
    if not _gone_within(status.pid, STOPPED_WITHIN_S):
        os.kill(status.pid, signal.SIGKILL)
        _gone_within(status.pid, STOPPED_WITHIN_S)
    _pid_file(directory).unlink(missing_ok=True)
    return status


def free_port() -> int:
    """A port on the loopback address that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _already_running(status: BrokerStatus, port: int) -> BrokerStatus:
    if status.port != port:
        msg = f"{status.directory}: a broker runs there on port {status.port}. Stop it first, or name another --dir."
        raise BrokerError(msg)
    return status


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            msg = f"port {port}: cannot be used ({error.strerror}). Name another with --port."
            raise BrokerError(msg) from None


def _prepare(directory: Path, port: int, library: Path) -> Path:
    """server.properties for `port`, and formatted storage if the folder has none yet."""
    properties, data = directory / "server.properties", directory / "data"
    formatted = (data / "meta.properties").is_file()
    if data.exists() and not formatted:
        if any(data.iterdir()):
            msg = f"{data}: is damaged (records, but no meta.properties). Remove {directory}, or name another --dir."
            raise BrokerError(msg)
        shutil.rmtree(data)
    kept = controller_port_in(properties.read_text(encoding="utf-8")) if formatted and properties.is_file() else None
    properties.write_text(server_properties(port, kept or free_port(), data), encoding="utf-8")
    if not formatted:
        _format(directory, properties, library)
    return properties


def _format(directory: Path, properties: Path, library: Path) -> None:
    identity = _tool(library, "random-uuid").stdout.split()[-1:]
    done = _tool(library, "format", "-t", identity[0] if identity else "none", "--standalone", "-c", str(properties))
    if done.returncode:
        shutil.rmtree(directory / "data", ignore_errors=True)
        msg = f"{directory}: storage could not be made ({_last_line(done.stdout + done.stderr)}). Check the disk."
        raise BrokerError(msg)


def _tool(library: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [*_java(library, "-Xmx256m"), "kafka.tools.StorageTool", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=READY_WITHIN_S)


def _launch(directory: Path, properties: Path, library: Path) -> "subprocess.Popen[bytes]":
    with _log_file(directory).open("wb") as log:
        return subprocess.Popen(
            [*_java(library, "-Xmx512m"), MAIN_CLASS, str(properties)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=directory,
            start_new_session=True,  # Ctrl-C in the terminal that started it is not meant for it
        )


def _java(library: Path, memory: str) -> list[str]:
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
    return [str(java_binary()), memory, quiet, "-Dorg.slf4j.simpleLogger.showThreadName=false", "-cp", f"{library}/*"]


def _await(process: "subprocess.Popen[bytes]", directory: Path, port: int) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            _pid_file(directory).unlink(missing_ok=True)
            reason = _reason_in(_log_file(directory).read_text(encoding="utf-8", errors="replace"))
            msg = f"{directory}: Kafka ended at once ({reason}). If its data is damaged, remove {directory}."
            raise BrokerError(msg)
        if _listens(port) and is_reachable(f"{HOST}:{port}"):
            return
        time.sleep(0.1)
    process.terminate()
    _pid_file(directory).unlink(missing_ok=True)
    msg = f"{directory}: Kafka was not ready within {READY_WITHIN_S} s. See {_log_file(directory)}."
    raise BrokerError(msg)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_alive(pid) or MAIN_CLASS not in command_line(pid):
            return True
        time.sleep(0.1)
    return False


def _record(directory: Path, pid: int, port: int) -> None:
    _pid_file(directory).write_text(json.dumps({"pid": pid, "port": port}), encoding="utf-8")


def _pid_file(directory: Path) -> Path:
    return directory / "kafka.pid"


def _log_file(directory: Path) -> Path:
    return directory / "kafka.log"


def _reason_in(log: str) -> str:
    telling = [
        line.strip() for line in log.splitlines() if "Exception: " in line or "ERROR" in line or "Error: " in line
    ]
    causes = [line.partition("Exception: ")[2] for line in telling if "Exception: " in line]
    return (causes or telling or [_last_line(log)])[-1][:300]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it gave no reason"
