"""A process that does an operation again and again until it is killed: python -m … OPERATION ID.

Modules are loaded once: for every line on standard input it starts ("forks") a victim, and prints

    victim PID             it has begun
    stored N               it has stored its Nth step
    failed MESSAGE         it raised an error, which ends it
    gone                   it was killed, or did as many steps as the line asked for
"""

import os
import sys
import traceback

from engine.projects.workspace import open_project
from tests.support.fault_operations import OPERATIONS


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())  # one write, so that no line is torn


def do_steps(name: str, id: str, steps: int) -> None:
    """Do the steps; 0: until killed."""
    try:
        operation = OPERATIONS[name](open_project(id))
        done = 0
        while not steps or done < steps:
            operation.step()
            done += 1
            say(f"stored {operation.count()}")
    except BaseException:
        say("failed " + traceback.format_exc().replace("\n", " | "))


def main(name: str, id: str) -> None:
    if name == "train":
        import engine.jobs.worker.kinds  # noqa: F401 - torch takes seconds to load
    say("ready")
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            say(f"victim {os.getpid()}")
            do_steps(name, id, int(line))
            os._exit(0)
        os.waitpid(pid, 0)
        say("gone")


if __name__ == "__main__":
    main(*sys.argv[1:])
