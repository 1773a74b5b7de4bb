"""Settings: one typed object, read once at the edge and passed in. No other module reads the environment.

Precedence, from weak to strong: defaults, the YAML file, environment variables, command-line options.
`FORESAIL_SPARK__MASTER=local[4]` sets `spark.master`; two underscores step into a section.
"""

import os
from collections.abc import Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from foresail.bounded_yaml import YamlError, read_yaml, read_yaml_file
from foresail.pipeline.console.settings import ConsoleSettings
from foresail.pipeline.errors import SettingsError
from foresail.pipeline.settings_section import Section

ENVIRONMENT_PREFIX = "FORESAIL_"
FILE_VARIABLE = "FORESAIL_SETTINGS"


def cache_home() -> Path:
    """Where this user's programs keep what they can fetch again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


_sources: ContextVar[tuple[PydanticBaseSettingsSource, ...]] = ContextVar("sources", default=())
"""What `read_settings` is reading from: `Settings()` alone reads nothing, and has the defaults."""


def _as_spark_writes(conf: Any) -> Any:
    """YAML's `true` is Spark's "true"."""
    if not isinstance(conf, dict):
        return conf
    return {key: str(value).lower() if isinstance(value, bool) else value for key, value in conf.items()}


class SparkSettings(Section):
    """How Spark runs."""

    master: str = Field("local[2]", description="Where Spark runs: local[N], local[*], spark://host:7077, yarn, ...")
    driver_memory: str = Field("2g", description="Memory of the driver, which in local mode does all the work.")
    shuffle_partitions: int | None = Field(
        None, ge=1, description="Partitions after a shuffle; as many as the master has cores when not given."
    )
    arrow_batch_rows: int = Field(200_000, ge=1, description="Rows of one Arrow batch that crosses into Python.")
    local_directory: Path | None = Field(
        None,
        description="Where Spark puts what does not fit into memory; the machine's temporary folder when not given.",
    )
    log_level: Literal["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"] = Field(
        "WARN", description="Least level of Spark's own log lines that are shown."
    )
    event_log: Path | None = Field(
        None, description="Folder for Spark's event log, readable after a job; none is written when not given."
    )
    ui: bool = Field(False, description="Serve Spark's web page while a job runs.")
    conf: Annotated[dict[str, str], BeforeValidator(_as_spark_writes)] = Field(
        default_factory=dict, description="Any further Spark configuration, key by key."
    )


class JobSettings(Section):
    """What runs jobs."""

    engine: Literal["spark", "local"] = Field(
        "spark", description="What runs `recognise` and `forecast`: Spark, or plain processes of this machine."
    )


class JarSettings(Section):
    """Where the jars of Spark's companions are kept."""

    directory: Path = Field(
        default_factory=lambda: cache_home() / "foresail" / "jars", description="The cache, filled once, used offline."
    )


class LayerSettings(Section):
    """The layers that positions are compared with."""

    file: Path | None = Field(None, description="The layers file of streams; commands name theirs with --layers.")
    directory: Path = Field(
        default_factory=lambda: cache_home() / "foresail" / "layers",
        description="Layers as checked and indexed; every machine of a cluster must see it at this path.",
    )


class KafkaSettings(Section):
    """The broker that streams come from and go to, and the development broker of `foresail kafka`."""

    bootstrap_servers: str | None = Field(None, description="host:port of the broker; none means no Kafka.")
    port: int = Field(9092, ge=1, le=65535, description="Port of the development broker on the loopback address.")
    directory: Path = Field(
        default_factory=lambda: cache_home() / "foresail" / "kafka", description="Data of the development broker."
    )


class RejectedSettings(Section):
    """When rows that were set aside are worth a warning, or a failed job."""

    warn_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="A job that rejects this share of its rows warns; sound rows that are no positions do not count.",
    )
    fail_share: float | None = Field(
        1.0, gt=0, le=1, description="A job that rejects this share of its rows ends with exit code 1; none: never."
    )


