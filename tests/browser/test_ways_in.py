"""What a user knows beside plain lists: patterns, what is never an entity, folders, a language."""

import re
import zipfile

import pytest
from playwright.sync_api import expect

from engine.dictionaries import NEVER
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from tests.browser.steps import (
    choose,
    choose_row,
    figure,
    follow,
    main,
    open_tab,
    press,
    see_page,
    settle,
    switch,
    upload,
)

pytestmark = pytest.mark.browser

ENGLISH = "She took aspirin for a cold. IL-6 and IL-10 were high; a common cold followed."
GERMAN = "Er nahm z.B. Aspirin bzw. ca. 5 mg davon. Dann ging er nicht in das Haus. " * 6


@pytest.fixture(scope="module")
def project(server):
    made = create_project("Ways in")
    made.add_text([SourceFile("note.txt", ENGLISH.encode())])
    made.add_dictionaries([SourceFile("Chemical.txt", b"aspirin\n")])
    return made


@pytest.fixture(scope="module")
def page(visitor, project):
    return visitor(f"dictionaries?project={project.id}")


@pytest.fixture(params=[1440, 900])
def width(request, page):
    """Every view is looked at in a wide and in a narrow window."""
    yield request.param
    page.set_viewport_size({"width": 1440, "height": 1200})


def fits(page, width):
    """Look whether nothing is wider than the window."""
    page.set_viewport_size({"width": width, "height": 1200})
    settle(page)
    return page.evaluate("document.documentElement.scrollWidth") <= width


def see_saved(page, what):
    press(page, "Save to the project")
    expect(page.get_by_text(re.compile(rf"Saved .*{what}, as version \d+\."))).to_be_visible()


def types_of(project):
    return {d.name: d.types for d in project.dictionaries()}


def all_types(project):
    return {name for types in types_of(project).values() for name in types}


def test_patterns_are_read_and_one_that_does_not_compile_has_its_sentence(page, project, tmp_path):
    see_page(page, "Dictionaries")
    genes = tmp_path / "Gene.txt"
    genes.write_text("BRCA1\nre:IL-[0-9]+\nre:IL-[0-9\n", encoding="utf-8")
    upload(page, "Add dictionaries", genes)
    fault = main(page).get_by_text(re.compile(r"line 3.*does not compile"))
    expect(fault).to_be_visible()
    assert fits(page, 900) and fits(page, 1440)
    see_saved(page, "Gene.txt with 2 phrases")
    follow(page, "Distant labels")
    expect(main(page).locator("mark.gl-mark", has_text="IL-10").first).to_be_visible()


def test_a_pattern_that_takes_too_long_is_named_and_the_others_match(page, project, tmp_path):
    project.add_text([SourceFile("long.txt", b"a" * 60)])
    follow(page, "Dictionaries")
    slow = tmp_path / "Code.txt"
    slow.write_text("re:IL-[0-9]\nre:(?:a|aa)+(?:b|c)\n", encoding="utf-8")
    upload(page, "Add dictionaries", slow)
    see_saved(page, "Code.txt with 2 phrases")
    fault = main(page).get_by_text(re.compile(r"Code\.txt line 2: the pattern .* takes too long"))
    expect(fault.first).to_be_visible()
    assert fits(page, 900) and fits(page, 1440)
    follow(page, "Distant labels")
    expect(main(page).locator("mark.gl-mark", has_text="IL-6").first).to_be_visible()


def test_an_abbreviation_that_the_text_defines_is_muted(page, project):
    defining = b"Acute renal failure (ARF) came first. ARF went."
    project.add_text([SourceFile("arf.txt", defining)])
    project.add_dictionaries([SourceFile("Kidney.txt", b"acute renal failure\n")])
    follow(page, "Distant labels")
    open_tab(page, "Variants")
    assert fits(page, 900) and fits(page, 1440)
    expect(main(page).get_by_role("button", name="Mute", exact=True)).to_be_disabled()
    choose_row(page, "table_abbreviations")
    press(page, "Mute")
    expect(main(page)).to_contain_text("Muted “ARF”. All figures are updated.")
    expect(main(page).get_by_role("button", name="Unmute", exact=True)).to_be_disabled()
    assert project.dictionary_history()[0].reason == "Muted “ARF”"


