"""The core stays free of Spark: it must run in a worker, a notebook or a test without a JVM."""

import subprocess
import sys

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in {folders!r}:
    folder = importlib.import_module(name)
    for module in pkgutil.walk_packages(folder.__path__, f"{{name}}."):
        importlib.import_module(module.name)
print(len(sys.modules), sorted({{name.split(".")[0] for name in sys.modules}} & {forbidden!r}))
"""
SPARK = {"pyspark", "pandas", "sedona", "kafka", "geopandas"}


def forbidden_of(folders: list[str], forbidden: set[str]) -> str:
    """Which of the forbidden packages are loaded when every module of the folders is."""
    script = IMPORT_ALL.format(folders=folders, forbidden=forbidden)
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return said.stdout.split(maxsplit=1)[1].strip()


def test_every_module_of_patterns_and_models_imports_without_spark_and_pandas() -> None:
    assert forbidden_of(["foresail.patterns"], SPARK | {"sklearn"}) == "[]"
    assert forbidden_of(["foresail.patterns", "foresail.models"], SPARK) == "[]"


def test_the_check_would_notice() -> None:
    assert forbidden_of(["foresail.geo.measures"], {"numpy"}) == "['numpy']"


def test_help_does_not_import_spark() -> None:
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from foresail.pipeline.cli import foresail\n"
        "done = CliRunner().invoke(foresail, ['--help'])\n"
        "print(done.exit_code, 'pyspark' in sys.modules)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "0 False"


def test_a_job_without_layers_and_pages_loads_neither_geometry_nor_models() -> None:
    """They take as long to load as all the rest, in the driver and in every worker."""
    script = (
        "import sys\n"
        "import foresail.pipeline.jobs.recognise, foresail.pipeline.jobs.recognition_outputs\n"
        "import foresail.pipeline.batch.workers, foresail.pipeline.stages.recognise\n"
        "print(sorted({'geopandas', 'shapely', 'scipy.sparse', 'sklearn', 'matplotlib'} & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


FIND = """
import sys, time
began = time.perf_counter()
import foresail as fs
imported = time.perf_counter() - began
import pandas as pd
times = pd.date_range("2024-01-01", periods=4, freq="10min", tz="UTC")
events = pd.DataFrame({"track": "a", "time": times, "speed_kn": [9, 0.1, 0.2, 0.3], "lon": 11.0, "lat": 55.0})
found = fs.find(events, fs.pattern("stop", "slow{3,}", where={"slow": "speed_kn < 1"}))
spark = sorted(name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j", "sedona", "kafka"))
print(len(found), spark, imported < 0.3 or imported)
"""


def test_finding_in_a_frame_imports_no_spark_and_importing_the_package_is_quick() -> None:
    said = subprocess.run([sys.executable, "-c", FIND], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "1 [] True"
