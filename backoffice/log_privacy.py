"""What never stands in a log line. Imported by the settings, so it imports nothing of Django."""

from structlog.typing import EventDict, WrappedLogger


def without_query_strings(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:  # noqa: ARG001
    """Cut the query from logged addresses: a search holds customers' numbers."""
    request = event.get("request")
    if isinstance(request, str):
        event["request"] = request.partition("?")[0]
    return event
