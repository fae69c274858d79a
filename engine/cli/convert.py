"""`convert`: rewrite a file in another format."""

import argparse
from dataclasses import replace

from engine.cli.terminal import note_all, read_files, typed_command, write_file
from engine.formats import align, writable_format
from engine.run_folder import new_card, text_facts
from engine.text import InputError


def convert_command(options: argparse.Namespace) -> None:
    """Rewrite a file in another format."""
    writable_format(options.out, options.format)
    corpus = read_files([options.file], options, format=options.source_format)
    if options.text:
        documents = read_files(options.text, options).documents
        aligned = align(documents, corpus)
        note_all(f"{options.file}: {note}" for note in aligned.notes)
        corpus = replace(corpus, documents=documents, entities=aligned.entities)
    if not corpus.documents:
        raise InputError(
            f"{options.file} holds entities but not the texts they are in; give those with --text"
        )
    card = new_card(
        "a file in another format", command=typed_command(options), text=text_facts(corpus)
    )
    write_file(corpus, options, card)
