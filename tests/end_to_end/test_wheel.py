"""The package as a user has it: a wheel in an environment of its own, far from the source, in a folder of traps."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
ROOMS = ("patterns", "models", "geo", "pipeline")
TRAPS = ("models.py", "patterns.py", "geo.py", "pipeline/__init__.py")
TRAP = "raise SystemExit('a module of the working folder was taken for one of foresail')\n"


def run(command: list[str | Path], **more: Any) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder], cwd=ROOT)
    (made,) = folder.glob("foresail-*.whl")
    return made


def test_a_wheel_holds_one_package_with_all_its_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"foresail"}
    wanted = (
        *("patterns/language/grammar.lark", "patterns/catalog/maritime/anchored.yaml", "models/__init__.py"),
        *("geo/nearby.py", "pipeline/runtime/log4j2.properties", "pipeline/sources/mappings/solent.yaml"),
        *("dags/train_models.py", "dags/foresail_command.py"),
    )
    assert [name for name in wanted if f"foresail/{name}" not in names] == []
    assert [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))] == []


def take_over_compiled_kernels(python: Path) -> None:
    """Set-up has compiled these very sources; numba knows them by size and time. Compiling again shows nothing."""
    found = run([python, "-P", "-c", "import foresail; print(foresail.__path__[0])"])
    package = Path(found.stdout.strip())
    for index in (path for folder in ROOMS for path in (ROOT / folder).rglob("__pycache__/*.nb[ic]")):
        installed = package / index.relative_to(ROOT)
        installed.parent.mkdir(exist_ok=True)
        shutil.copy2(index, installed)
        source = index.parents[1] / f"{index.name.split('.')[0]}.py"
        shutil.copystat(source, installed.parents[1] / source.name)


@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_an_installed_wheel_runs_the_demonstration_among_modules_of_the_same_names(wheel: Path, tmp_path: Path) -> None:
    environment, work = tmp_path / "an environment", tmp_path / "work"
    run([UV, "--no-config", "venv", "--quiet", "--python", sys.executable, environment])
    python = environment / "bin" / "python"
    run([UV, "--no-config", "pip", "install", "--python", python, "--constraint", ROOT / "requirements.lock", wheel])
    take_over_compiled_kernels(python)
    for trap in TRAPS:
        (work / trap).parent.mkdir(parents=True, exist_ok=True)
        (work / trap).write_text(TRAP)
    foresail = environment / "bin" / "foresail"
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FORESAIL"))}
    done = run([foresail, "demo", "--tracks", "6", "--json"], cwd=work, env=variables)
    assert json.loads(done.stdout.splitlines()[-1])["positions"] > 0
    assert (work / "out" / "demo" / "report.html").is_file()
    dags = Path(run([foresail, "airflow", "dags"], cwd=work, env=variables).stdout.strip())
    assert dags.is_relative_to(environment)
    assert (dags / "ingest_feeds.py").is_file()
