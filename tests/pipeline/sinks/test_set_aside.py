"""Which files were taken in."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from foresail.pipeline.errors import OutputError
from foresail.pipeline.sinks.set_aside import LEDGER_FILE, Ledger, read_ledger


def test_a_file_is_known_by_its_content_and_not_its_name(tmp_path: Path) -> None:
    now = datetime(2024, 5, 1, tzinfo=UTC)
    Ledger().with_files("noaa", {"a.csv": "1234"}, now).write(tmp_path)
    read_ledger(tmp_path).with_files("noaa", {"b.csv": "5678"}, now).write(tmp_path)
    ledger = read_ledger(tmp_path)
    assert (ledger.knows("1234"), ledger.knows("5678"), ledger.knows("a.csv")) == (True, True, False)
    assert read_ledger(tmp_path / "elsewhere") == Ledger()


def test_a_ledger_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / LEDGER_FILE).write_text("[{]")
    with pytest.raises(OutputError, match="cannot be read as a list of ingested files"):
        read_ledger(tmp_path)