class ForecastSettings(Section):
    """How models are trained and judged; a catalog entry's `forecast:` says what each pattern's model is to be."""

    criterion: Literal["f1", "mcc", "cost"] = Field(
        "f1", description="What `threshold: auto` makes best on validation data."
    )
    false_alarm_cost: float = Field(1.0, gt=0, description="With `criterion: cost`: the price of a false alarm.")
    missed_cost: float = Field(5.0, gt=0, description="With `criterion: cost`: the price of a missed match.")
    max_order: int = Field(
        8, ge=1, le=12, description="The longest context that is counted; any order up to it is free."
    )
    min_context_probability: float = Field(0.00003, gt=0, lt=1, description="Contexts that are rarer are not kept.")
    min_symbol_probability: float = Field(
        0.001, gt=0, lt=1, description="A context is kept for a symbol that follows it at least so probably."
    )
    ratio: float = Field(1.05, gt=1, description="How much a context must change a probability to be kept.")
    smoothing: float = Field(
        0.00001, ge=0, lt=0.1, description="The least probability of any symbol; all together get at most 0.05."
    )
    min_group_matches: int = Field(
        20, ge=1, description="With a model per group: matches that a group needs; others share that of all tracks."
    )
    train_sample_events: int = Field(
        200_000, ge=1000, description="Events, of whole tracks, that trees and thresholds look at; counting sees all."
    )
    evaluate_sample_events: int = Field(
        500_000, ge=1000, description="Events, of whole tracks, that an evaluation looks at."
    )
    tree_events: int = Field(
        60_000, ge=1000, description="Events that trees are grown from; of more, some stand for others like them."
    )
    boosting_iterations: int = Field(
        100, ge=1, description="Trees of the gradient boosting that an evaluation compares with."
    )


class TrainingSettings(Section):
    """How scheduled training chooses and judges models."""

    held_out_share: float = Field(
        0.2, gt=0, lt=1, description="Share of tracks that is never counted: half to choose settings, half to judge."
    )
    held_out_events: int = Field(200_000, ge=1000, description="The most events of them that are kept per interval.")
    judged_intervals: int = Field(3, ge=1, description="Newest intervals that settings and models are compared on.")
    search_budget: int = Field(12, ge=1, description="Settings of a model that are tried.")
    search_seed: int = Field(1, description="Draws the settings that are tried where there are more than the budget.")
    search_orders: tuple[int, ...] = Field((1, 2, 3, 4, 6), description="Orders to try, up to forecasting.max_order.")
    search_smoothings: tuple[float, ...] = Field((0.00001, 0.0001, 0.001), description="Smoothings to try.")
    search_ratios: tuple[float, ...] = Field((1.05, 1.2), description="Ratios to try.")
    half_life_days: float | None = Field(None, gt=0, description="Days after which a count weighs half; none: never.")


class TopicSettings(Section):
    """The topics of the live line."""

    positions: str = Field("positions", description="Events in, keyed by track.")
    matches: str = Field("matches", description="Matches and changes of episodes out.")
    forecasts: str = Field("forecasts", description="Forecasts out.")
    alerts: str = Field("alerts", description="Alerts out; docs/alert.schema.json describes them.")
    rejected: str = Field("rejected", description="Messages that are no positions out, with a reason.")
    composites: str = Field("composites", description="Composite events of rules out, keyed by their key.")
    late: str = Field("late", description="Events that came too late to be put in order out.")
    scores: str = Field("scores", description="Rolling scores of the forecasts out.")
    tracks: str = Field("tracks", description="Where tracks are out, one row a track and micro-batch.")
    operations: str = Field("operations", description="What the console's users did about alerts out.")
    control: str = Field("control", description="Control messages in.")
    replies: str = Field("replies", description="Replies to control messages out.")
    dead_letters: str = Field("dead-letters", description="Control messages that were refused out.")


class AlertSettings(Section):
    """When a match or a forecast becomes an alert, where the catalog does not say."""

    enabled: bool = Field(True, description="Whether alerts are made at all.")
    forecasts: bool = Field(True, description="Whether positive forecasts make alerts too.")
    raise_events: int = Field(2, ge=1, description="Positive forecasts in a row before a forecast becomes an alert.")
    clear_events: int = Field(5, ge=1, description="Events without one before that alert is over: the hysteresis.")
    update_every_s: float = Field(300.0, ge=0, description="Least time between two updates of one alert.")
    clear_ratio: float = Field(
        0.5, ge=0, le=1, description="A forecast below this share of its threshold ends the alert at once."
    )
    close_after_s: float = Field(
        600.0, gt=0, description="Alerts whose end nobody tells are over after so long without a further sign."
    )
    expire_after_s: float = Field(
        21_600.0, gt=0, description="Alerts whose end would be told are over after so long a silence of the track."
    )
    pattern_link: str = Field(
        "docs/catalog/{pattern}.md", description="Where an alert sends its reader; {pattern} stands for the name."
    )


