"""What can be wrong with counts, models and their files, said so that the reader knows what to do next."""


class ModelError(Exception):
    """Something in the folder `models` cannot go on; the message says where, what is wrong and what to do."""


class ModelSettingError(ModelError):
    """A setting of a model that has an impossible value."""


class ModelFileError(ModelError):
    """A file of counts or of a model that is cut short, changed, or not one at all."""


class OtherPatternError(ModelError):
    """Counts or a model of another pattern, another version of it, or another alphabet."""


class ModelSizeError(ModelError):
    """A model that would need more contexts or states than a machine should keep."""


class ImpossibleSymbolError(ModelError):
    """An event whose condition bits no symbol of the alphabet has."""


class UnknownModelError(ModelError):
    """A model that the store does not have."""


class BadNameError(ModelError):
    """What should be the name of a pattern or a version, and would lead out of the store."""


class StoreWriteError(ModelError):
    """A store that cannot be written: a full disk, missing rights."""


class StoreBusyError(ModelError):
    """A store that another writer has held for too long."""


class ManifestError(ModelError):
    """A manifest that is not JSON, or not a manifest."""


class LostModelError(ModelError):
    """A model that the manifest names and whose files are gone."""


class PromotionError(ModelError):
    """A promotion that cannot be: nothing to promote, or the champion has changed meanwhile."""


class IntervalError(ModelError):
    """Counts of an interval that overlaps another one: its events would count twice."""
