"""Folders are claimed, kept apart and replaced whole.

One job at a time writes to a folder; the next one hears who does, and finds no rubbish of those that were killed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.pipeline.errors import OutputError
from foresail.pipeline.sinks.output_folder import MARKER, claim_output, held_output, owner_of, replaced, sweep


def test_an_absent_folder_is_made_with_its_parents_and_marked(tmp_path: Path) -> None:
    out = claim_output(tmp_path / "a" / "b", "ingest")
    assert (out / MARKER).read_text() == "foresail ingest\n"
    assert owner_of(out) == "ingest"


def test_an_empty_folder_is_claimed(tmp_path: Path) -> None:
    assert owner_of(claim_output(tmp_path, "ingest")) == "ingest"


def test_the_same_command_may_write_again(tmp_path: Path) -> None:
    (claim_output(tmp_path, "ingest") / "events").mkdir()
    assert claim_output(tmp_path, "ingest") == tmp_path


def test_foreign_content_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="did not write"):
        claim_output(tmp_path, "ingest")
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_result_of_another_command_is_refused_by_name(tmp_path: Path) -> None:
    claim_output(tmp_path, "ingest")
    with pytest.raises(OutputError, match=r"result of `foresail ingest`.*`foresail enrich`"):
        claim_output(tmp_path, "enrich")


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        claim_output(tmp_path / "out", "ingest")


@pytest.mark.parametrize("torn", ["", "fore", "foresail "])
def test_a_marker_torn_by_a_kill_does_not_block_the_next_try(tmp_path: Path, torn: str) -> None:
    (tmp_path / MARKER).write_text(torn)
    assert owner_of(claim_output(tmp_path, "ingest")) == "ingest"


def test_a_torn_marker_among_other_files_does_not_make_them_ours(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("")
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="did not write"):
        claim_output(tmp_path, "ingest")


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        claim_output(tmp_path / "file" / "out", "ingest")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_rights_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot be written"):
        claim_output(tmp_path / "out", "ingest")


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    place = tmp_path / "events"
    place.mkdir()
    (place / "old").write_text("")
    with replaced(place) as staging:
        assert not staging.exists(), "Spark insists on making it"
        staging.mkdir()
        (staging / "new").write_text("")
        assert (place / "old").exists(), "readers still see the old one"
    assert [entry.name for entry in place.iterdir()] == ["new"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["events"], "nothing is left beside it"


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    place = tmp_path / "quality.json"
    place.write_text("old")
    with replaced(place) as staging:
        staging.write_text("new")
        assert place.read_text() == "old"
    assert place.read_text() == "new"


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_fault_leaves_the_old_one_and_no_rubbish(tmp_path: Path, fault: type[BaseException]) -> None:
    place = tmp_path / "events"
    place.write_text("old")

    def fail_half_way() -> None:
        with replaced(place) as staging:
            staging.write_text("half")
            raise fault

    with pytest.raises(fault):
        fail_half_way()
    assert place.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["events"]


def test_a_job_that_wrote_nothing_replaces_nothing(tmp_path: Path) -> None:
    place = tmp_path / "events"
    place.write_text("old")
    with pytest.raises(OutputError, match="without writing"), replaced(place):
        pass
    assert place.read_text() == "old"


@settings(max_examples=20, deadline=None)
@given(st.sets(st.sampled_from(["place", "staging", "former"])))
def test_whatever_a_killed_swap_left_the_next_one_succeeds(left: set[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for role, path in {"place": "events", "staging": ".events.staging", "former": ".events.former"}.items():
            if role in left:
                (folder / path).mkdir()
                (folder / path / role).write_text("")
        with replaced(folder / "events") as staging:
            survivor = next((role for role in ("place", "former") if role in left), None)
            assert (folder / "events").exists() == (survivor is not None), "the last whole result is back"
            staging.mkdir()
            (staging / "new").write_text("")
        assert [entry.name for entry in folder.iterdir()] == ["events"]
        assert [entry.name for entry in (folder / "events").iterdir()] == ["new"]


HOLDS = """
import sys, time
from pathlib import Path
from foresail.pipeline.sinks.output_folder import held_output
with held_output(Path(sys.argv[1]), "ingest"):
    (Path(sys.argv[1]) / ".events.staging").mkdir()
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def hold(path: Path, command: str = "ingest") -> None:
    with held_output(path, command):
        pass


def test_the_second_job_is_told_who_holds_the_folder_and_since_when(
    tmp_path: Path, holder: "subprocess.Popen[str]"
) -> None:
    said = rf"`foresail ingest` is writing there \(process {holder.pid} on \S+ since 20[-\d]+ [:\d]+ UTC\)"
    with pytest.raises(OutputError, match=said):
        hold(tmp_path)
    assert (tmp_path / ".events.staging").exists(), "what the other one works on is left alone"


def test_a_holder_that_is_killed_holds_no_more_and_its_rubbish_is_swept(
    tmp_path: Path, holder: "subprocess.Popen[str]"
) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with held_output(tmp_path, "ingest"):
        assert not (tmp_path / ".events.staging").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == [MARKER]


def test_the_marker_names_the_holder_only_while_it_holds(tmp_path: Path) -> None:
    with held_output(tmp_path, "ingest", lambda: datetime(2026, 5, 1, 12, 30, tzinfo=UTC)):
        assert f"process {os.getpid()} on " in (tmp_path / MARKER).read_text()
        assert "since 2026-05-01 12:30:00 UTC" in (tmp_path / MARKER).read_text()
        assert owner_of(tmp_path) == "ingest"
    assert (tmp_path / MARKER).read_text() == "foresail ingest\n"
    hold(tmp_path)


def test_leftovers_go_and_a_result_that_was_being_replaced_comes_back(tmp_path: Path) -> None:
    for name in ("events", ".events.former", ".rejected.former", ".matches.jsonl.staging.parts", ".ingest"):
        (tmp_path / name).mkdir()
    (tmp_path / ".quality.json.staging").write_text("half")
    (tmp_path / ".rejected.former" / "whole").write_text("")
    (tmp_path / "mine.txt").write_text("")
    sweep(tmp_path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["events", "mine.txt", "rejected"]
    assert (tmp_path / "rejected" / "whole").exists()
