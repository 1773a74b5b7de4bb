"""The way of an entry in another language through catalog, commands and API, shown by a language of one word."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import foresail as fs
from foresail.patterns.catalog.languages import LANGUAGES, LanguageEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.errors import PatternSyntaxError
from foresail.pipeline.cli.catalog import command as catalog_command
from foresail.pipeline.cli.recognise import command as recognise
from foresail.pipeline.cli.try_patterns import command as try_patterns
from foresail.pipeline.languages.runner import RUNNERS, Found, ResultTable, count_rows
from foresail.pipeline.local.files import Reading, read_tables
from foresail.pipeline.local.frames import ArrowFrame, Frame

SCHEMA = pa.schema([("word_id", pa.string()), ("word", pa.string()), ("row", pa.int64())])


class WordEntry(LanguageEntry):
    TEXT: ClassVar[str] = "word"
    word: str

    def check(self) -> Sequence[str]:
        placed = self.placed("word")
        if not placed.text.strip().isalpha():
            msg = "not a word."
            raise PatternSyntaxError(msg, place=placed.place, source=placed.text, line=1, column=1)
        return ()

    def sections(self) -> Iterable[tuple[str, Sequence[tuple[str, str]]]]:
        return [("Word", [("letters", str(len(self.word.strip())))])]

    def drawn(self, form: str) -> str:
        return f"{form}: {self.word.strip()}"


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    yield from table.to_pylist()


class WordRunner:
    results = ResultTable("words", "word", "word", SCHEMA, _rows)

    def in_files(self, catalog: Catalog, source: Any) -> Found:
        return self.in_frame(catalog, ArrowFrame(read_tables(source.paths, Reading()).table), source.named)

    def in_frame(self, catalog: Catalog, frame: Frame, _: Any) -> Found:
        seen = frame.column("says").to_pylist()
        wanted = [e.word.strip() for e in catalog.others if isinstance(e, WordEntry)]
        rows = [(f"{w}{n}", w, n) for w in wanted for n, said in enumerate(seen) if said == w]
        table = pa.table([list(c) for c in zip(*rows, strict=True)] if rows else [[], [], []], schema=SCHEMA)
        return Found(table, count_rows(table, "word", wanted), frame.rows, ("a note",))

    def in_spark(self, *_: Any) -> None:
        return None


@pytest.fixture
def word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    module = ModuleType("a_language_of_one_word")
    vars(module).update(ENTRY=WordEntry, RUNNER=WordRunner())
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(LANGUAGES, "word", module.__name__)
    monkeypatch.setitem(RUNNERS, "word", module.__name__)
    (tmp_path / "events.jsonl").write_text('{"says": "ahoy"}\n{"says": "so"}\n{"says": "ahoy"}\n')
    (tmp_path / "hello.word").write_text("ahoy")
    return tmp_path


def run(command: Any, *arguments: object) -> Any:
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)


def test_a_file_by_itself_is_an_entry_and_try_prints_its_rows(word: Path) -> None:
    done = run(try_patterns, "--patterns", word / "hello.word", "--events", word / "events.jsonl", "--json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"word_id": "ahoy0", "word": "ahoy", "row": 0},
        {"word_id": "ahoy2", "word": "ahoy", "row": 2},
    ]
    assert "a note" in done.stderr
    shown = run(try_patterns, "--patterns", word / "hello.word", "--events", word / "events.jsonl")
    assert "ahoy: 2 words" in shown.stdout


def test_recognise_writes_the_table_of_the_language_in_either_form(word: Path) -> None:
    given = ["--patterns", word / "hello.word", "--events", word / "events.jsonl", "--engine", "local", "--json", "-q"]
    done = run(recognise, *given, "--out", word / "out")
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["words"], summary["words_by_word"], summary["events"]) == (2, {"ahoy": 2}, 3)
    assert pd.read_parquet(word / "out" / "words")["row"].tolist() == [0, 2]
    run(recognise, *given, "--out", word / "out", "--format", "jsonl")
    assert len((word / "out" / "words.jsonl").read_text().splitlines()) == 2
    assert not (word / "out" / "words").exists()


def test_find_gives_a_frame_of_the_rows(word: Path) -> None:
    with pytest.warns(fs.ForesailWarning, match="a note"):
        found = fs.find(pd.DataFrame({"says": ["so", "ahoy"]}), word / "hello.word")
    assert found["row"].tolist() == [1]


def test_patterns_and_another_language_are_run_apart(word: Path) -> None:
    stop = fs.pattern("stop", "slow", where={"slow": "speed_kn < 1"})
    with pytest.raises(fs.InputError, match=r"'stop' is a pattern and 'hello' is written in word.*Run them apart"):
        fs.find(pd.DataFrame({"says": ["so"]}), [word / "hello.word", stop])


def test_a_command_for_patterns_alone_says_so(word: Path) -> None:
    with pytest.raises(fs.CatalogError, match="hello: is written in word, and only patterns go here"):
        fs.Monitor(word / "hello.word")


def test_the_catalog_commands_take_such_entries(word: Path) -> None:
    entry = word / "entry.yaml"
    entry.write_text("language: word\nname: greeting\nsays: Someone greets.\nword: ahoy\n")
    assert "1 pattern, no fault" in run(catalog_command, "check", entry).stdout
    assert "letters  4" in run(catalog_command, "show", "greeting", "--patterns", entry).stdout
    assert "language: word" in run(catalog_command, "show", "greeting", "--yaml", "--patterns", entry).stdout
    assert "greeting" in run(catalog_command, "list", "--patterns", entry).stdout
    run(catalog_command, "draw", "greeting", "--patterns", entry, "-o", word / "drawn.svg")
    assert (word / "drawn.svg").read_text() == "svg: ahoy"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("language: word\nname: a1\nsays: So.\nword: 7 up\n", "entry.yaml:4:7: not a word"),
        ("language: words\nname: a1\nsays: So.\n", "unknown language 'words'. Did you mean 'word'"),
        ("language: word\nname: a1\nsays: So.\nwrod: up\n", "unknown key 'wrod'. Did you mean 'word'"),
    ],
)
def test_faults_have_their_place(word: Path, text: str, fault: str) -> None:
    entry = word / "entry.yaml"
    entry.write_text(text)
    done = run(catalog_command, "check", entry)
    assert done.exit_code == 1
    assert fault in done.stderr
