"""The library as `import glossa` offers it: what it refuses, and how."""

import pytest

import glossa
from engine.dictionaries.model import Dictionary, Phrase
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from engine.settings import Limits, ReadOptions
from tests.support.planted import LEARNING, Planted
from tests.support.small_project import TINY

CORPUS = glossa.Corpus((glossa.Document("d", "He had gout."),))


@pytest.mark.parametrize("act", [glossa.label, glossa.train, glossa.suggest])
def test_a_match_preset_that_does_not_exist_is_an_error_that_names_the_presets(act):
    with pytest.raises(glossa.InputError) as error:
        act(CORPUS, [], match="nonsense")
    message = '"nonsense" is not a match preset; choose one of strict, adaptive, balanced, loose'
    assert str(error.value) == message


def test_suggest_lists_likely_names_that_the_dictionaries_lack():
    planted = Planted()
    lines = "\n".join(" ".join(tokens) for tokens in planted.sentences).encode()
    corpus = glossa.read_corpus(
        SourceFile("text.txt", lines), ReadOptions(lines_are_documents=True)
    )
    dictionaries = [
        Dictionary(name, tuple(Phrase(word, name) for word in words[:16]))
        for name, words in planted.names.items()
    ]
    table = glossa.suggest(corpus, dictionaries, word_vectors="none", contextual_layer=0)
    assert len(table) and not set(table["phrase"]) & planted.known
    is_name = table["phrase"].isin([word for words in planted.names.values() for word in words])
    assert is_name.head(20).mean() > is_name.tail(20).mean()
    with pytest.raises(glossa.InputError, match="is not a preset"):
        glossa.suggest(corpus, dictionaries, preset="fast")


def test_methods_are_compared_on_hidden_phrases():
    planted = Planted()
    lines = "\n".join(" ".join(tokens) for tokens in planted.sentences).encode()
    corpus = glossa.read_corpus(
        SourceFile("text.txt", lines), ReadOptions(lines_are_documents=True)
    )
    dictionaries = [
        Dictionary(name, tuple(Phrase(word, name) for word in words[:16]))
        for name, words in planted.names.items()
    ]
    tiny = {**TINY, **LEARNING, "epochs": 4}
    table = glossa.compare_on_hidden_phrases(
        corpus, dictionaries, methods=["mpu", "mpn"], share=0.4, **tiny
    )
    assert sorted(table["method"]) == ["mpn", "mpu"]
    assert table["is_recommended"].tolist() == [True, False]
    assert (table["phrases"] >= 10).all() and table["words"].nunique() == 1
    assert table["epochs"].between(1, 6).all()
    with pytest.raises(glossa.InputError, match="too few to hide"):
        glossa.compare_on_hidden_phrases(corpus, dictionaries, share=0.1)


def test_limits_can_be_lifted(tmp_path):
    path = tmp_path / "Disease.txt"
    path.write_text("gout\nrash\n")
    tight = Limits(tokens=1, phrases=1)
    for read in (glossa.read_corpus, glossa.read_dictionaries):
        with pytest.raises(glossa.InputError, match="holds more than 1"):
            read(path, limits=tight)
        assert read(path, limits=None)


def test_next_steps_of_a_project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    project = create_project("Trial")
    by_project, by_id = glossa.next_steps(project), glossa.next_steps(project.id)
    assert by_project == by_id
    assert [step.title for step in by_id if step.state == "next"] == ["Add text"]


def test_a_folder_stands_for_the_dictionaries_in_it(tmp_path):
    (tmp_path / "Disease.txt").write_text("gout")
    (tmp_path / "Drug.csv").write_text("term,label\nzinc,Drug\n")
    (tmp_path / "LICENSE").write_text("x")
    first, second = glossa.read_dictionaries(str(tmp_path))
    assert (first.name, second.name) == ("Disease.txt", "Drug.csv")
    assert first.notes == (f'"LICENSE" in {tmp_path} left out: no dictionary',)
    given = [SourceFile("Sign.txt", b"rash"), tmp_path]
    names = [dictionary.name for dictionary in glossa.read_dictionaries(given)]
    assert names == ["Sign.txt", "Disease.txt", "Drug.csv"]


