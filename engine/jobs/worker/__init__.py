"""What the process of a job runs. Needs torch once the work begins.

process                wait for a turn, do the job, store how it ended
kinds                  the function of each kind of job
setup                  the job at hand, its texts and labels
train, curve, predict, shards, suggest, twin
                       the kinds of jobs
pace                   the share that is done, and the seconds left
outcome                predictions and scores of the trained methods
"""

from engine.jobs.worker.process import do_job, work_command

__all__ = [
    "do_job",
    "work_command",
]
