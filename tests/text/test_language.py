import threading

import pytest

from engine.dictionaries.audit import is_common_word, is_stop_word, phrase_flags
from engine.files.sources import SourceFile
from engine.formats.reading import read_corpus
from engine.formats.streaming import stream_sources
from engine.settings import LANGUAGES, ReadOptions
from engine.text.language import current_language, detect_language, in_language, use_language
from engine.text.tokenization import make_document
from tests.support.languages import GERMAN, TEXTS


@pytest.mark.parametrize("code", LANGUAGES)
def test_language_is_told_by_its_frequent_words(code):
    assert detect_language([TEXTS[code]] * 4) == code


@pytest.mark.parametrize(
    "texts", [[], ["Kurz und gut."], ["アスピリンを飲んだ。"] * 50, ["zinc"] * 99]
)
def test_english_is_the_fallback(texts):
    assert detect_language(texts) == "en"


def test_sentences_and_stop_words_follow_the_language_in_use():
    assert len(make_document("d", GERMAN).sentences) == 3
    assert not is_stop_word("nicht")
    with in_language("de"):
        assert len(make_document("d", GERMAN).sentences) == 2
        assert is_stop_word("nicht") and not is_stop_word("the")
        assert is_common_word("nicht") and not is_common_word("lead")
        assert phrase_flags("nicht") == ("stop word",)
    assert current_language() == "en" and is_stop_word("the")


def test_unknown_language_is_read_as_english():
    with in_language("de"), in_language("xx"):
        assert current_language() == "en"


def test_each_thread_has_its_language():
    seen = []
    with in_language("de"):
        thread = threading.Thread(target=lambda: seen.append(current_language()))
        thread.start()
        thread.join()
    assert seen == ["en"]
    use_language(None)


@pytest.mark.parametrize("name", ["t.txt", "t.jsonl", "t.json"])
def test_files_are_read_in_the_language_that_is_asked_for(name):
    text = GERMAN if name == "t.txt" else '{"id": "a", "text": "%s"}' % GERMAN  # noqa: UP031
    file = SourceFile(name, (f"[{text}]" if name == "t.json" else text).encode())
    for language, count in (("de", 2), (None, 3)):
        options = ReadOptions(language=language)
        with in_language("fr"):  # what is in use does not count
            assert len(read_corpus([file], options).documents[0].sentences) == count
            [document] = stream_sources([file], options)
        assert len(document.sentences) == count


def test_unknown_language_is_refused():
    with pytest.raises(ValueError, match="language must be one of en, de"):
        ReadOptions(language="xx")
