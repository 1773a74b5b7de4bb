"""The notebook of docs/ runs from top to bottom, and its cells show what its words say."""

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebooks" / "ferries.ipynb"


@pytest.fixture(scope="module")
def shown() -> list[dict[str, str]]:
    """What each cell of code shows, by kind; `text` is what it prints."""
    held = nbformat.read(NOTEBOOK, 4)
    nbclient.NotebookClient(held, timeout=120, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    found = []
    for cell in held.cells:
        if cell.cell_type == "code":
            printed = "".join(o["text"] for o in cell.outputs if o.get("name") == "stdout")
            data = [o["data"] for o in cell.outputs if "data" in o]
            found.append({"text": printed, **(data[-1] if data else {})})
    return found


def test_tables_drawing_map_and_reasons_show_themselves(shown: list[dict[str, str]]) -> None:
    events, drawing, matches, on_map, why, forecasts = shown
    assert "port_distance_m" in events["text/html"]
    assert drawing["image/svg+xml"].startswith("<svg")
    assert drawing["text/plain"] == "Drawing(stopped_at_sea, 11 states)"
    assert [word in matches["text/html"] for word in ("opened", "closed", "Ravn", "Tern")] == [True, True, True, False]
    assert on_map["text/html"].startswith("<iframe")
    assert len(on_map["text/plain"]) < 100
    assert "stopped_at_sea on Tern: no match in 170 events. Nearest miss: " in why["text"]
    assert why["text/html"].startswith("<iframe")
    assert forecasts["text/plain"].count("True") == 3


def test_the_file_keeps_no_output() -> None:
    assert all(not cell.get("outputs") for cell in nbformat.read(NOTEBOOK, 4).cells)
