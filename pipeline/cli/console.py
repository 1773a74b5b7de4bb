"""`foresail console`: the live map, alerts and forecasts of a line, as a web page."""

from pathlib import Path

import click

from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.cli.options import settings_from


@click.command()
@click.option("--settings", "settings_file", type=click.Path(path_type=Path), help="The settings file of the line.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8400, show_default=True, help="0 chooses a free one.")
@click.option(
    "--hash-password", is_flag=True, help="Ask for a password and print its hash for console.users; no server."
)
@quiet_option
def command(settings_file: Path | None, host: str, port: int, hash_password: bool, quiet: bool) -> None:
    """Show what a line tells as a page: where tracks are, alerts, forecasts, and what was done about them."""
    if hash_password:
        from foresail.pipeline.console.access import hashed

        click.echo(hashed(click.prompt("password", hide_input=True, confirmation_prompt=True)))
        return
    from foresail.pipeline.console.serving import Server

    server = Server(settings_from(settings_file), host, port)
    if server.is_open:
        click.echo(
            "foresail: WARNING: others can reach this port, and it is not encrypted: set console.tls_*", err=True
        )
    click.echo(server.address)
    if not quiet:
        click.echo("open this address in a browser; it can be used once. Ctrl-C ends the console.", err=True)
    server.run()
