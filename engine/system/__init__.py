"""The machine: moments, processes, the disk, memory, progress, and notes on standard error.

moments    moments as text, for storage
processes  which process is which, whether it runs, and ending it with its parent
notes      lines on standard error, beside the results
disk       the errors of a full disk
leftovers  temporary files of processes that are gone
garbage    a pause of Python's garbage collector
memory     unused memory, given back to the system
progress   how much of a long piece of work is done
"""

from engine.system.disk import is_disk_full
from engine.system.garbage import without_collection
from engine.system.leftovers import is_left_behind, process_mark
from engine.system.memory import release_memory
from engine.system.moments import moment, now, seconds_since
from engine.system.notes import note_all, print_aside
from engine.system.processes import (
    Process,
    end_with_parent,
    host_name,
    is_alive,
    process_of,
    this_process,
)
from engine.system.progress import advance, watched

__all__ = [
    "Process",
    "advance",
    "end_with_parent",
    "host_name",
    "is_alive",
    "is_disk_full",
    "is_left_behind",
    "moment",
    "note_all",
    "now",
    "print_aside",
    "process_mark",
    "process_of",
    "release_memory",
    "seconds_since",
    "this_process",
    "watched",
    "without_collection",
]