class OnlineSettings(Section):
    """Learning and scoring while the line runs."""

    score: bool = Field(True, description="Compare forecasts with what really happened.")
    score_share: int = Field(4, ge=1, description="Score the forecasts of one track in so many.")
    score_window: int = Field(20_000, ge=100, description="How many forecasts the rolling scores look back on.")
    publish_every_s: float = Field(30.0, gt=0, description="How often scores are published.")
    degraded_drop: float = Field(
        0.15, gt=0, le=1, description="A rolling MCC this far below the best one seen raises `model_degraded`."
    )
    train: bool = Field(False, description="Add to the counts and learn new models while the line runs.")
    train_every_events: int = Field(1_000_000, ge=1, description="Learn anew after so many events.")
    train_every_minutes: float = Field(60.0, gt=0, description="Learn anew after so many minutes.")


class StreamSettings(Section):
    """The live line: what comes in, what is looked for, and where it goes."""

    source: Literal["kafka", "files"] = Field("kafka", description="Where events come from.")
    directory: Path | None = Field(None, description="source: files: the folder in which files of lines arrive.")
    control_directory: Path | None = Field(
        None, description="Control messages as files of JSON lines that arrive here, where there is no Kafka."
    )
    feed: str = Field("kafka_json", description="The feed that the messages are of; see docs/feeds.md.")
    domain: Literal["maritime", "fleet"] = Field("maritime", description="Whose rules clean the messages.")
    patterns: tuple[str, ...] = Field((), description="Catalog files or built-in patterns; all of the domain if none.")
    parameters: dict[str, str] = Field(
        default_factory=dict, description="Values of parameters, as `trawling.max_speed_kn: 8`."
    )
    columns: dict[str, Literal["double", "long", "string", "boolean"]] = Field(
        default_factory=dict, description="Further attributes that the messages carry, and their types."
    )
    attributes: tuple[str, ...] = Field(
        (), description="Attributes to keep at hand although no condition reads them: for catalogs to come."
    )
    derive: bool = Field(True, description="Derive attributes from the position before; off when messages carry them.")
    pairs_within_m: float | None = Field(
        None,
        gt=0,
        description="Make pairs of tracks that are so near, for patterns that read pairs; without it none.",
    )
    models: Path | None = Field(None, description="The model store; none means no forecasts.")
    forecast: tuple[str, ...] = Field((), description="Patterns to forecast; all that have a model if none is named.")
    emission: Literal["all", "positive", "changes"] = Field("changes", description="Which forecasts are told.")
    episodes: Literal["all", "changes"] = Field(
        "all", description="Rows of an episode: opened, updated at each event, ended; or without the updates."
    )
    checkpoint: Path = Field(Path("checkpoint"), description="Where Spark keeps offsets and state; keep it.")
    output: Path | None = Field(None, description="Also write Parquet here: a folder for each kind of row.")
    to_kafka: bool = Field(True, description="Write to the topics.")
    tracks: bool = Field(True, description="Tell where tracks are, for the console: one row a track and micro-batch.")
    console: bool = Field(False, description="Show matches and alerts on standard output.")
    topics: TopicSettings = Field(default_factory=TopicSettings, description="The topics.")
    starting_offsets: Literal["earliest", "latest"] = Field(
        "latest", description="Where a line without a checkpoint begins to read."
    )
    most_events: int = Field(1_000_000, ge=1, description="Events that one micro-batch takes at most.")
    trigger_s: float = Field(0.0, ge=0, description="Least time between micro-batches; 0 starts the next at once.")
    buckets: int | None = Field(None, ge=1, description="Buckets of tracks; as many as cores when not given.")
    out_of_order_s: float = Field(
        10.0, ge=0, description="How long an event waits for earlier ones of its track, in event time."
    )
    rerun_s: float = Field(
        0.0, ge=0, description="A late event up to so long behind its track is read after all; 0 leaves it out."
    )
    same_time: Literal["drop", "keep"] = Field("drop", description="A second event of a track at one instant.")
    rest_after_s: float = Field(900.0, gt=0, description="A track silent for so long is moved out of the way.")
    forget_after_s: float = Field(86_400.0, gt=0, description="A track silent for so long is forgotten.")
    metrics_port: int | None = Field(None, ge=0, le=65535, description="Serve metrics for Prometheus on this port.")
    metrics_host: str = Field(
        "127.0.0.1", description="The address at which metrics are served; 0.0.0.0 for all of this machine."
    )
    alerts: AlertSettings = Field(default_factory=AlertSettings, description="How alerts are made.")
    online: OnlineSettings = Field(default_factory=OnlineSettings, description="Learning and scoring on the way.")


