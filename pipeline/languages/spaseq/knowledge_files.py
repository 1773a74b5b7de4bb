"""Files of background knowledge as texts: what an entry names, relative to where it stands."""

from pathlib import Path

import pyarrow as pa

from foresail.patterns.spaseq.entry import SpaseqEntry
from foresail.patterns.spaseq.knowledge import KnowledgeText, RdfSyntax
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.files import PACKINGS

SYNTAXES: dict[str, RdfSyntax] = {
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".nt": "n-triples",
    ".trig": "trig",
    ".nq": "n-quads",
}
MOST_BYTES = 1 << 30


def knowledge_of(entry: SpaseqEntry) -> dict[str, list[KnowledgeText]]:
    """By the IRI of a graph the texts of its file."""
    return {iri: [_read(entry.folder / name)] for iri, name in entry.knowledge.items()}


def _read(file: Path) -> KnowledgeText:
    plain = file.with_suffix("") if file.suffix in PACKINGS else file
    syntax = SYNTAXES.get(plain.suffix.lower())
    if syntax is None:
        msg = f"{file}: is no RDF by its name. Known endings: {', '.join(SYNTAXES)}, also .gz."
        raise InputError(msg)
    try:
        with pa.input_stream(str(file), compression=PACKINGS.get(file.suffix)) as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            msg = f"{file}: larger than {MOST_BYTES:,} bytes, which is the limit. Leave out what queries do not ask."
            raise InputError(msg)
        return KnowledgeText(str(file), content.decode("utf-8"), syntax)
    except UnicodeDecodeError as error:
        msg = f"{file}: is not UTF-8 (byte {error.start:,}). Convert it, as with iconv -f latin1 -t utf8."
        raise InputError(msg) from None
    except (OSError, pa.ArrowException) as error:
        msg = f"{file}: cannot be read ({str(error).splitlines()[0][:120]}). Check knowledge: of the entry."
        raise InputError(msg) from None
