"""What every group of commands has: the nearest name for one that is misspelt, and --quiet on each command."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])
NO_PROGRESS = "Show no progress."


class Commands(click.Group):
    """A group that suggests, and whose commands all take -q, so that a script may give it everywhere."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; the nearest name is told where there is none."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = get_close_matches(name, self.list_commands(ctx), n=1)
            ctx.fail(f"No such command '{name}'." + (f" Did you mean '{near[0]}'?" if near else ""))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        found = super().get_command(ctx, cmd_name)
        return None if found is None else with_quiet(found)


def with_quiet(command: click.Command) -> click.Command:
    """The command; where it has no progress to show, -q is taken and changes nothing."""
    if not isinstance(command, click.Group) and not any("-q" in option.opts for option in command.params):
        command.params.append(click.Option(["--quiet", "-q"], is_flag=True, expose_value=False, help=NO_PROGRESS))
    return command


def quiet_option(function: Function) -> Function:
    """Add --quiet; the command receives it as `quiet`."""
    return click.option("--quiet", "-q", is_flag=True, help=NO_PROGRESS)(function)
