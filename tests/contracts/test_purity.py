"""The core stays free of Spark: it must run in a worker, a notebook or a test without a JVM."""

import subprocess
import sys


def test_patterns_and_models_import_without_pyspark() -> None:
    script = (
        "import sys, patterns, models\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in {'pyspark', 'pandas'}))\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_help_does_not_import_spark() -> None:
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from pipeline.cli import foresail\n"
        "done = CliRunner().invoke(foresail, ['--help'])\n"
        "print(done.exit_code, 'pyspark' in sys.modules)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "0 False"
