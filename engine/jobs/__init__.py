"""Jobs: training, prediction and suggestions in processes of their own.

Start, watch, stop and resume them. Free of torch, but for the worker.

    requests   what a job is to do
    plan       the time and the room on the disk that it needs
    speeds     how fast this machine trains
    lifecycle  start, cancel, resume, delete
    process    its process, apart from ours
    origin     what an imported job may use outside its project
    rows       its row in the database
    watch      jobs that died or do not stop
    worker     what its process runs
    reports    what its process writes: progress, results, a heartbeat
    results    what it has stored so far

Uploaded files are read in processes of their own, too. They are no jobs: nothing resumes them.

    reader          start one, watch it, cancel it
    reader_process  what it runs
"""

from engine.jobs.lifecycle import (
    active_job,
    cancel,
    create,
    delete_job,
    end_all,
    get_job,
    list_jobs,
    requeue,
    resume,
    start,
    training_job,
)
from engine.jobs.origin import allow_names, allow_names_of_run, names_of_run, names_to_ask
from engine.jobs.plan import estimate, makespan, rough_estimate, side_by_side
from engine.jobs.reader import (
    READER_LIMITS,
    ReaderLimits,
    Reading,
    start_import,
    start_reading,
)
from engine.jobs.reports import Heart, Report, Superseded, open_report
from engine.jobs.requests import (
    QUEUED_KINDS,
    CurveRequest,
    PredictRequest,
    ProbeRequest,
    Request,
    ShardsRequest,
    SuggestRequest,
    TrainRequest,
    TwinRequest,
    command_of,
    kind_of,
    probe_of,
    request_from,
    settings_of,
)
from engine.jobs.results import (
    LOG,
    Stage,
    confidence_histogram,
    confidence_scores,
    curve_cells,
    curve_points,
    end_line,
    epochs,
    find_job,
    hidden_found,
    job_notes,
    log_tail,
    predicted_corpus,
    priors_of,
    results,
    run_card,
    run_folder,
    scores_of,
    shards_of,
    stages,
    stored_request,
    twin_folder,
)
from engine.jobs.rows import Job, fact_of
from engine.jobs.speeds import (
    Speed,
    keep_speeds,
    machine_name,
    measured_speeds,
    network_key,
)
from engine.jobs.watch import CANCELLED, settle

__all__ = [
    "CANCELLED",
    "LOG",
    "QUEUED_KINDS",
    "READER_LIMITS",
    "CurveRequest",
    "Heart",
    "Job",
    "PredictRequest",
    "ProbeRequest",
    "ReaderLimits",
    "Reading",
    "Report",
    "Request",
    "ShardsRequest",
    "Speed",
    "Stage",
    "SuggestRequest",
    "Superseded",
    "TrainRequest",
    "TwinRequest",
    "active_job",
    "allow_names",
    "allow_names_of_run",
    "cancel",
    "command_of",
    "confidence_histogram",
    "confidence_scores",
    "create",
    "curve_cells",
    "curve_points",
    "delete_job",
    "end_all",
    "end_line",
    "epochs",
    "estimate",
    "fact_of",
    "find_job",
    "get_job",
    "hidden_found",
    "job_notes",
    "keep_speeds",
    "kind_of",
    "list_jobs",
    "log_tail",
    "machine_name",
    "makespan",
    "measured_speeds",
    "names_of_run",
    "names_to_ask",
    "network_key",
    "open_report",
    "predicted_corpus",
    "priors_of",
    "probe_of",
    "request_from",
    "requeue",
    "results",
    "resume",
    "rough_estimate",
    "run_card",
    "run_folder",
    "scores_of",
    "settings_of",
    "settle",
    "shards_of",
    "side_by_side",
    "stages",
    "start",
    "start_import",
    "start_reading",
    "stored_request",
    "training_job",
    "twin_folder",
]
