"""How the product logs: one JSON line a record on standard error, secrets dropped."""

import logging
from collections.abc import MutableMapping
from typing import Any

import structlog

# Who audits waits for its lines, however quiet an operator wants the rest to be.
NEVER_QUIET = "approvals.tasks.log_watch"
# These tell of each request with its address, which names a customer where a runtime's address does.
TELLTALES = ("httpx", "httpcore")
SECRET_WORDS = ("password", "secret", "token", "authorization", "cookie", "signature")


def drop_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blank every value whose name says that it is a secret."""
    for name in event:
        if any(word in name.lower() for word in SECRET_WORDS):
            event[name] = "(dropped)"
    return event


def configure(config: dict[str, str]) -> None:
    """Django calls this with settings.LOGGING; `level` is the root level, which does not silence the log's anchors."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        drop_secrets,
    ]
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
            foreign_pre_chain=shared,
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(config["level"])
    logging.getLogger(NEVER_QUIET).setLevel(logging.INFO)
    for name in TELLTALES:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
