"""What the product logs, and what it does not."""

import json
import subprocess
import sys

from django.conf import settings

PROGRAM = """
import logging, structlog
from dashboard.logs import configure
configure({"level": "INFO"})
logging.getLogger("httpx").info("HTTP Request: POST http://127.0.0.1/apps/support/users/ada@example.com/sessions")
logging.getLogger("httpcore").info("connect_tcp.started host='127.0.0.1'")
structlog.get_logger("approvals").info("signed", signing_secret="whsec_abc", run="r-1")
"""


def test_addresses_of_requests_and_secrets_are_not_logged() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    [line] = done.stderr.splitlines()
    told = json.loads(line)
    assert (told["event"], told["signing_secret"], told["run"]) == ("signed", "(dropped)", "r-1")
