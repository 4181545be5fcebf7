"""Settings, strict, from the environment.

`manage.py up` writes the environment of its servers into `<data>/env`, and every other command reads it there,
so that it meets the same servers; what the real environment says wins.
"""

import os
from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("SECONDLOOK_DATA") or BASE_DIR / ".data").resolve()

env = environ.Env()
if (DATA_DIR / "env").is_file():
    env.read_env(str(DATA_DIR / "env"), overwrite=False)

# -- secrets and hosts -----------------------------------------
# A command that serves nobody (makemigrations, the type checker) may run without secrets; web, worker and
# dispatcher refuse to start without them (approvals.services.guards).
SECRET_KEY = env.str("SECRET_KEY", default="unset-" + "0" * 44)
FIELD_KEY = env.str("FIELD_KEY", default="")
DEBUG = False
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
SECURE = env.bool("SECURE", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "SAMEORIGIN"
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000")

# -- the application -----------------------------------------
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"
INSTALLED_APPS = [
    "dashboard",
    "approvals",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "django_htmx",
    "template_partials.apps.SimpleAppConfig",
    "csp",
    "ninja",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dashboard.middleware.WorkspaceMiddleware",
]
_LOADERS = [
    "django.template.loaders.filesystem.Loader",
    "django.template.loaders.app_directories.Loader",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                ("template_partials.loader.Loader", [("django.template.loaders.cached.Loader", _LOADERS)])
            ],
            "builtins": ["template_partials.templatetags.partials"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024 + 64 * 1024  # a call with 5 MB of events, and no more

# A forced replay ticks each call by itself, and a run may have thousands; with Django's 1,000 nobody could force those.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 25_000

# -- files -----------------------------------------
# Lists of recipients, and what is attached to mails. With S3_BUCKET they lie there; otherwise, for a product on
# one machine, in its data folder. Either way under the SHA-256 of what they hold.
S3_BUCKET = env.str("S3_BUCKET", default="")
MEDIA_ROOT = DATA_DIR / "files"
IMPORT_MOST_MB = env.int("IMPORT_MOST_MB", default=200)  # of one list
FILE_UPLOAD_HANDLERS = ["dashboard.uploads.LimitedUpload"]
FILE_UPLOAD_TEMP_DIR = env.str("FILE_UPLOAD_TEMP_DIR", default=None)
_KEPT: dict[str, object] = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
if S3_BUCKET:
    _KEPT = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": S3_BUCKET,
            "endpoint_url": env.str("S3_ENDPOINT_URL", default=None),
            "region_name": env.str("S3_REGION", default=None),
            "default_acl": None,
            "file_overwrite": True,
        },
    }
STORAGES = {
    "default": _KEPT,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# -- people -----------------------------------------
AUTH_USER_MODEL = "approvals.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "dashboard.accounts.AccountAdapter"  # members are added by an operator, nobody signs up

# -- databases -----------------------------------------
# A process that freezes inside a transaction holds its locks, and with them the log of a whole workspace, until
# Postgres ends the transaction. None of ours rests for this long inside one.
IDLE_IN_TRANSACTION_S = env.int("IDLE_IN_TRANSACTION_S", default=30)
_NO_DATABASE = "postgres://nobody@127.0.0.1:1/nowhere"


def _database(name: str, fallback: str) -> dict[str, object]:
    """One connection alias from the URL in the environment; the backend binds it to a workspace."""
    config = dict(env.db_url_config(env.str(name, default=fallback)))
    if "postgres" not in str(config["ENGINE"]):
        raise ImproperlyConfigured(f"{name} must be a postgres:// URL.")
    return config | {
        "ENGINE": "approvals.db",
        "CONN_MAX_AGE": env.int("CONN_MAX_AGE", default=300),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "application_name": "secondlook",
            "connect_timeout": 5,
            "options": f"-c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_S}s",
        },
    }


DATABASES = {
    "default": _database("DATABASE_URL", _NO_DATABASE),
    "ingest": _database("INGEST_DATABASE_URL", _NO_DATABASE),
}
OWNER_DATABASE_URL = env.str("OWNER_DATABASE_URL", default="")
ROLE_PREFIX = env.str("ROLE_PREFIX", default="secondlook")

# -- the broker -----------------------------------------
REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:1/0")
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CHANNEL_ERROR_RETRY = True  # a worker that meets a full broker waits; otherwise it ends
CELERY_WORKER_CONSUMER = "approvals.tasks.consumer:Consumer"
CELERY_TASK_ACKS_LATE = False  # a lost wake-up is sent again by the dispatcher
CELERY_DB_REUSE_MAX = 1_000_000  # Celery otherwise closes every connection around every task
CELERY_TASK_ROUTES = {
    "approvals.tasks.replay.*": {"queue": "replay"},
    "approvals.tasks.send.*": {"queue": "send"},
    "approvals.tasks.trials.*": {"queue": "send"},
    "approvals.tasks.observe.*": {"queue": "observe"},
    "approvals.tasks.imports.*": {"queue": "import"},
}

# -- mail -----------------------------------------
_mail = env.email_url_config(env.str("EMAIL_URL", default="smtp://127.0.0.1:1"))
SMTP = {
    "host": _mail["EMAIL_HOST"],
    "port": _mail["EMAIL_PORT"] or 25,
    "username": _mail["EMAIL_HOST_USER"] or "",
    "password": _mail["EMAIL_HOST_PASSWORD"] or "",
    "use_tls": _mail.get("EMAIL_USE_TLS", False),
    "use_ssl": _mail.get("EMAIL_USE_SSL", False),
}
# Where this is set, nobody else is written to: for every place that is not the real one. Empty: everybody.
ALLOWED_RECIPIENT_DOMAINS = [one.strip() for one in env.list("ALLOWED_RECIPIENT_DOMAINS", default=[])]
# Mail about accounts goes the same way.
EMAIL_HOST, EMAIL_PORT = SMTP["host"], SMTP["port"]
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = SMTP["username"], SMTP["password"]
EMAIL_USE_TLS, EMAIL_USE_SSL = SMTP["use_tls"], SMTP["use_ssl"]
EMAIL_TIMEOUT = 5
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Secondlook <secondlook@localhost>")
MAIL_CATCHER_DIR = env.str("MAIL_CATCHER_DIR", default="")

# -- the desk's clock -----------------------------------------
LEASE_S = env.int("LEASE_S", default=60)
# Sending that should have begun longer ago than this asks somebody first.
START_OVERDUE_S = env.int("START_OVERDUE_S", default=3600)
SEND_BATCH = env.int(
    "SEND_BATCH", default=1_000
)  # messages after which a campaign lets another one have its turn
SEND_CONNECTIONS = env.int("SEND_CONNECTIONS", default=4)  # to the mail server, of each process that sends
SEND_RETRY_S = env.float(
    "SEND_RETRY_S", default=30
)  # the least that passes before anybody is tried once more
RUNTIME_TIMEOUT_S = env.int("RUNTIME_TIMEOUT_S", default=20)
OVERDUE_S = env.int("OVERDUE_S", default=120)
POLL_S = env.float("POLL_S", default=2.0)
OBSERVE_PASS_S = env.float(
    "OBSERVE_PASS_S", default=600
)  # between two passes through a runtime's whole store
FAULTS_ALLOWED = env.bool("FAULTS_ALLOWED", default=False)

# -- pages -----------------------------------------
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [SELF],
    }
}
SECURE_REFERRER_POLICY = "same-origin"

LOGGING_CONFIG = "dashboard.logs.configure"
LOGGING = {"level": env.str("LOG_LEVEL", default="INFO")}
