"""The settings of a test run: the product's, read from an environment made for tests.

Tests never meet a running `up` nor a server of whoever runs them: their servers are made for the session
(tests/cluster.py).
"""

import os

for _name in (
    *("DATABASE_URL", "INGEST_DATABASE_URL", "OWNER_DATABASE_URL"),
    *("REDIS_URL", "EMAIL_URL", "MAIL_CATCHER_DIR", "ROLE_PREFIX"),
):
    os.environ.pop(_name, None)
os.environ |= {
    "DJANGO_ALLOW_ASYNC_UNSAFE": "1",  # Playwright runs an event loop in the thread of the test
    "SECONDLOOK_DATA": "/nonexistent/secondlook-tests",
    "SECRET_KEY": "tests-" + "s" * 50,
    "FIELD_KEY": "dGVzdHMtdGVzdHMtdGVzdHMtdGVzdHMtdGVzdHMtMDA=",
    "SECURE": "0",
    "BASE_URL": "https://secondlook.test",
}

from dashboard.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # tests make many people
