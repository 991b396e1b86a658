"""Keeps private values out of logs and reports. The settings import it: it imports nothing of Django."""

from typing import Any

from structlog.typing import EventDict, WrappedLogger


def without_query_strings(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:  # noqa: ARG001
    """Cut the query from logged addresses: a search holds customers' numbers."""
    request = event.get("request")
    if isinstance(request, str):
        event["request"] = request.partition("?")[0]
    return event


def without_query_in_report(report: Any, hint: Any) -> Any:  # noqa: ARG001
    """Cut the query from the addresses of a report to Sentry: it holds the token of a link, or a customer's number."""
    request = report.get("request", {})
    request.pop("query_string", None)
    headers = request.get("headers", {})
    for name in [name for name in headers if name.lower() == "referer"]:
        headers[name] = headers[name].partition("?")[0]
    return report
