"""`manage.py demo adk`: the reference service of Google ADK, with everything it needs, until told to stop."""

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from dashboard.demo.adk import database, environment
from dashboard.demo.adk.database import Access
from dashboard.demo.adk.service import Service
from dashboard.embedded import ports
from dashboard.embedded.processes import Processes
from dashboard.embedded.trouble import Trouble, from_os_error

PORT = 8765
FOR_EVER_S = float("inf")
APPS = """\
  support            a normal message: "Please refund customer C-17."
                     a call that hangs: "[script:slow:120] Please refund customer C-17."; stop curl, or wait
  support_confirm    a held call: "[script:confirm] Please refund customer C-17."; confirm or reject it in Secondlook
  support_resumable  a call that hangs, in an app that ADK may resume: "[script:slow:120] Please refund customer C-17."
  support_steps      two agents one after the other: "Please refund customer C-17."
  support_agenttool  an agent as a tool, whose own e-mail leaves no trace: "Please refund customer C-17.\""""


@dataclass(frozen=True)
class Wish:
    """What somebody asked for; an empty `database_url` is a database in the Postgres of `up`."""

    version: str
    port: int
    database_url: str = field(repr=False)
    mail: str
    s3: str


def run(data: Path, wish: Wish, say: Callable[[str], object], *, on_terminal: bool) -> None:
    """Prepare and run the service until Ctrl-C or its own end. Raises Trouble.

    The observer's password is said to a terminal only, never into a log.
    """
    if not wish.mail.rpartition(":")[2].isdecimal():
        raise Trouble("Name the mail server as HOST:PORT, such as --mail 127.0.0.1:2525.")
    ports.listen(wish.port).close()
    access = Access(wish.database_url, "") if wish.database_url else database.in_embedded(data)
    python = environment.adk(environment.root(data), wish.version, say)
    files = data / "adk-files"
    service = Service(python, wish.port, access.service_url, wish.mail, files, wish.s3)
    try:
        logs = data / "log"
        logs.mkdir(parents=True, exist_ok=True)
        processes = Processes(logs)
    except OSError as error:
        raise from_os_error(error, data) from error
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # also where whoever started us ignores Ctrl-C
    try:
        child = service.start(processes)
        say(how_to(wish, access, on_terminal=on_terminal))
        processes.wait_until(lambda: not child.alive, "its end", FOR_EVER_S)
        raise Trouble(f"google-adk ended by itself: {child.ending()} (its log: {child.log}).")
    except KeyboardInterrupt:
        say("Stopping.")
    finally:
        processes.stop_all()


def how_to(wish: Wish, access: Access, *, on_terminal: bool) -> str:
    """What to type next: how Secondlook is connected to the service, and how the service is sent a message."""
    base = f"http://127.0.0.1:{wish.port}"
    session = f"try-{datetime.now():%H%M%S}"  # another one each time that this is said
    observer = access.reader_url or "postgresql://READER:PASSWORD@HOST:PORT/DATABASE"
    note = ""
    if access.reader_url and not on_terminal:
        observer, note = _without_password(observer), "\n  (Start this in a terminal to see the password.)"
    return f"""
google-adk {wish.version} answers at {base}. Ctrl-C stops it; sessions, memory and artifacts stay.

Connect Secondlook to it, as a database role that may only read:
  python3 manage.py runtime add --workspace demo --name "reference service" --kind adk \\
    --base-url {base} --silence-s 20 \\
    --database-url '{observer}'{note}

Send it a message; this one ends with an error on purpose, a 429 after the e-mail went out:
  curl -s -X POST {base}/apps/support/users/ada/sessions/{session}
  curl -sN {base}/run_sse -H 'Content-Type: application/json' -d '{{
    "appName": "support", "userId": "ada", "sessionId": "{session}", "newMessage": {{"role": "user", "parts":
    [{{"text": "[script:rate_after] Please refund customer C-17."}}]}}}}'

The apps, and what to try with each (put its name in both lines, and take another session):
{APPS}
Other scripts: dashboard/demo/adk/served/reference/scripts.py
"""


def _without_password(url: str) -> str:
    before, _, after = url.rpartition("@")
    return f"{before.rpartition(':')[0]}:PASSWORD@{after}"
