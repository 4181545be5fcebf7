"""The environment of a test run, in place before any setting is read (`-p tests.environment` in pyproject.toml).

Tests never meet a running `up` nor a server of whoever runs them: their servers are made for the session.
"""

import os

SERVERS = ("DATABASE_URL", "INGEST_DATABASE_URL", "OWNER_DATABASE_URL", "REDIS_URL", "EMAIL_URL", "MAIL_CATCHER_DIR")

for _name in SERVERS:
    os.environ.pop(_name, None)
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "dashboard.settings",
    "DJANGO_ALLOW_ASYNC_UNSAFE": "1",  # Playwright runs an event loop in the thread of the test
    "SECONDLOOK_DATA": "/nonexistent/secondlook-tests",
    "SECRET_KEY": "tests-" + "s" * 50,
    "FIELD_KEY": "dGVzdHMtdGVzdHMtdGVzdHMtdGVzdHMtdGVzdHMtMDA=",
    "SECURE": "0",
}
