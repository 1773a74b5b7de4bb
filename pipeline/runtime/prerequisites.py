"""What must be on the machine before anything is installed: Python 3.11, Java 17, and links in the file system.

Run by `make setup` with the system's Python before a virtual environment exists, so only the standard library is used.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

LEAST_PYTHON = (3, 11)
LEAST_JAVA = 17
PROJECT = Path(__file__).resolve().parents[2]
JAVA_HINT = (
    "Install one (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; "
    "Fedora: dnf install java-17-openjdk-headless; macOS: brew install openjdk@17) or set JAVA_HOME to it."
)


def java_binary() -> Path | None:
    """The `java` that Spark will use: that of JAVA_HOME, else the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        binary = Path(home) / "bin" / "java"
        return binary if binary.exists() else None
    found = shutil.which("java")
    return Path(found) if found else None


def java_major(version_text: str) -> int | None:
    """The major version in what `java -version` prints: 17 for `17.0.15`, 8 for `1.8.0_392`."""
    found = re.search(r'version "(\d+)(?:\.(\d+))?', version_text)
    if not found:
        return None
    major = int(found.group(1))
    return int(found.group(2)) if major == 1 and found.group(2) else major


def java_fault() -> str | None:
    """One line that says what is wrong with this machine's Java, or None."""
    home = os.environ.get("JAVA_HOME")
    binary = java_binary()
    if binary is None:
        where = f"JAVA_HOME={home}: no bin/java there." if home else "Java: not found."
        return f"{where} Foresail needs Java {LEAST_JAVA} or newer. {JAVA_HINT}"
    try:
        said = subprocess.run([str(binary), "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        return f"{binary}: does not run ({error.strerror}). Foresail needs Java {LEAST_JAVA} or newer. {JAVA_HINT}"
    major = java_major(said.stderr + said.stdout)
    if major is None:
        return f"{binary}: does not say its version. Foresail needs Java {LEAST_JAVA} or newer. {JAVA_HINT}"
    if major < LEAST_JAVA:
        return f"{binary}: Java {major} is too old. Foresail needs Java {LEAST_JAVA} or newer. {JAVA_HINT}"
    return None


def python_fault() -> str | None:
    """One line that says what is wrong with the running Python, or None."""
    if sys.version_info < LEAST_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        least = ".".join(map(str, LEAST_PYTHON))
        hint = f"Foresail needs {least} or newer: make PYTHON=/path/to/python{least}"
        return f"{sys.executable}: Python {found} is too old. {hint}"
    if not (find_spec("venv") and find_spec("ensurepip")):
        hint = "Install them (Debian, Ubuntu: apt-get install python3-venv) or use another: make PYTHON=/path/to/python"
        return f"{sys.executable}: lacks the modules venv and ensurepip, which make virtual environments. {hint}"
    return None


def links_fault(root: Path) -> str | None:
    """One line that says that the links below foresail/ were checked out as plain files, or None."""
    link = root / "foresail" / "patterns"
    if not link.is_file():
        return None
    hint = "Clone to a file system that has them, with: git clone -c core.symlinks=true"
    return f"{link}: is a file where the project has a link to a folder. {hint}"


def main() -> int:
    """Print each fault; the exit code says whether there was one."""
    faults = [fault for fault in (python_fault(), java_fault(), links_fault(PROJECT)) if fault]
    for fault in faults:
        sys.stderr.write(f"foresail: {fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
