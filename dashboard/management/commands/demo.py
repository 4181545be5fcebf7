"""`manage.py demo prepare`: the demo workspace, once. `manage.py demo run`: the demo's runtime, until told to stop.

`up` calls both. The runtime itself (dashboard.demo.runtime) speaks the machine API and knows nothing of Django.
`manage.py demo adk` runs the reference service of Google ADK beside `up`, until told to stop.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from approvals.access.actors import operator
from approvals.db.binding import bind
from approvals.selectors.workspaces import all_workspaces
from approvals.services import setup
from dashboard.demo.adk import environment, starting
from dashboard.embedded.trouble import Trouble

SLUG = "demo"
MEMBERS = (
    ("support@example.com", "Sam Support", ["support"]),
    ("reviewer@example.com", "Robin Reviewer", ["reviewer"]),
    ("manager@example.com", "Maria Manager", ["manager"]),
    ("admin@example.com", "Alex Admin", ["admin"]),
)
RUNTIME = "demo agents"
SILENCE_S = 12  # so that a visitor does not wait long for the dead runs to be found
HOLD_S = 10  # so that what was approved goes out while somebody looks


class Command(BaseCommand):
    """Prepare or run the demo."""

    help = "The demo workspace and its agent runtime, as `up` shows them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=["prepare", "run", "adk"])
        parser.conflict_handler = "resolve"  # Django's own --version gives way
        adk = parser.add_argument_group("of `demo adk`")
        adk.add_argument("--version", default=environment.LATEST, help="of google-adk")
        adk.add_argument("--port", type=int, default=starting.PORT, help="where the service listens")
        adk.add_argument("--database-url", default="", help="instead of a database in the Postgres of `up`")
        adk.add_argument("--mail", metavar="HOST:PORT", default="", help="instead of the mail server of `up`")
        adk.add_argument("--s3", metavar="s3://BUCKET/PREFIX?endpoint=URL", default="", help="for artifacts")

    def handle(self, *args: Any, what: str, **options: Any) -> None:
        path = settings.DATA_DIR / "demo.json"
        if what == "prepare":
            self._prepare(path)
        elif what == "run":
            self._run(path)
        else:
            self._adk(**options)

    def _adk(self, *, version: str, port: int, database_url: str, mail: str, s3: str, **options: Any) -> None:
        mail = mail or f"{settings.SMTP['host']}:{settings.SMTP['port']}"
        wish = starting.Wish(version, port, database_url, mail, s3)
        try:
            starting.run(settings.DATA_DIR, wish, self.stdout.write, on_terminal=self.stdout.isatty())
        except Trouble as trouble:
            raise CommandError(str(trouble)) from trouble

    def _prepare(self, path: Path) -> None:
        if path.exists():
            self.stdout.write(
                "The demo members' passwords were printed when the demo was made; for a new one:\n"
                "  python3 manage.py member password --workspace demo --email support@example.com"
            )
            return
        by = operator("up")
        made = next((found.id for found in all_workspaces() if found.slug == SLUG), None)
        workspace_id = made or setup.create_workspace(by=by, name="Demo", slug=SLUG, hold_s=HOLD_S).id
        lines = ["Sign in as one of the demo's members; these passwords are shown only now:"]
        half = path.with_name(path.name + ".new")
        with bind(workspace_id), transaction.atomic():
            for email, name, roles in MEMBERS:
                added = setup.add_member(by=by, email=email, roles=roles, name=name)
                lines.append(f"  {email:<24}{added.password or '(the one you have)'}")
            port = _free_port()
            runtime = setup.add_runtime(
                by=by,
                name=RUNTIME,
                base_url=f"http://127.0.0.1:{port}",
                silence_s=SILENCE_S,
                writes_ahead=True,
                callback_url=f"http://127.0.0.1:{port}/told",
            )
            token = setup.create_token(by=by, runtime=RUNTIME)
            # Before the commit: a demo whose token nobody knows would be of no use.
            _write(
                half,
                {"token": token.text, "secret": runtime.signing_secret, "host": "127.0.0.1", "port": port},
            )
        half.replace(path)
        self.stdout.write("\n".join(lines))

    def _run(self, path: Path) -> None:
        if not path.exists():
            raise CommandError("There is no demo here; start `manage.py up` without --empty first.")
        smtp = settings.SMTP
        here = {
            "api_url": settings.BASE_URL,
            "smtp_host": smtp["host"],
            "smtp_port": smtp["port"],
            "state_file": str(path.with_name("demo-state.json")),
        }
        _write(path, json.loads(path.read_text()) | here)
        os.execv(sys.executable, [sys.executable, "-m", "dashboard.demo.runtime", "--config", str(path)])  # noqa: S606


def _write(path: Path, config: dict[str, Any]) -> None:
    path.touch(mode=0o600)
    path.write_text(json.dumps(config, indent=1))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