def test_a_list_can_be_of_what_is_never_an_entity(page, project, tmp_path):
    follow(page, "Dictionaries")
    listed, never = tmp_path / "Disease.txt", tmp_path / "excluded.txt"
    listed.write_text("cold\ncommon cold\n", encoding="utf-8")
    never.write_text("cold\n", encoding="utf-8")
    upload(page, "Add dictionaries", listed)
    see_saved(page, "Disease.txt with 2 phrases")
    upload(page, "Add dictionaries", never)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    switch(page, "Never an entity")
    assert fits(page, 900) and fits(page, 1440)
    see_saved(page, "excluded.txt with 1 phrase")
    assert types_of(project)["excluded.txt"] == (NEVER,)
    follow(page, "Distant labels")
    marks = main(page).locator("mark.gl-mark")
    expect(marks.filter(has_text="common cold")).to_have_count(1)
    expect(marks.filter(has_text=re.compile("^cold"))).to_have_count(0)


def test_a_zip_stands_for_every_dictionary_in_it(page, project, tmp_path):
    follow(page, "Dictionaries")
    lists = tmp_path / "lists.zip"
    with zipfile.ZipFile(lists, "w") as archive:
        archive.writestr("lists/Drug.txt", "heparin\n")
        archive.writestr("lists/more/Symptom.csv", "term,label\nfever,Symptom\n")
        archive.writestr("lists/README.md", "what this is")
    upload(page, "Add dictionaries", lists)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    expect(main(page)).to_contain_text("README.md")  # the note names what is no dictionary
    see_saved(page, "with 2 phrases")
    assert {"Drug", "Symptom"} <= all_types(project)


def test_a_whole_folder_is_dropped(page, project, tmp_path):
    folder = tmp_path / "folder"
    (folder / "more").mkdir(parents=True)
    (folder / "Protein.txt").write_text("albumin\n", encoding="utf-8")
    (folder / "more" / "Organ.txt").write_text("liver\n", encoding="utf-8")
    (folder / "LICENSE.txt").write_text("free\n", encoding="utf-8")
    switch(page, "Whole folder")
    settle(page)
    uploader = page.get_by_test_id("stFileUploader").filter(has_text="Add dictionaries")
    uploader.locator("input[webkitdirectory]").set_input_files(folder)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    see_saved(page, "with 2 phrases")
    assert {"Protein", "Organ"} <= all_types(project) and "LICENSE" not in all_types(project)


def test_the_language_is_chosen_and_sentences_follow_it(page, project):
    project.add_text([SourceFile("deutsch.txt", GERMAN.encode())])
    project.set_language("en")
    follow(page, "Text")
    before = figure(page, "Sentences").inner_text()
    choose(page, "Language", "German")
    expect(main(page)).to_contain_text("The text is read as German from now on.")
    expect(figure(page, "Sentences")).not_to_have_text(before)
    assert project.language() == "de"


def test_the_menu_of_encoders_says_which_know_the_language(page, width):
    follow(page, "Train")
    expect(main(page)).to_contain_text("General text; English, not German; built in")
    box = main(page).get_by_test_id("stSelectbox").filter(has_text="Transformer")
    box.get_by_role("combobox").click()
    for title in ("RoBERTa (English, not German)", "XLM-RoBERTa (100 languages, with German)"):
        expect(page.get_by_role("option", name=title, exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    assert fits(page, width)


def test_offline_a_download_has_one_sentence_and_the_start_waits(page):
    choose(page, "Transformer", "XLM-RoBERTa (100 languages, with German)")
    expect(main(page)).to_contain_text("about 1,130 MB to download; license MIT")
    press(page, "Download XLM-RoBERTa (about 1,130 MB)")
    sentence = "XLM-RoBERTa cannot be downloaded: Hugging Face does not answer."
    expect(main(page)).to_contain_text(sentence)
    expect(main(page)).to_contain_text("Download XLM-RoBERTa first, or choose MiniLM.")
    expect(main(page).get_by_role("button", name="Start", exact=True)).to_be_disabled()
    assert fits(page, 900) and fits(page, 1440)
