"""Make an artificial project of any size: text with names, dictionaries, gold, a finished run."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine import jobs
from engine.files import SourceFile
from engine.jobs import Job
from engine.projects import Project, create_project, writing
from engine.run_folder import PREDICTIONS, Card, write_card, write_predictions
from engine.settings import Settings
from engine.system import now
from engine.text import Entity

TYPES = ("Chemical", "Disease")
RECALL = {"mpn": 0.55, "mpu": 0.7, "conf_mpu": 0.8}  # share of the gold that a method finds
SENTENCE_TOKENS, DOCUMENT_SENTENCES = 20, 10
NAMES_PER_SENTENCE = 2
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "or", "il")]


class Mention(NamedTuple):
    """Where a name is in its document."""

    start: int
    end: int
    entity_type: str


Plain = tuple[str, str, list[Mention]]  # id, text, where names are


class Inputs(NamedTuple):
    """Files for a project, and what they were made from."""

    text: SourceFile
    dictionaries: list[SourceFile]
    gold: SourceFile
    documents: list[Plain]


def make_inputs(tokens: int, phrases: int) -> Inputs:
    """Return about `tokens` tokens of text and `phrases` phrases, always the same ones."""
    draw = random.Random(0)
    known = make_names(draw, phrases)
    unknown = make_names(draw, phrases // 5, ending="um")
    documents = list(make_documents(draw, tokens, [*known, *unknown]))
    lines = "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text, _ in documents)
    dictionaries = [
        SourceFile(f"{type_}.txt", "\n".join(n for n, t in known if t == type_).encode())
        for type_ in TYPES
    ]
    gold = SourceFile("gold.csv", gold_csv(documents).encode())
    return Inputs(SourceFile("large.jsonl", lines.encode()), dictionaries, gold, documents)


def make_large_project(tokens: int, phrases: int) -> Project:
    """Return a project with about `tokens` tokens and `phrases` phrases, always the same one."""
    return project_with(make_inputs(tokens, phrases))


def project_with(inputs: Inputs) -> Project:
    """Return a new project with these files and a finished run."""
    project = create_project("Large")
    project.add_text([inputs.text])
    project.add_dictionaries(inputs.dictionaries)
    project.set_gold([inputs.gold])
    finish_run(project, inputs.documents)
    return project


def make_names(draw: random.Random, count: int, ending: str = "") -> list[tuple[str, str]]:
    """Return `count` different names of one to three words, each with its type."""
    names: dict[str, str] = {}
    while len(names) < count:
        words = (make_word(draw, 3) for _ in range(draw.choice((1, 1, 2, 2, 3))))
        names.setdefault(" ".join(words) + ending, draw.choice(TYPES))
    return list(names.items())


def make_word(draw: random.Random, syllables: int) -> str:
    return "".join(draw.choices(SYLLABLES, k=syllables))


def make_documents(
    draw: random.Random, tokens: int, names: Sequence[tuple[str, str]]
) -> Iterator[Plain]:
    """Yield documents of everyday words and names; some names are far more frequent than others."""
    everyday = [make_word(draw, 2) for _ in range(5_000)]
    for number in range(tokens // (SENTENCE_TOKENS * DOCUMENT_SENTENCES)):
        text, mentions = "", []
        for _ in range(DOCUMENT_SENTENCES):
            words = draw.choices(everyday, k=SENTENCE_TOKENS - 2 * NAMES_PER_SENTENCE)
            for k in range(NAMES_PER_SENTENCE):
                text += " ".join(words[k * 8 : k * 8 + 8]) + " "
                name, entity_type = names[int(len(names) * draw.random() ** 3)]
                mentions.append(Mention(len(text), len(text) + len(name), entity_type))
                text += name + " "
            text = text.rstrip() + ".\n"
        yield f"document-{number:06}", text, mentions


def gold_csv(documents: Sequence[Plain]) -> str:
    rows = ["doc_id,start,end,text,label"]
    for id, text, mentions in documents:
        rows += [
            f"{id},{m.start},{m.end},{text[m.start : m.end]},{m.entity_type}" for m in mentions
        ]
    return "\n".join(rows) + "\n"


def plain_gold(project: Project) -> list[Plain]:
    """Return the project's documents with the names in its gold."""
    corpus = project.corpus()
    gold = project.gold(corpus)
    assert gold is not None
    return [
        (
            document.id,
            document.text,
            [Mention(e.start, e.end, e.entity_type) for e in gold.entities.get(document.id, ())],
        )
        for document in corpus.documents
    ]


def finish_run(project: Project, documents: Sequence[Plain]) -> Job:
    """Write the predictions of three methods, as a training would, and mark it as done."""
    draw = random.Random(1)
    job = jobs.create(project, jobs.TrainRequest(methods=tuple(RECALL), preset="quick"))
    for method, share in RECALL.items():
        folder = jobs.run_folder(job, method)
        predicted = {id: predict(draw, mentions, share, method) for id, _, mentions in documents}
        write_predictions(folder / PREDICTIONS, predicted)
        write_card(folder, card(folder.name, method))
    with writing(project.folder) as db:
        db.execute(
            "UPDATE jobs SET state = 'done', stage = 'done', share = 1, started_at = ?,"
            " finished_at = ? WHERE id = ?",
            (now(), now(), job.id),
        )
    return jobs.get_job(project, job.id)


def card(run_id: str, method: str) -> Card:
    """Return a card of a run that trained for no epoch."""
    types = ("Disease",)
    return Card(
        run_id, now(), Settings(method=method), types, (0.9, 0.1), history=(),
        confidence_histories=(), data_fingerprint="", dictionary_fingerprint="", versions={},
        taggers=1, odds=1.0, scores={},
    )  # fmt: skip


def predict(
    draw: random.Random, mentions: Sequence[Mention], share: float, method: str
) -> tuple[Entity, ...]:
    """Return a share of the mentions as predictions of a method, a few with another type."""
    entities = []
    for mention in mentions:
        if draw.random() < share:
            entity_type = mention.entity_type if draw.random() < 0.95 else draw.choice(TYPES)
            score = round(0.5 + draw.random() / 2, 4)
            entities.append(Entity(mention.start, mention.end, entity_type, score, method))
    return tuple(entities)
