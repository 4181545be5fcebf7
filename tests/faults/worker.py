"""A worker's process for one task, run by the tests: `python -m tests.faults.worker KIND JOB WORKSPACE`;
of observing it is the runtime instead of a job, of importing the dataset, of telling the callback.

The task itself, in a process of its own that FAULT_AT can kill; what Celery adds is in tests/faults/test_processes.
"""

import sys

import django

django.setup()

from approvals.tasks import callbacks, imports, observe, propose, replay, send, trials  # noqa: E402

if __name__ == "__main__":
    kind, job_id, workspace = sys.argv[1:]
    tasks = {
        "replay": replay,
        "send": send,
        "test": trials,
        "observe": observe,
        "import": imports,
        "callback": callbacks,
        "propose": propose,
    }
    tasks[kind].execute.apply(args=[job_id], kwargs={"workspace": workspace}, throw=True)
