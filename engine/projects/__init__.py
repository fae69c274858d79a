"""Projects on disk: one folder each, with a SQLite file, the uploaded files and the runs.

workspace                      all projects of the data folder
sample                         the sample project, with the results that ship
ownership                      who owns a project, and whom it is shared with
project                        one project; everything below through one class
connection, migrations, store  the database: opened, brought up to date, read and changed
files, texts, gold             the uploaded files, the corpus and the gold in them
previews                       what new files hold, before they are saved
versions                       every version of the dictionaries
labels, caches                 distant labels and read text, kept beside the project
opinions                       what other systems and people found
likely                         likely entities, found before any training
health                         what hurts in the dictionaries, and what a person kept
upload_health                  the same before dictionaries are saved
job_states                     the states of jobs
encoders                       downloaded transformers, one copy per data folder
archive, schema                a project as a zip, and what its rows may hold
leftovers                      what killed processes left half written
"""

from engine.projects.connection import checked_row, kept_connections, parsed, wrong_value
from engine.projects.encoders import (
    chosen_encoder,
    download_encoder,
    encoder_folder,
    knows_language,
    note_progress,
    own_encoder,
    read_progress,
)
from engine.projects.files import CACHE, IMPORT_LIMITS, StoredFile
from engine.projects.health import (
    doubts_key,
    health_of,
    keep_doubtful,
    keep_entries,
    kept_entries,
    mend_dictionaries,
)
from engine.projects.job_states import ACTIVE
from engine.projects.labels import EarlierLabels, labels_of, stored_labels
from engine.projects.leftovers import sweep_beside
from engine.projects.likely import (
    Basis,
    KeptLikely,
    keep_likely,
    kept_likely,
    likely_basis,
    likely_file_key,
)
from engine.projects.opinions import Opinion
from engine.projects.ownership import clean_address
from engine.projects.previews import (
    AT_ONCE_BYTES,
    DictionaryPreview,
    DictionarySummary,
    GoldPreview,
    Preview,
    TextPreview,
    is_previewed_at_once,
    is_read_at_once,
    preview_dictionaries,
    preview_dictionary_files,
    preview_from,
    preview_gold,
    preview_gold_files,
    preview_heads,
    preview_record,
    preview_text,
    preview_units,
)
from engine.projects.project import Project
from engine.projects.sample import SAMPLE_FOLDER, SAMPLE_LIKELY, SAMPLE_ZIP
from engine.projects.schema import is_fact, is_point, is_request, known_request
from engine.projects.store import reading, touch, writing
from engine.projects.texts import read_once, read_units
from engine.projects.upload_health import (
    INVERTED,
    Chosen,
    UploadHealth,
    check_upload,
    chosen_from,
    chosen_record,
    save_upload,
    upload_health_from,
    upload_health_record,
)
from engine.projects.workspace import (
    SAMPLE_ID,
    ProjectSummary,
    claim_project,
    create_project,
    data_folder,
    delete_project,
    duplicate_project,
    import_project_zip,
    keep_private,
    list_projects,
    new_place,
    open_project,
    reset_sample,
    sample_project,
    share_project,
    sweep_leftovers,
    unshare_project,
    untrained_sample,
    write_project_zip,
    zipped_project,
)

__all__ = [
    "ACTIVE",
    "AT_ONCE_BYTES",
    "CACHE",
    "IMPORT_LIMITS",
    "INVERTED",
    "SAMPLE_FOLDER",
    "SAMPLE_ID",
    "SAMPLE_LIKELY",
    "SAMPLE_ZIP",
    "Basis",
    "Chosen",
    "DictionaryPreview",
    "DictionarySummary",
    "EarlierLabels",
    "GoldPreview",
    "KeptLikely",
    "Opinion",
    "Preview",
    "Project",
    "ProjectSummary",
    "StoredFile",
    "TextPreview",
    "UploadHealth",
    "check_upload",
    "checked_row",
    "chosen_encoder",
    "chosen_from",
    "chosen_record",
    "claim_project",
    "clean_address",
    "create_project",
    "data_folder",
    "delete_project",
    "doubts_key",
    "download_encoder",
    "duplicate_project",
    "encoder_folder",
    "health_of",
    "import_project_zip",
    "is_fact",
    "is_point",
    "is_previewed_at_once",
    "is_read_at_once",
    "is_request",
    "keep_doubtful",
    "keep_entries",
    "keep_likely",
    "keep_private",
    "kept_connections",
    "kept_entries",
    "kept_likely",
    "known_request",
    "knows_language",
    "labels_of",
    "likely_basis",
    "likely_file_key",
    "list_projects",
    "mend_dictionaries",
    "new_place",
    "note_progress",
    "open_project",
    "own_encoder",
    "parsed",
    "preview_dictionaries",
    "preview_dictionary_files",
    "preview_from",
    "preview_gold",
    "preview_gold_files",
    "preview_heads",
    "preview_record",
    "preview_text",
    "preview_units",
    "read_once",
    "read_progress",
    "read_units",
    "reading",
    "reset_sample",
    "sample_project",
    "save_upload",
    "share_project",
    "stored_labels",
    "sweep_beside",
    "sweep_leftovers",
    "touch",
    "unshare_project",
    "untrained_sample",
    "upload_health_from",
    "upload_health_record",
    "write_project_zip",
    "writing",
    "wrong_value",
    "zipped_project",
]
