"""What can be asked of another process by its number."""

import os
import subprocess
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs, ours or another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def command_line(pid: int) -> str:
    """The command that process was started with; empty when it is gone or has ended without being waited for."""
    proc = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self").exists():
        try:
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return ""
    said = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return said.stdout.strip()
