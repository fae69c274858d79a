import pytest
from streamlit.testing.v1 import AppTest

from engine import InputError
from ui import state

TEXT = ("notes.txt", b"He had gout.\nLead was found.\nNothing else.\n", "text/plain")
DISEASE = ("Disease.txt", b"gout\n", "text/plain")
CHEMICAL = ("Chemical.txt", b"lead\n", "text/plain")


@pytest.fixture
def page():
    return AppTest.from_file("../../ui/app.py", default_timeout=30)


@pytest.fixture
def own(page):
    page.run()
    page.radio(key="source").set_value("Your own files").run()
    return page


def upload(page, text=TEXT, dictionaries=(DISEASE,), gold=None):
    page.file_uploader(key="text_upload").set_value([text])
    page.file_uploader(key="dictionary_upload").set_value(list(dictionaries))
    if gold:
        page.file_uploader(key="gold_upload").set_value(gold)
    page.run()
    assert not page.exception
    return page


def figures(page):
    return {metric.label: metric.value for metric in page.metric}


def texts(page):
    return "".join(element.value for element in page.html)


def command(page):
    return page.code[-1].value.replace(" \\\n ", "")


def test_page_shows_the_sample_project_at_once(page):
    page.run()
    assert not page.exception and not page.error
    # The figures of `python -m engine label` on the same files.
    assert figures(page) == {
        "Token coverage": "9.0 %",
        "Sentences with a match": "76.9 %",
        "Phrases used": "60.4 %",
        "Conflicts": "9",
        "Precision": "97.0 %",
    }
    assert 'kidney stones<span class="gl-type">Disease</span></mark>' in texts(page)


def test_preset_changes_the_figures_and_the_command(page):
    page.run()
    page.segmented_control(key="match_preset").set_value("strict").run()
    assert not page.exception
    assert figures(page)["Token coverage"] == "7.2 %"
    assert "--match strict" in command(page)


def test_muting_a_phrase_changes_the_figures_and_the_command(page):
    page.run()
    muting = page.multiselect[-1]
    assert "lead" in muting.options
    muting.set_value(["lead", "cold"]).run()
    assert not page.exception
    assert figures(page)["Token coverage"] == "8.8 %"  # 13 + 12 of 17,605 tokens fewer
    assert "--mute cold lead" in command(page)


def test_filters_choose_sentences(page):
    page.run()
    page.segmented_control(key="labels_filter").set_value("With a conflict").run()
    assert not page.exception
    # Nine conflicts, two of them in one sentence.
    assert any("Sentences 1–8 of 8" in caption.value for caption in page.caption)
    assert "lost to" in texts(page)
    page.text_input(key="labels_search").set_value("no such words anywhere").run()
    assert page.info[0].value == "No sentence is like this. Choose other filters."


def test_a_filter_leads_back_to_the_first_page(page):
    page.run()
    page.pagination[0].set_value(3).run()
    assert any("Sentences 51–75 of 793" in caption.value for caption in page.caption)
    page.multiselect(key="labels_types").set_value(["Disease"]).run()
    assert any("Sentences 1–25 of 793" in caption.value for caption in page.caption)


def test_coverage_tab_draws_what_may_be_missing(page):
    page.session_state["labels_tab"] = "Coverage"
    page.run()
    assert not page.exception
    missing = next(table.value for table in page.dataframe if "example" in table.value)
    assert missing["phrase"].tolist()[:2] == ["isotretinoin", "lithium"]


def test_page_says_what_is_missing_when_nothing_is_uploaded(own):
    assert not own.exception
    assert own.info[0].value.startswith("Add a text file and a dictionary in the sidebar.")
    assert not own.metric


def test_uploads_are_labeled(own):
    upload(own, dictionaries=[DISEASE, CHEMICAL])
    assert figures(own)["Phrases used"] == "100.0 %"
    assert figures(own)["Precision"] == "–"
    assert 'gout<span class="gl-type">Disease</span></mark>' in texts(own)
    assert command(own) == (
        "python -m engine label notes.txt --dictionary Disease.txt Chemical.txt --match balanced "
        "--out entities.csv"
    )


def test_lines_can_be_documents(own):
    own.toggle(key="lines_are_documents").set_value(True)
    upload(own)
    assert texts(own).count('class="gl-document"') == 3
    assert "--lines" in command(own)


def test_an_unreadable_text_is_explained_and_the_page_stays(own):
    upload(own, text=("notes.txt", b"%PDF-1.7 ...", "text/plain"))
    assert own.error[0].value.replace("\\", "").startswith("notes.txt is a PDF file.")
    assert own.title[0].value == "Distant labels"
    assert own.file_uploader(key="text_upload")


def test_unreadable_gold_is_explained_and_all_else_stays(own):
    upload(own, gold=("gold.csv", b"\x89PNG....", "text/csv"))
    assert own.error[0].value.replace("\\", "").startswith("gold.csv is a PNG image.")
    assert figures(own)["Precision"] == "–"
    assert figures(own)["Sentences with a match"] == "33.3 %"
    assert "--gold" not in command(own)


def test_gold_gives_precision_and_recall(own):
    gold = b"doc_id,start,end,text,label\nnotes,7,11,gout,Disease\nnotes,13,17,Lead,Chemical\n"
    upload(own, gold=("gold.csv", gold, "text/csv"))
    assert figures(own)["Precision"] == "100.0 %"
    assert "recall 50.0 %" in [caption.value for caption in own.caption]


def test_page_says_so_when_nothing_matches(own):
    upload(own, dictionaries=[("Disease.txt", b"measles\n", "text/plain")])
    assert own.info[0].value.startswith("No phrase is found in this text (0 of 1 phrases in 3 sent")


def test_all_phrases_can_be_muted_and_let_in_again(own):
    upload(own)
    own.multiselect[-1].set_value(["gout"]).run()
    assert not own.exception
    assert figures(own)["Token coverage"] == "0.0 %"
    own.multiselect[-1].set_value([]).run()
    assert not own.exception
    assert figures(own)["Sentences with a match"] == "33.3 %"


def test_markup_in_uploads_is_shown_as_text(own):
    text = b"<script>alert(1)</script> and <img src=x onerror=alert(2)> with gout.\n"
    name = "<img src=x>.txt"
    upload(own, text=(name, text, "text/plain"), dictionaries=[DISEASE])
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in texts(own)
    assert "&lt;img src=x onerror=alert(2)&gt;" in texts(own)
    assert "<script" not in texts(own) and "<img" not in texts(own)
    assert not any("<img" in element.value for element in (*own.markdown, *own.caption))


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (InputError("a_b.txt is empty"), "a\\_b\\.txt is empty\\."),
        (KeyError("x"), "Something went"),
    ],
    ids=["the person's", "ours"],
)
def test_no_traceback_reaches_a_person(page, monkeypatch, error, shown):
    def fail(sources):
        raise error

    monkeypatch.setattr(state, "read_project", fail)
    page.run()
    assert not page.exception
    assert page.error[0].value.startswith(shown)