class Settings(BaseSettings):
    """All that can be set."""

    jobs: JobSettings = Field(default_factory=JobSettings, description="What runs jobs.")
    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    spark: SparkSettings = Field(default_factory=SparkSettings, description="How Spark runs.")
    jars: JarSettings = Field(default_factory=JarSettings, description="Where the jars are kept.")
    layers: LayerSettings = Field(default_factory=LayerSettings, description="The layers of enrichment.")
    kafka: KafkaSettings = Field(default_factory=KafkaSettings, description="The Kafka broker.")
    rejected: RejectedSettings = Field(default_factory=RejectedSettings, description="Rows that were set aside.")
    forecasting: ForecastSettings = Field(default_factory=ForecastSettings, description="Models and forecasts.")
    training: TrainingSettings = Field(default_factory=TrainingSettings, description="Scheduled training.")
    stream: StreamSettings = Field(default_factory=StreamSettings, description="The live line.")
    console: ConsoleSettings = Field(default_factory=ConsoleSettings, description="The console of the live line.")

    @classmethod
    def settings_customise_sources(cls, *_: Any, **named: Any) -> tuple[PydanticBaseSettingsSource, ...]:
        """Strongest first; no built-in source but the first, for they pass over keys that they do not know."""
        return (named["init_settings"], *_sources.get())


def read_settings(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings from `file`, overridden by `environment`, overridden by `options` (dotted keys)."""
    environment = os.environ if environment is None else environment
    if file is None and environment.get(FILE_VARIABLE):
        file = Path(environment[FILE_VARIABLE])
    in_file = _read_file(file) if file else {}
    variables: dict[str, Any] = {}
    given: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, text in sorted(environment.items()):
        if name.startswith(ENVIRONMENT_PREFIX) and name != FILE_VARIABLE:
            path = name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")
            _assign(variables, path, _read_variable(name, text), name, in_file)
            origins[".".join(path)] = name
    for key, value in (options or {}).items():
        if value is not None:
            _assign(given, key.split("."), value, f"option {key}", variables, in_file)
            origins[key] = "option"
    reading = _sources.set(tuple(InitSettingsSource(Settings, values) for values in (variables, in_file)))
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(_sentence(error, origins, otherwise=str(file or "settings"))) from None
    finally:
        _sources.reset(reading)


def known_keys(section: type[BaseModel] = Settings, prefix: str = "") -> dict[str, str]:
    """Every dotted key that can be set, with its description."""
    keys: dict[str, str] = {}
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            keys |= known_keys(kind, f"{prefix}{name}.")
        else:
            keys[prefix + name] = field.description or ""
    return keys


def _read_file(file: Path) -> dict[str, Any]:
    try:
        values = read_yaml_file(file)
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}). Name a settings file that exists."
        raise SettingsError(msg) from None
    except YamlError as error:
        raise SettingsError(str(error)) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        msg = f"{file}: holds a {type(values).__name__}, not keys. Write sections such as `spark:` with keys below."
        raise SettingsError(msg)
    return values


def _read_variable(name: str, text: str) -> Any:
    try:
        return read_yaml(text, name)
    except YamlError:
        msg = f"{name}: '{text[:100]}' is not a YAML value. Put it in quotes."
        raise SettingsError(msg) from None


def _assign(values: dict[str, Any], path: list[str], value: Any, where: str, *weaker: dict[str, Any]) -> None:
    """Set what is at `path`, unless `values` or a weaker source has a value where the path has a section."""
    for inner in (values, *weaker):
        for name in path[:-1]:
            inner = inner.get(name, {})  # noqa: PLW2901
            if not isinstance(inner, dict):
                msg = f"{where}: '{name}' is a value, not a section. Keys: {', '.join(known_keys())}."
                raise SettingsError(msg)
    for name in path[:-1]:
        values = values.setdefault(name, {})
    values[path[-1]] = value


def _sentence(error: ValidationError, origins: Mapping[str, str], otherwise: str) -> str:
    """Every fault, each with where it was set; one line in all."""
    faults = []
    for fault in error.errors():
        key = ".".join(map(str, fault["loc"]))
        faults.append(f"{origins.get(key, otherwise)}: {_fault(key, fault['type'], fault['msg'], fault['input'])}")
    return " ".join(faults)


def _fault(key: str, kind: str, message: str, given: Any) -> str:
    keys = known_keys()
    if kind != "extra_forbidden":
        return f"{key}: {message}, got {given!r}. {keys.get(key, '')}".rstrip()
    near = get_close_matches(key, keys, n=1, cutoff=0.5) or get_close_matches(key, [k.rpartition(".")[2] for k in keys])
    if near:
        meant = next(known for known in keys if known == near[0] or known.endswith(f".{near[0]}"))
        return f"unknown key '{key}'. Did you mean '{meant}'?"
    return f"unknown key '{key}'. Known keys: {', '.join(keys)}."
