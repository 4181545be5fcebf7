"""The command lines of our own processes, each given to this Python in the project's folder."""

MIGRATE = ["manage.py", "migrate"]
RESTORED = ["manage.py", "restored", "--yes"]
DISPATCH = ["manage.py", "dispatch"]
DEMO_PREPARE = ["manage.py", "demo", "prepare"]
DEMO_RUN = ["manage.py", "demo", "run"]
QUEUES = ("replay", "send", "observe", "import")


def web(descriptor: int) -> list[str]:
    """Gunicorn on a socket that already listens. Preloaded, it ends at once where a guard is broken."""
    return [
        *("-m", "gunicorn", "dashboard.wsgi", "--bind", f"fd://{descriptor}"),
        *("--worker-class", "gthread", "--workers", "1", "--threads", "8"),
        *("--preload", "--graceful-timeout", "5", "--no-control-socket", "--access-logfile", "-"),
        *("--logger-class", "dashboard.accesslog.DiscreetLogger"),
    ]


def worker(queue: str) -> list[str]:
    """A Celery worker of one queue: a long campaign must not keep a replay waiting."""
    return [
        *("-m", "celery", "--app", "dashboard", "worker", "--queues", queue, "--concurrency", "2"),
        *("--hostname", f"{queue}@%h", "--without-gossip", "--without-mingle", "--loglevel", "INFO"),
    ]


def catcher(descriptor: int, folder: str) -> list[str]:
    """The mail catcher on a socket that already listens."""
    return ["-m", "dashboard.embedded.catcher", "--dir", folder, "--fd", str(descriptor)]
