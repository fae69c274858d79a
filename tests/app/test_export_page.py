import csv
import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from engine import jobs
from engine.cli.command_line import main
from engine.dictionaries.model import Phrase
from engine.export.choice import DICTIONARY, GOLD, REVIEWED, RUN, ExportChoice
from engine.files.sources import SourceFile
from engine.formats.catalog import FORMATS
from engine.formats.contract import WriteOptions
from engine.projects.workspace import create_project, import_project_zip
from engine.text import InputError
from tests.support.finished_runs import TEXT, end_job, finish_run, make_project, record_f1
from tests.support.pages import captions, checked, open_page
from ui.state import findings
from ui.views.export import downloads, more
from ui.views.export import state as export

GOLD_CSV = b"doc_id,start,end,text,label\nnotes,7,11,gout,Disease\n"
WRITABLE = [name for name, format in FORMATS.items() if format.write]


@pytest.fixture
def project():
    made = make_project()
    made.set_gold([SourceFile("gold.csv", GOLD_CSV)])
    finish_run(made)
    return made


@pytest.fixture
def run(project):
    return jobs.list_jobs(project, "train")[0].id


def show(project):
    return checked(open_page("export", project.id).run())


def rows(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def surfaces(data):
    return [row["text"] for row in rows(data)]


def decide(project, surface, verdict):
    document = project.corpus().documents[0]
    start = document.text.index(surface)
    end = start + len(surface)
    place = (document.id, start, end, "Disease")
    project.add_decision("review", *place, verdict, surface=surface)


def test_page_says_what_is_missing():
    page = show(create_project("Empty"))
    assert any("nothing to export yet" in element.value for element in page.html)
    assert not page.radio


def test_page_shows_the_beginning_of_the_file_and_verifies_it(project):
    page = show(project)
    lines = page.code[0].value.splitlines()
    assert lines[0].startswith("doc_id,sent_id,entity_id,start,end,text,label,score")
    assert lines[1].startswith("notes,0,notes:7-11:Disease,7,11,gout,Disease,0.9900,conf_mpu")
    assert "3 entities in 1 document. The first 10 lines:" in captions(page)
    assert ":material/verified: 3 entities, all offsets verified" in captions(page)


@pytest.mark.parametrize("format", WRITABLE)
def test_every_format_is_previewed_and_verified(project, format):
    page = show(project)
    page = checked(page.radio(key="export_format").set_value(format).run())
    assert 1 < len(page.code[0].value.splitlines()) <= 10 or format in ("doccano", "spacy", "jsonl",
        "prodigy", "label_studio", "docbin", "parquet")  # fmt: skip
    assert any(caption.startswith(":material/verified:") for caption in captions(page))
    assert f"--format {format}" in page.code[-1].value


def test_filters_choose_types_scores_and_documents(project):
    page = show(project)
    page = checked(page.multiselect(key="export_types_run").set_value(["Disease"]).run())
    assert "2 entities in 1 document. The first 10 lines:" in captions(page)
    page = checked(page.slider(key="export_least_score").set_value(0.9).run())
    assert "1 entity in 1 document. The first 10 lines:" in captions(page)
    assert "--types Disease --least-score 0.9 --out" in page.code[-1].value
    page = checked(page.text_input(key="export_words").set_value("other").run())
    assert "0 entities in 0 documents. The first 10 lines:" in captions(page)


def test_options_change_the_file(project):
    page = show(project)
    page = checked(page.toggle(key="export_essential").set_value(True).run())
    assert page.code[0].value.startswith("doc_id,sent_id,start,end,text,label,score\n")
    page = checked(page.toggle(key="export_excel").set_value(True).run())
    assert "--essential --excel" in page.code[-1].value


def test_each_kind_of_entities_is_offered_only_if_there_are_any(project):
    bare = create_project("Text only")
    bare.add_text([SourceFile("notes.txt", TEXT)])
    assert export.available(bare) == []
    assert export.available(project) == [RUN, DICTIONARY, GOLD]
    decide(project, "gout", "accepted")
    assert export.available(project) == [RUN, REVIEWED, DICTIONARY, GOLD]
    page = show(project)
    assert page.segmented_control[0].options == [
        "Found by a method",
        "Reviewed",
        "Dictionary labels",
        "Gold",
    ]


def test_files_contain_what_was_chosen(project, run):
    of_run = export.whole_file(project, ExportChoice(RUN, run, "conf_mpu"))
    assert surfaces(of_run) == ["gout", "chronic kidney disease", "Nothing"]
    assert [row["in_dictionary"] for row in rows(of_run)] == ["true", "false", "false"]
    assert surfaces(export.whole_file(project, ExportChoice(DICTIONARY))) == ["gout", "Lead"]
    assert surfaces(export.whole_file(project, ExportChoice(GOLD))) == ["gout"]


def test_decisions_come_before_methods_and_methods_before_dictionaries(project, run):
    choice = ExportChoice(REVIEWED, run, "conf_mpu")
    decide(project, "kidney disease", "accepted")
    decide(project, "gout", "rejected")
    data = export.whole_file(project, choice)
    # "chronic kidney disease" gives way to what was accepted; gout is out, whoever finds it.
    assert surfaces(data) == ["kidney disease", "Lead", "Nothing"]
    assert [row["method"] for row in rows(data)] == ["review", "dictionary", "conf_mpu"]
    decide(project, "gout", "accepted")
    assert surfaces(export.whole_file(project, choice))[0] == "gout"


def test_a_large_file_is_verified_when_it_is_downloaded(project, run, monkeypatch):
    monkeypatch.setattr(export, "_MOST_ENTITIES", 1)
    page = show(project)
    assert any("when you download it" in caption for caption in captions(page))
    assert "3 entities in 1 document. The first 10 lines:" in captions(page)
    data = export.whole_file(project, ExportChoice(RUN, run, "conf_mpu"))
    assert len(rows(data)) == 3


def shorten_text(project):
    """Replace the text by its beginning, so that later entities lose their text."""
    project.remove_text(project.text_files()[0].id)
    project.add_text([SourceFile("notes.txt", b"He had gout.\n")])


def test_entities_outside_a_changed_text_are_left_out_and_counted(project, run):
    assert not show(project).info
    shorten_text(project)
    data = export.whole_file(project, ExportChoice(RUN, run, "conf_mpu"))
    assert surfaces(data) == ["gout"]
    told = "2 entities left out: their text is no longer in the project."
    page = show(project)
    assert [info.value for info in page.info] == [told]
    decide(project, "gout", "accepted")
    page = checked(show(project).segmented_control[0].set_value(REVIEWED).run())
    assert [info.value for info in page.info] == [told]
    page = checked(page.segmented_control[0].set_value(DICTIONARY).run())
    assert not page.info


def test_default_method_is_the_same_in_the_app_and_at_the_command_line(
    project, run, tmp_path, capsys
):
    def defaults():
        page = show(project)
        of_page = page.segmented_control(key=f"export_method_{run}").value
        assert main(["export", "--project", project.id, "--out", str(tmp_path / "e.csv")]) == 0
        return of_page, re.search(r"Run \S+, (\w+)\.", capsys.readouterr().out)[1]

    assert defaults() == ("conf_mpu", "conf_mpu")
    record_f1(project, run, {"dictionary": 0.9, "conf_mpu": 0.4, "mpu": 0.6})
    assert defaults() == ("mpu", "mpu")


def test_default_run_is_the_latest_that_is_done(project, run, tmp_path, capsys):
    unfinished = finish_run(project)
    end_job(project, unfinished, "cancelled")
    assert show(project).selectbox(key="export_run").value == run
    assert main(["export", "--project", project.id, "--out", str(tmp_path / "e.csv")]) == 0
    assert f"Run {run}, conf_mpu." in capsys.readouterr().out


def test_all_formats_come_in_one_archive(project, run):
    archive = zipfile.ZipFile(
        io.BytesIO(export.all_formats(project, ExportChoice(RUN, run, "mpu"), "glossa export"))
    )
    assert {Path(name).parent.name for name in archive.namelist()} == set(WRITABLE)
    assert surfaces(archive.read(f"entities/entities-mpu-{run}.csv")) == ["gout", "kidney disease"]
    assert '<Label value="Disease"' in archive.read("label_studio/labeling-config.xml").decode()


def test_summaries_can_be_downloaded(project, run):
    job = jobs.get_job(project, run)
    counted = rows(downloads.surfaces(project, ExportChoice(RUN, run, "conf_mpu")))
    assert (counted[0]["text_norm"], counted[0]["in_dictionary"]) == (
        "chronic kidney disease",
        "false",
    )
    compared = rows(downloads.comparison(project, job, WriteOptions()))
    assert [row["text"] for row in compared] == [
        "gout",
        "chronic kidney disease",
        "kidney disease",
        "Lead",
        "Nothing",
    ]
    assert compared[0]["label_gold"] == compared[0]["label_dictionary"] == "Disease"


def test_dictionaries_can_be_downloaded(project):
    assert [row["term"] for row in rows(downloads.phrases(project, WriteOptions()))] == [
        "gout",
        "lead",
    ]
    patterns = [json.loads(line) for line in downloads.patterns(project).splitlines()]
    assert patterns[0] == {"label": "Disease", "pattern": "gout"}


def test_the_project_can_be_downloaded_and_opened_again(project):
    again = import_project_zip(downloads.project_zip(project))
    assert again.dictionaries()[0].phrases == (Phrase("gout", "Disease", line=1),)
    assert [job.state for job in jobs.list_jobs(again)] == ["done"]


def test_a_trained_method_can_be_downloaded(project, run):
    job = jobs.get_job(project, run)
    (jobs.run_folder(job, "mpu") / "checkpoint-1.safetensors").write_bytes(b"x")
    archive = zipfile.ZipFile(io.BytesIO(downloads.model_bundle(job, "mpu")))
    assert sorted(archive.namelist()) == [
        "README.txt",
        "glossa.card.json",
        "mpu-seed0/predictions.parquet",
        "mpu-seed0/run.json",
    ]
    card = json.loads(archive.read("glossa.card.json"))
    assert card["run"]["id"] == run and card["run"]["method"] == "mpu"


def test_report_has_scores_coverage_and_sentences(project, run):
    job = jobs.get_job(project, run)
    page = downloads.report(project, ExportChoice(RUN, run, "conf_mpu"), job).decode()
    assert "<h1>Trial</h1>" in page and "Scores of each method" in page
    assert 'gout<span class="gl-type">Disease</span></mark>' in page
    # gout is right, the two others are not: precision 1/3, recall 1, F1 2/4
    assert "33.3 %</td><td>100.0 %</td><td>50.0 %" in page


def test_report_without_gold_and_run_is_about_the_dictionaries():
    bare = make_project(name="Bare")
    page = downloads.report(bare, ExportChoice(DICTIONARY), None).decode()
    assert "What each method finds" in page and "Scores of" not in page


def test_page_works_without_a_run():
    page = show(make_project(name="Bare"))
    assert ":material/verified: 2 entities, all offsets verified" in captions(page)
    labels = [button.label for button in page.get("download_button")]
    assert "Weights (zip)" not in labels and "Dictionaries (CSV)" in labels


def test_a_file_that_fails_verification_is_not_offered(project, run, monkeypatch):
    from engine.export.verification import Verification

    monkeypatch.setattr(
        export, "verify", lambda *arguments: Verification(0, problem="line 2 is wrong")
    )
    page = open_page("export", project.id).run()
    assert page.error[0].value.replace("\\", "").startswith("This file would be wrong: line 2")
    with pytest.raises(InputError, match="line 2 is wrong"):
        export.whole_file(project, ExportChoice(RUN, run, "conf_mpu"))


# ---- the card -------------------------------------------------------------------------------


def test_the_card_belongs_to_the_file_and_is_in_the_archive(project, run):
    choice = ExportChoice(RUN, run, "mpu")
    card = json.loads(export.card(project, choice, "glossa export --run x"))
    data = export.whole_file(project, choice)
    assert card["file"]["bytes"] == len(data) and card["run"]["id"] == run
    assert card["command"] == "glossa export --run x" and card["dictionaries"]["version"] == 1
    archive = zipfile.ZipFile(io.BytesIO(export.all_formats(project, choice, "glossa export")))
    name = f"entities/entities-mpu-{run}.csv"
    assert archive.read(name) == data
    assert json.loads(archive.read(f"{name}.card.json"))["file"] == card["file"]


def test_the_page_offers_the_card(project):
    labels = [button.label for button in show(project).get("download_button")]
    assert labels[:3] == ["Download", "All formats (zip)", "Card (JSON)"]


def test_every_further_download_has_its_card(project, run):
    choice, job = ExportChoice(RUN, run, "conf_mpu"), jobs.get_job(project, run)
    page = show(project)
    buttons = {button.key: button for button in page.get("download_button")}
    for extra in more.extras(project, choice, job):
        is_inside = extra.key.startswith("model")
        assert (extra.facts is None) == is_inside
        assert (f"export_{extra.key}_card" in buttons) != is_inside
        if is_inside:
            continue
        card = json.loads(extra.card())
        assert card["glossa"] and card["made_at"] and card["project"]["id"] == project.id
        assert card["dictionaries"]["version"] == 1 and card["matching"] == "adaptive"
        assert card["file"]["name"] == extra.file_name
        if extra.is_same:
            digest = hashlib.sha256(extra.make()).hexdigest()
            assert card["file"]["sha256"] == digest
    made_by = {e.key: json.loads(e.card()) for e in more.extras(project, choice, job) if e.facts}
    assert made_by["surfaces"]["run"]["method"] == "conf_mpu"
    assert {facts["method"] for facts in made_by["report"]["runs"]} == set(findings.methods_of(job))
    assert "runs" not in made_by["phrases"]


# ---- the tagger for other tools -------------------------------------------------------------


def test_the_tagger_is_offered_in_the_forms_that_the_run_can_take(project, monkeypatch):
    labels = [button.label for button in show(project).get("download_button")]
    assert labels[-2:] == ["Tagger for spaCy (zip)", "Tagger as ONNX (zip)"]
    monkeypatch.setattr("engine.export.model_forms.find_spec", lambda name: None)
    page = show(project)
    assert 'Needs spacy: pip install "glossa[spacy]".' in captions(page)
    assert page.get("download_button")[-1].disabled


def test_a_tagger_that_cannot_be_exported_says_why(project):
    [job] = jobs.list_jobs(project, "train")  # its weights were never written
    with pytest.raises(InputError) as error:
        downloads.model_as(job, "mpu", "onnx")
    assert str(jobs.run_folder(job, "mpu")) in str(error.value) and "\n" not in str(error.value)
