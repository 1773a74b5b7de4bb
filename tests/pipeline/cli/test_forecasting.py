"""The commands of forecasting: what they ask for, before any Spark is started."""

import pytest
from click.testing import CliRunner

from pipeline.cli import foresail


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
