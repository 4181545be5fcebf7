"""What gunicorn serves.

A broken guard ends the server itself: gunicorn starts no other worker after one that ends with CANNOT_LOAD.
"""

import gc
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured

CANNOT_LOAD = 4  # gunicorn.arbiter.Arbiter.APP_LOAD_ERROR

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

try:
    django.setup()
    from approvals.services import guards  # models can be imported only now
    from dashboard.requests import Application

    guards.require()
    application = Application()
    gc.freeze()  # what is here now stays: no page waits for a collection that looks at all of it again
except ImproperlyConfigured as error:
    print(error, file=sys.stderr, flush=True)
    raise SystemExit(CANNOT_LOAD) from None
