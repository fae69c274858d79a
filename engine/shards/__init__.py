"""Large corpora: label and predict shards on this machine or on a Ray cluster.

A shard is one file of a corpus. Every shard gets one output file and one record, so a job that was
stopped continues where it ended.

stores       folders and URLs: list, read, and write files whole or not at all
shards       which files are shards, and what their results are called
documents    the documents of a shard; its results as bytes
records      what was done with a shard, tied to its content and to the settings
patterns     patterns that take too long in a shard, and so in none
tasks        try patterns on, count, label or predict one shard
work         all shards of one stage: skip finished ones, collect faults
executors    processes of this machine that do the work
ray_workers  actors of a Ray cluster that do the same work
figures      the figures of all shards, added up into one report
jobs         label or predict a whole corpus, in stages
cells        train the cells of a curve on a cluster
permission   the folders and URLs that the app may use
"""

from engine.shards.cells import train_on_cluster
from engine.shards.executors import LocalExecutor
from engine.shards.figures import LabelReport, PredictReport
from engine.shards.jobs import ShardedResult, label_shards, predict_shards
from engine.shards.permission import allowed_places, check_allowed
from engine.shards.ray_workers import RayExecutor
from engine.shards.shards import PARQUET, ShardOptions, is_sharded
from engine.shards.work import Executor, Fault, Pace, StageProgress

__all__ = [
    "PARQUET",
    "Executor",
    "Fault",
    "LabelReport",
    "LocalExecutor",
    "Pace",
    "PredictReport",
    "RayExecutor",
    "ShardOptions",
    "ShardedResult",
    "StageProgress",
    "allowed_places",
    "check_allowed",
    "is_sharded",
    "label_shards",
    "predict_shards",
    "train_on_cluster",
]
