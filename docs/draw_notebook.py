"""Draws docs/images/notebook.png: the notebook of the ferries after a run, as a browser shows it.

    PYTHONPATH=. .venv/bin/python docs/draw_notebook.py

needs an installed Chromium, which `CHROMIUM` may name.
"""

import os
import shutil
from html import escape
from pathlib import Path

import nbclient
import nbformat
from playwright.sync_api import sync_playwright

NOTEBOOK = Path("docs/notebooks/ferries.ipynb")
PICTURE = Path("docs/images/notebook.png")
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1000px; margin: 24px auto; color: #17212b; }
pre.code { background: #f5f7f9; border: 1px solid #dbe2e8; padding: 8px 12px; }
pre { font-size: 13px; white-space: pre-wrap; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: 3px 10px; text-align: right; }
tr:nth-child(even) { background: #f5f7f9; } h1 { font-size: 22px; } svg { max-width: 100%; height: auto; }
"""


def run(notebook: Path) -> nbformat.NotebookNode:
    """The notebook with what its cells show."""
    held = nbformat.read(notebook, 4)
    nbclient.NotebookClient(held, timeout=120, resources={"metadata": {"path": str(notebook.parent)}}).execute()
    return held


def page(notebook: nbformat.NotebookNode) -> str:
    """Cells and what they show, as HTML."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = cell.source.removeprefix("# ")
            parts.append(
                f"<h1>{escape(text.splitlines()[0])}</h1>" if text != cell.source else f"<p>{escape(text)}</p>"
            )
            continue
        parts.append(f'<pre class="code">{escape(cell.source)}</pre>')
        parts += [_shown(output) for output in cell.outputs if output.get("name") != "stderr"]
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>{"".join(parts)}'


def _shown(output: nbformat.NotebookNode) -> str:
    data = output.get("data", {})
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return f"<div>{data[kind]}</div>"
    return f"<pre>{escape(output.get('text') or data.get('text/plain', ''))}</pre>"


def main() -> None:
    """Run, show, take the picture."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium)
        shown = browser.new_page(viewport={"width": 1060, "height": 900})
        shown.set_content(page(run(NOTEBOOK)))
        shown.wait_for_timeout(1500)
        shown.screenshot(path=PICTURE, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
