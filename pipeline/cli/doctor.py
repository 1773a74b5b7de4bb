"""`foresail doctor`: check this machine, one line per part."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from foresail.pipeline.cli.options import output_options, settings_from, settings_options
from foresail.pipeline.progress import open_progress, write_summary


@click.command()
@output_options
@settings_options
def command(
    *, as_json: bool, quiet: bool, settings_file: Path | None, master: str | None, conf: tuple[str, ...]
) -> None:
    """Check Java, packages, Spark, Sedona, Kafka, disk and memory; exit code 1 when something must be mended."""
    settings = settings_from(settings_file, master, conf)
    from foresail.pipeline.runtime.doctor import Finding, examine

    findings: list[Finding] = []
    for finding in examine(settings, open_progress(quiet or as_json)):
        findings.append(finding)
        if not as_json:
            click.echo(f"{finding.check + ':':<17} {'ok, ' if finding.ok else 'FAULT, '}{finding.says}")
    faults = sum(not finding.ok for finding in findings)
    if as_json:
        write_summary({"ok": not faults, "checks": [asdict(finding) for finding in findings]})
    else:
        click.echo("all is well" if not faults else f"{faults} to mend")
    sys.exit(1 if faults else 0)
