"""Trained runs: save and load them, train several side by side, and draw coverage curves.

Needs torch.

    saved       a run as a folder that can be moved
    speed       tokens per second of each method, measured on a few batches
    comparison  several methods on the same data, side by side
    hidden      several methods, compared by phrases that were hidden from them
    curve       growing shares of the dictionaries
    prediction  texts predicted as they are read
"""

from engine.runs.comparison import Task, compare, features_folder, ready_tasks, train_one
from engine.runs.curve import Cell, CurvePlan, Point, coverage_curve
from engine.runs.hidden import compare_hidden
from engine.runs.prediction import CutTokens, predict_stream
from engine.runs.saved import data_fingerprint, load_run, save_run, save_twin, write_scores
from engine.runs.speed import measure_speeds

__all__ = [
    "Cell",
    "CurvePlan",
    "CutTokens",
    "Point",
    "Task",
    "compare",
    "compare_hidden",
    "coverage_curve",
    "data_fingerprint",
    "features_folder",
    "load_run",
    "measure_speeds",
    "predict_stream",
    "ready_tasks",
    "save_run",
    "save_twin",
    "train_one",
    "write_scores",
]
