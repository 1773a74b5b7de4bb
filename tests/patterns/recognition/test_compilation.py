"""Kernels are compiled once for one signature, and again when any of their sources has changed."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.compilation import KERNELS, detection_kernel
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.spec import spec_of

REPOSITORY = Path(__file__).resolve().parents[3]


def test_read_only_and_writable_events_run_the_same_compiled_kernel() -> None:
    recogniser = PatternRecogniser([compile_pattern(spec_of("p", "a ; a", {"a": "x"}))])
    words, times, first = np.ones((3, 1), dtype=np.int64), np.arange(3), np.array([0, 3])
    frozen = [array.copy() for array in (words, times, first)]
    for array in frozen:
        array.flags.writeable = False
    found = [
        recogniser.advance(EventBatch(*arrays), recogniser.fresh(1))[0].index.tolist()
        for arrays in ((words, times, first), frozen)
    ]
    assert found == [[2, 3], [2, 3]]
    assert len(detection_kernel().signatures) == 1  # type: ignore[attr-defined]


def test_every_kernel_has_one_signature() -> None:
    assert all(len(ready().signatures) == 1 for ready in KERNELS.values())  # type: ignore[attr-defined]


def test_compiled_kernels_of_other_sources_are_discarded(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from foresail.patterns.recognition.compilation import _discard_stale\n"
        "_discard_stale(Path(sys.argv[1]))\n"
    )
    for name in (
        "kernel.advance-1.py311.nbi",
        "kernel.advance-1.py311.1.nbc",
        "kernels-0000.stamp",
        "other.f.py311.nbi",
    ):
        (tmp_path / name).touch()
    command = [sys.executable, "-c", script, str(tmp_path)]
    subprocess.run(command, check=True, cwd=REPOSITORY)
    left = {file.name for file in tmp_path.iterdir()}
    assert "other.f.py311.nbi" in left
    assert len(left) == 2
    (tmp_path / "kernel.advance-1.py311.nbi").touch()
    subprocess.run(command, check=True, cwd=REPOSITORY)
    assert (tmp_path / "kernel.advance-1.py311.nbi").exists()
