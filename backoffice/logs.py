"""The format of log lines, and the loggers that say less. The settings import it, so it imports nothing of Django."""

import logging
import os
import sys
from typing import Any

import structlog

from backoffice.log_privacy import without_query_strings
from backoffice.version import VERSION


def _add_version(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Say which version wrote the line: during an upgrade there are two."""
    return {"version": VERSION, **event}


def _add_process(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Say which process wrote the line, where the lines of several come together."""
    return {"process": os.environ.get("PROCESS_NAME", ""), **event}


_STEPS: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _add_version,
    without_query_strings,
]


class WithoutTrace(logging.Filter):
    """Drops a traceback that shows only Django: anybody may cause the record, as often as they like."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record through without its traceback."""
        record.exc_info = None
        return True


def logging_from(level: int, *, as_json: bool) -> dict[str, Any]:
    """The value of LOGGING: lines of this level and above go to standard error, as JSON objects or key=value."""
    key_value = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    *([_add_process, structlog.processors.JSONRenderer()] if as_json else [key_value]),
                ],
                "foreign_pre_chain": _STEPS,
            }
        },
        "filters": {"without_trace": {"()": WithoutTrace}},
        "handlers": {
            # not sys.stderr: beat replaces that with a logger before this is read, which would swallow every line
            "stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.__stderr__"},
            "nowhere": {"class": "logging.NullHandler"},
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Celery logs every received and finished message at INFO: several a second.
            "celery": {"level": "WARNING"},
            "celery.worker.consumer": {"level": "WARNING"},
            "django.server": {"level": "WARNING"},
            # It repeats each refused request, and anybody may send thousands of those.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"filters": ["without_trace"]},
            # It warns of every request that waits for a thread, however shortly.
            "waitress.queue": {"level": "ERROR"},
            # They name hosts and paths, which hold tokens. Our own code logs the result of a message. For mail it reads
            # the server's answer from these records (`alerts.services.ways`).
            "apprise": {"handlers": ["nowhere"], "propagate": False, "level": "DEBUG"},
            "urllib3": {"level": "WARNING"},
        },
    }


def keep_events() -> None:
    """Let Python's logging write what structlog is given, one line an event."""
    structlog.configure(
        processors=[*_STEPS, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(0),
        cache_logger_on_first_use=True,
    )


def keep_last_words() -> None:
    """Also log the fault that ends a process."""

    def note(kind: type[BaseException], fault: BaseException, trace: Any) -> None:
        logging.getLogger(__name__).critical("the process ends with a fault", exc_info=(kind, fault, trace))

    sys.excepthook = note
