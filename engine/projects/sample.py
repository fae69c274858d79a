"""Fill the sample project: from its text, dictionaries and gold, or with the results that ship."""

from pathlib import Path

from engine.files import read_source
from engine.projects.archive import unpack
from engine.projects.likely import adopt_likely
from engine.projects.project import Project

_ROOT = Path(__file__).resolve().parents[2]
# At the top of a checkout, or inside the installed package.
_INSTALLED_SAMPLE = _ROOT / "glossa" / "sample_data"
SAMPLE_FOLDER = _INSTALLED_SAMPLE if _INSTALLED_SAMPLE.is_dir() else _ROOT / "sample_data"
# The sample project with trained methods, a curve, decisions and a prediction: `make sample`.
SAMPLE_ZIP = SAMPLE_FOLDER / "project.zip"
# In the zip, outside the caches, which no zip of a project holds.
SAMPLE_LIKELY = "likely.npz"


def fill_sample(project: Project) -> None:
    """Add text, dictionaries and gold to an empty project."""
    phrases = sorted((SAMPLE_FOLDER / "dictionary").glob("*.txt"))
    project.add_text([read_source(SAMPLE_FOLDER / "train.jsonl")])
    project.add_dictionaries([read_source(path) for path in phrases])
    project.set_gold([read_source(SAMPLE_FOLDER / "gold.csv")])


def unpack_sample(project: Project) -> None:
    """Put the sample and its results into the empty folder of a project."""
    unpack(SAMPLE_ZIP, project.folder, is_ours=True)
    adopt_likely(project, project.folder / SAMPLE_LIKELY)
    project.rename(project.name)  # so that it counts as changed now
