"""What gunicorn serves.

With gunicorn's --preload a broken guard ends the server itself; without it, gunicorn would start one worker after
the other, each of which ends.
"""

import gc
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured

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
    raise SystemExit(1) from None
