"""What the process of a job runs. Needs torch once the work begins."""

from engine.jobs.worker.process import do_job, work_command

__all__ = [
    "do_job",
    "work_command",
]
