"""The commands of forecasting: what they ask for, before any Spark is started."""

import pytest
from click.testing import CliRunner

from foresail.pipeline.cli import foresail
from foresail.pipeline.cli.train import _show


def told(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(foresail, [*arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (
            "train",
            ["--events", "--patterns", "--models", "--add", "--half-life-days", "--per", "--from", "--to", "--json"],
        ),
        ("forecast", ["--events", "--models", "--out", "--format", "--emit", "--threshold", "--master"]),
        ("evaluate", ["--events", "--folds", "--by", "--orders", "--within", "--conf"]),
    ],
)
def test_help_names_every_option(command: str, options: list[str]) -> None:
    code, output = told(command, "--help")
    assert code == 0
    assert [option for option in options if option not in output] == []


@pytest.mark.parametrize(
    ("arguments", "way_out"),
    [
        (["train", "--events", "e", "--models", "m"], "--patterns PATH or --domain"),
        (["train", "--events", "e", "--models", "m", "--domain", "fleet", "--half-life-days", "3"], "give --add too"),
        (["evaluate", "--events", "e", "--out", "o", "--domain", "fleet", "--orders", "1;4"], "Write them as 0,1,4"),
        (["forecast", "--events", "e", "--models", "m", "--out", "o", "--threshold", "3"], "--threshold"),
        (
            ["train", "--events", "e", "--models", "m", "--domain", "fleet", "--per", "track", "--count-only"],
            "Leave out --count-only, or --per",
        ),
    ],
)
def test_wrong_usage_ends_with_code_2_and_the_way_out(arguments: list[str], way_out: str) -> None:
    code, output = told(*arguments)
    assert code == 2
    assert way_out in output


def test_the_summary_of_training_tells_what_a_model_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    row = {
        "pattern": "entry",
        "model_version": "entry-v1-0001-ab12cd",
        "order": 2,
        "symbols": 80,
        "contexts": 9,
        "matches": 0,
        "threshold": 0.2,
        "scores": {},
        "notes": ["no match in the training data: every forecast is zero", "smoothing 0.001 over 80 symbols is capped"],
    }
    summary = {"events": 9, "tracks": 1, "patterns": [row], "skipped": {"odd": "why"}, "models": "m", "seconds": 1.0}
    _show(summary, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert "entry: no match in the training data: every forecast is zero" in lines
    assert "entry: smoothing 0.001 over 80 symbols is capped" in lines
    assert "not trained: odd (why)" in lines
