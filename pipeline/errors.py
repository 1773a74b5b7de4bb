"""The faults a user can mend. Each message is one line: where, what is wrong, and the way out."""


class PipelineError(Exception):
    """Anything that ends a command with exit code 1 and one readable line."""


class SettingsError(PipelineError):
    """A setting is unknown, of the wrong type, or impossible."""


class JavaError(PipelineError):
    """No Java, or one that Spark cannot use."""


class JarsError(PipelineError):
    """The jars of Spark's companions could not be fetched or stored."""


class SparkStartError(PipelineError):
    """Spark did not start with the settings it was given."""


class InputError(PipelineError):
    """A file or table that was to be read is missing or cannot be understood."""


class OptionError(InputError):
    """The value of an option is not of its form, or not one of those there are: wrong usage, exit code 2."""

    exit_code = 2


class OutputError(PipelineError):
    """A folder that was to be written is not ours, or cannot be written."""


class BrokerError(PipelineError):
    """The development broker cannot be started, reached or stopped."""


class BalanceError(PipelineError):
    """A job's rows in are not its rows out, rejected and duplicates: rows were lost or doubled."""
