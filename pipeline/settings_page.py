"""The page docs/settings.md, made from the settings themselves so that it cannot fall behind them."""

import sys
from pathlib import Path

from pydantic.fields import FieldInfo

from foresail.pipeline.settings import ENVIRONMENT_PREFIX, FILE_VARIABLE, Settings, cache_home
from foresail.pipeline.settings_section import Section

HEAD = f"""# Settings

Made by `make docs` from `pipeline/settings.py`; change the descriptions there.

Every key can be set in a YAML file (named by `--settings` or by `{FILE_VARIABLE}`), by an environment variable, or for
some by an option of a command. A variable is stronger than the file, an option stronger than a variable.
Two underscores in a variable step into a section: `{ENVIRONMENT_PREFIX}SPARK__MASTER` is `spark.master`.
Unknown keys are errors.

```yaml
spark:
  master: local[4]
  conf:
    spark.sql.files.maxPartitionBytes: 64m
kafka:
  bootstrap_servers: 127.0.0.1:9092
```
"""


def settings_page() -> str:
    """The whole page."""
    return HEAD + "".join(_section(name, field) for name, field in Settings.model_fields.items())


def _section(name: str, field: FieldInfo) -> str:
    kind = field.annotation
    assert isinstance(kind, type), "a section is a class"
    assert issubclass(kind, Section), "settings are sections of keys"
    inner_sections = {key: inner for key, inner in kind.model_fields.items() if _is_section(inner)}
    rows = "".join(_row(name, key, inner) for key, inner in kind.model_fields.items() if key not in inner_sections)
    table = f"\n## {name}\n\n{field.description}\n\n| key | variable | default | meaning |\n|---|---|---|---|\n{rows}"
    return table + "".join(_section(f"{name}.{key}", inner) for key, inner in inner_sections.items())


def _is_section(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, Section)


def _row(section: str, key: str, field: FieldInfo) -> str:
    variable = f"{ENVIRONMENT_PREFIX}{section}__{key}".replace(".", "__").upper()
    return f"| `{section}.{key}` | `{variable}` | {_default(field)} | {field.description} |\n"


def _default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    if default is None or default in ({}, ()):
        return "none"
    # the page must not depend on whose machine made it
    return f"`{default}`".replace(str(cache_home()), "~/.cache")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(settings_page(), encoding="utf-8")
