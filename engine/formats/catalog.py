"""Every format by its name on the command line."""

from engine.formats import (
    benchmark,
    brat,
    conll,
    docbin,
    doccano,
    entities_csv,
    json_text,
    label_studio,
    parquet,
    plain_text,
    prodigy,
    pubtator,
    spacy_jsonl,
    text_table,
    tokens_csv,
)
from engine.formats.contract import Format

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        entities_csv,
        tokens_csv,
        conll,
        benchmark,
        json_text,
        prodigy,
        doccano,
        label_studio,
        spacy_jsonl,
        docbin,
        parquet,
        brat,
        pubtator,
        plain_text,
        text_table,
    )
}
