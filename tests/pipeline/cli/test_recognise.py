"""`foresail recognise` says in one line what is wrong with how it was called, before Spark is started."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from foresail.patterns.errors import PatternError
from foresail.pipeline.cli import foresail
from foresail.pipeline.errors import InputError, OptionError


def recognise(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(foresail, ["recognise", "--events", "e.csv", "--out", str(folder / "out"), *options])


def test_nothing_to_look_for_is_a_fault_of_usage(tmp_path: Path) -> None:
    done = recognise(tmp_path)
    assert done.exit_code == 2
    assert "--patterns PATH or --domain maritime" in done.output


FAULTS = {
    ("--patterns", "trawlin"): (PatternError, "no such file, folder or built-in pattern. Did you mean 'trawling'?"),
    ("--patterns", "trawling", "--set", "trawling.max_sped_kn=8"): (PatternError, "max_speed_kn"),
    ("--patterns", "trawling", "--set", "trawling"): (OptionError, "Write pattern.parameter=value"),
    ("--patterns", "trawling", "--types", "depth"): (InputError, "not of the form COLUMN=TYPE"),
}


@pytest.mark.parametrize("options", FAULTS)
def test_a_wrong_word_is_told_with_the_right_one(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = recognise(tmp_path, *options)
    error, said = FAULTS[options]
    assert isinstance(done.exception, error)
    assert said in str(done.exception)
    assert not (tmp_path / "out").exists()
