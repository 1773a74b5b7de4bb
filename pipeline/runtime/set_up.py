"""What `make setup` does before foresail can run itself: the virtual environment and the Python packages.

Run with the system's Python, so only the standard library is used. A step that fails says why in one line; a step that
is killed is repeated whole by the next `make`, because the Makefile's stamp for it is missing.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ENVIRONMENT = Path(".venv")
UNFINISHED = ENVIRONMENT / ".stamps" / "unfinished"
"""There while packages are being installed: after a kill some may be half there, and all are installed anew."""
SIGNS = {
    "No space left": "the disk is full. Free some space and run make again.",
    "Permission denied": "a folder cannot be written. Set its rights and run make again.",
    "Read-only file system": "the disk is read-only. Clone the project to another and run make again.",
}
NO_INDEX = "the package index cannot be reached, or lacks a package. Connect to the network and run make again."


def make_environment() -> str | None:
    """Make .venv with the installer uv in it; what went wrong, or None."""
    say("making .venv")
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    fault = run([sys.executable, "-m", "venv", str(ENVIRONMENT)], otherwise="the environment could not be made.")
    fault = fault or run(
        [python(), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--retries", "1", "uv"]
    )
    if fault:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    return fault


def install_packages() -> str | None:
    """Install the locked packages and foresail itself; what went wrong, or None."""
    say("installing the Python packages of requirements.lock")
    anew = ["--reinstall"] if UNFINISHED.exists() else []
    UNFINISHED.touch()
    fault = run(
        [
            *(str(ENVIRONMENT / "bin" / "uv"), "--no-config", "pip", "install", "--python", python(), *anew),
            # where Python may not write bytecode, every start would compile all it imports anew: 9 s instead of 2 s
            *("--compile-bytecode", "--constraint", "requirements.lock", "--editable", ".[dev,airflow,rdf]"),
        ]
    )
    if fault is None:
        UNFINISHED.unlink()
    return fault


def run(command: list[str], otherwise: str = NO_INDEX) -> str | None:
    """None when `command` ends well; else one line: what is known of the fault and the way out."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if not done.returncode:
        return None
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    for sign, way_out in SIGNS.items():
        if any(sign in line for line in lines):
            return way_out
    telling = [line for line in lines if line.lower().startswith(("error", "caused by", "× ", "├─▶", "╰─▶"))]
    return f"{otherwise} ({' '.join((telling or lines or ['no reason given'])[-1:])[:300]})"


def python() -> str:
    """The environment's own Python."""
    return str(ENVIRONMENT / "bin" / "python")


def say(line: str) -> None:
    """One line of progress."""
    sys.stderr.write(f"foresail: {line}\n")


def main(step: str) -> int:
    """Do `step`; the exit code says whether it went well."""
    fault = {"environment": make_environment, "packages": install_packages}[step]()
    if fault:
        say(fault)
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