def test_files_can_be_read_as_never_an_entity():
    file = SourceFile("a.csv", b"term,label\ngout,Disease\n")
    corpus = glossa.read_corpus(SourceFile("t.txt", b"He had gout."))
    disease, never = glossa.read_dictionaries(file), glossa.read_dictionaries(file, never=True)
    assert len(glossa.label(corpus, disease).kept) == 1
    labels = glossa.label(corpus, [*disease, *never])
    assert len(labels.kept) == 0 and labels.known_negatives.sum() == 1


def test_phrases_and_abbreviations_are_muted():
    corpus = glossa.read_corpus(
        SourceFile("t.txt", b"Acute renal failure (ARF) and gout. ARF came back. Gout did not.")
    )
    dictionaries = glossa.read_dictionaries(
        SourceFile("Disease.txt", b"acute renal failure\ngout\n")
    )

    adaptation = glossa.label(corpus, dictionaries).adaptation
    assert [(a.short, a.long) for a in adaptation.abbreviations] == [("ARF", "Acute renal failure")]
    muted = glossa.mute(dictionaries, ["ARF", "Gout"])
    labels = glossa.label(corpus, muted)
    surfaces = [
        corpus.documents[0].text[entity.start : entity.end]
        for entity in glossa.labeled(corpus, labels).entities["t"]
    ]
    assert surfaces == ["Acute renal failure"]
    assert [a.is_muted for a in labels.adaptation.abbreviations] == [True]
    assert glossa.mute(dictionaries, "gout")[0].muted == {("gout", "Disease")}
    message = '^"heart attack" is in none of the dictionaries$'
    with pytest.raises(glossa.InputError, match=message):
        glossa.mute(dictionaries, ["gout", "heart attack"])


def test_opinions_of_others_are_kept_listed_and_removed():
    project = create_project("Mine")
    project.add_text([SourceFile("t.jsonl", b'{"id": "a", "text": "He had gout."}')])
    file = SourceFile("p.csv", b"doc_id,start,end,label\na,7,11,Disease\n")
    assert glossa.add_opinion(project.id, "Anna", file) == []
    assert [(o.name, o.entities) for o in glossa.opinions(project)] == [("Anna", 1)]
    glossa.remove_opinion(project, "Anna")
    assert glossa.opinions(project.id) == []


GERMAN = "Er nahm z.B. Aspirin bzw. ca. 5 mg davon und das Haus war weit weg. " * 8


def test_the_language_is_detected_or_given():
    source = SourceFile("text.txt", GERMAN.encode())

    def count(*arguments, **options):
        return len(list(glossa.read_corpus(source, *arguments, **options).sentences))

    assert count() == count(language="de") == 8
    assert count(language="en") == count(ReadOptions(language="en")) > 8
    with pytest.raises(glossa.InputError, match=r'^"xx" is not a language; choose one of en, de'):
        count(language="xx")


def test_everyday_words_are_those_of_the_language():
    corpus = glossa.read_corpus(SourceFile("text.txt", GERMAN.encode()))
    listed = [Dictionary("D", (Phrase("aspirin", "D"), Phrase("haus", "D"), Phrase("weit", "D")))]

    def everyday(**options):
        found = glossa.health(corpus, listed, "balanced", **options)
        kinds = ("everyday word", "stop word")
        return {entry.name for entry in found.entries if entry.kind in kinds}

    assert "“aspirin”" not in everyday() and "“weit”" in everyday()
    assert everyday(language="de") == everyday()
    assert everyday(language="en") == set()
    for act in (glossa.health, glossa.train, glossa.suggest):
        with pytest.raises(glossa.InputError, match=r'^"xx" is not a language'):
            act(corpus, listed, language="xx")
