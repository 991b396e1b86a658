"""`/metrics`, which Prometheus reads: the state of the shop, and the times of this machine's pages, calls and tasks."""

import glob
import hmac
import os
from collections.abc import Callable, Iterable, Iterator

from django.conf import settings
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.http.request import split_domain_port, validate_host
from django.urls import ResolverMatch
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from alerts.models import Alert
from callbacks.models import Callback, CallbackState
from core import health, heartbeats
from core.addresses import is_from_this_machine
from core.middleware import Middleware
from core.snapshot import snapshot
from exports.models import Export
from gateway.services import limit_use
from ledger.presenting import Funds
from purchases.models import Order
from purchases.states import OPEN
from reconciliation.services import compared_at
from upstream.config import is_loopback


class MachineCollector(Collector):
    """The measures of this machine's processes, in files of this pattern; several launchers may have started them."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def collect(self) -> Iterable[Metric]:
        """The sums of all files."""
        files = glob.glob(self._pattern)  # noqa: PTH207 - the pattern is a whole path
        merge: Callable[[list[str]], Iterable[Metric]] = multiprocess.MultiProcessCollector.merge
        return merge(files)


class ShopCollector(Collector):
    """The state of the shop at this moment. A few cheap queries a scrape, for tables of any size."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Each number as a gauge."""
        now = timezone.now()
        with snapshot():
            yield from _orders(now.timestamp())
            yield from _waiting(now.timestamp())
            yield from _books(now.timestamp())
        silent = GaugeMetricFamily(
            "backoffice_process_silent", "1 when a process has no heartbeat.", labels=["process"]
        )
        missing = health.silent_processes()
        for name in ("redis", *heartbeats.ROLES):
            silent.add_metric([name], float(name in missing))
        yield silent
        if use := limit_use():
            yield GaugeMetricFamily("backoffice_budget_used", "Requests that count against the limit now.", use.used)
            yield GaugeMetricFamily("backoffice_budget_limit", "How many may count at once.", use.calls)


def _orders(now: float) -> Iterator[GaugeMetricFamily]:
    rows = Order.objects.open().order_by().values_list("status").annotate(n=Count("pk"), oldest=Min("next_poll_at"))
    number = GaugeMetricFamily("backoffice_open_orders", "Orders that are not final.", labels=["status"])
    counts, late = dict.fromkeys(sorted(OPEN), 0), 0.0
    for status, count, oldest in rows:
        counts[status] = count
        late = max(late, now - oldest.timestamp() if oldest else 0.0)
    for status, count in counts.items():
        number.add_metric([status], count)
    yield number
    yield GaugeMetricFamily("backoffice_oldest_due_order_seconds", "How long the most overdue order waits.", late)


def _waiting(now: float) -> Iterator[GaugeMetricFamily]:
    callbacks = Callback.objects.filter(state=CallbackState.RECEIVED).aggregate(n=Count("pk"), first=Min("received_at"))
    yield GaugeMetricFamily("backoffice_callbacks_waiting", "Callbacks stored and not processed.", callbacks["n"])
    waits = now - callbacks["first"].timestamp() if callbacks["first"] else 0.0
    yield GaugeMetricFamily("backoffice_oldest_callback_seconds", "How long the oldest of them waits.", waits)
    yield GaugeMetricFamily("backoffice_files_waiting", "Files under way.", Export.objects.open().count())
    alerts = GaugeMetricFamily("backoffice_open_alerts", "Alerts that are open.", labels=["kind"])
    for kind, count in Alert.objects.open().order_by().values_list("kind").annotate(n=Count("pk")):
        alerts.add_metric([kind], count)
    yield alerts


def _books(now: float) -> Iterator[GaugeMetricFamily]:
    funds = Funds.now()
    if funds.balance is not None and funds.available is not None:
        yield GaugeMetricFamily("backoffice_balance_rupiah", "What the upstream should hold.", funds.balance)
        yield GaugeMetricFamily("backoffice_available_rupiah", "What a new order may spend.", funds.available)
    if at := compared_at():
        seconds = now - at.timestamp()
        yield GaugeMetricFamily("backoffice_last_compared_seconds", "Age of the last compared reading.", seconds)


class MetricsMiddleware(Middleware):
    """Answers `/metrics` before anything asks for TLS or for a host name of ours.

    Prometheus asks the port of the pages itself, in the shop's own network: without TLS, by an address.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The metrics, or the answer of the rest of the app."""
        if request.path_info != "/metrics":
            return self.get_response(request)
        # its name among the measured pages
        request.resolver_match = ResolverMatch(metrics, (), {}, url_name="metrics")
        return metrics(request)


@never_cache
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics in Prometheus' text format, for a client with METRICS_TOKEN; if that is not set, for this machine."""
    if not _may_read(request):
        return HttpResponseForbidden(f"{_why_not()}\n", content_type="text/plain")
    registry = REGISTRY
    if "METRICS_FILES" in os.environ:
        registry = CollectorRegistry()
        registry.register(MachineCollector(os.environ["METRICS_FILES"]))
    shop = CollectorRegistry()
    shop.register(ShopCollector())
    return HttpResponse(generate_latest(shop) + generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    return is_from_this_machine(request) and _is_asked_by_own_name(request)


def _why_not() -> str:
    if settings.METRICS_TOKEN:
        return "The bearer token is missing, or it is not METRICS_TOKEN."
    if settings.TRUSTED_PROXY_COUNT:
        return "With TRUSTED_PROXY_COUNT only the bearer of METRICS_TOKEN reads this, also on this machine: set one."
    return "Only with METRICS_TOKEN, or from this machine, by its own name and through no proxy."


def _is_asked_by_own_name(request: HttpRequest) -> bool:
    """Whether the host name in the request is ours: another site may let its own name lead to this machine."""
    host, _port = split_domain_port(request.META.get("HTTP_HOST") or request.META["SERVER_NAME"])
    return is_loopback(host.strip("[]")) or validate_host(host, settings.ALLOWED_HOSTS)
