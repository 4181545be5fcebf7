"""`manage.py dispatch`: wakes the workers and keeps the clock, until it is told to stop."""

import signal
from typing import Any

from django.core.management.base import BaseCommand

from approvals.services import guards
from approvals.tasks.dispatcher import Dispatcher


class Command(BaseCommand):
    """Run the dispatcher in the foreground."""

    help = "Wake the workers and keep the clock, until SIGTERM or Ctrl-C."

    def handle(self, *args: Any, **options: Any) -> None:
        guards.require()
        dispatcher = Dispatcher()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: dispatcher.stop())
        dispatcher.run()
