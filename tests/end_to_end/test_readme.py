"""The README's commands are run as a reader would run them, from the project's root."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEST_COMMAND = "make test"


def shell_commands(text: str) -> list[str]:
    """Every line of every ```sh block."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


COMMANDS = shell_commands(README)


def test_the_two_commands_are_there() -> None:
    assert COMMANDS[:2] == ["make demo", TEST_COMMAND]


def test_the_test_command_is_what_continuous_integration_calls() -> None:
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == TEST_COMMAND


@pytest.mark.spark
@pytest.mark.kafka
def test_every_other_command_of_the_readme_works() -> None:
    for command in COMMANDS:
        if command != TEST_COMMAND:  # it is running this test
            done = subprocess.run(
                shlex.split(command), capture_output=True, text=True, check=False, cwd=ROOT, timeout=500
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_every_page_it_leads_to_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_commands_are_found_in_blocks_alone() -> None:
    assert shell_commands("```sh\na b\n\nc\n```\n`d`\n```\ne\n```\n") == ["a b", "c"]
