"""The rows and queries of pages, searches and periodic work in a shop with thousands of orders.

PostgreSQL is told not to read tables from end to end, so it does that only where no index helps. No step of a plan may
read most of a table by an index, either. Timing is in benchmarks/pages.py.
"""

import re

import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts.services import evaluate_alerts
from backoffice.tasks import SOURCES
from benchmarks.pages import MOST_POLL_QUERIES, MOST_QUERIES, MOST_QUERIES_OF, addresses, pages
from bills.models import BillCheck
from callbacks.models import Callback
from gateway.dispatching import first_moments
from purchases.models import Order
from purchases.services import allowance_of, count_health, queue_waiting_orders
from reconciliation.services import position, prove, reconcile
from staff.models import User
from tests.plans import asked, plan_of, scans

# These tables stay small for any number of sales: they have one row, one a day and reason, or as many as products,
# people, drawers, faults or restores. Every other table grows.
FEW = {
    "audit_sealing", "bank_bankaccount", "branches_branch", "callbacks_callbackrefusalcount", "catalogue_brand",
    "catalogue_category", "catalogue_product", "catalogue_producthealth", "drawers_drawer", "gateway_upstreamaccount",
    "ledger_books", "ledger_proof", "ledger_runningday", "purchases_incident", "purchases_lostorder", "purchases_tag",
    "reconciliation_reconciliation", "staff_rolelimits", "staff_user",
}  # fmt: skip
# The rows that a step of a plan may read: the matches of one way of a search, or the rows that a page skips.
MOST_ROWS = 2_500
# The time of a query has parts of a second and is replaced; the bounds of days have none, and stay.
MOMENT = re.compile(r"'\d{4}-\d\d-\d\d[^']*\.\d[^']*'")
PERIODIC = {
    "due times": lambda: first_moments(SOURCES),
    "run with nothing new": reconcile,
    "alerts": evaluate_alerts,
    "due orders": lambda: list(Order.objects.due(timezone.now())[:50]),
    "due checks": lambda: list(BillCheck.objects.due(timezone.now())[:50]),
    "due callbacks": lambda: list(Callback.objects.due()[:50]),
    "orders that wait for a top-up": queue_waiting_orders,
    "reconciliation": position,
    "proof": prove,
    # the search of a person without full numbers
    "orders of a whole number": lambda: list(Order.objects.matching("6281234567890", by_part=False)[:50]),
    "checks of a whole number": lambda: list(BillCheck.objects.matching("1234567890", by_part=False)[:50]),
    "health of products": count_health,
    "what a cashier spent today": lambda: allowance_of(User(pk=User.objects.get(username="cashier").pk, own_per_day=1)),
}


def faults(name, questions, known):
    """The faults in the plans of this page's or task's queries.

    `known`: queries that were checked before, perhaps with another time; most pages share most of their queries.
    """
    for question in questions:
        asked_before = MOMENT.sub("''", question)
        if asked_before in known:
            continue
        known.add(asked_before)
        for table, kind, rows in scans(plan_of(question)):
            if table not in FEW and (kind == "Seq Scan" or rows > MOST_ROWS):
                yield f"{name}: {kind} of {rows} rows of {table}: {question[:300]}"


def too_wide_of_pages(owner):
    """The faults in the plans of every page and every search."""
    found, known = [], set()
    for name, address in addresses():
        with CaptureQueriesContext(connection) as queries:
            assert owner.get(address).status_code == 200, address
        found += faults(name, asked(queries.captured_queries), known)
    return found


def too_many_of_pages(owner):
    """The pages and polls that take too many queries, with the number of queries."""
    found = {}
    with time_machine.travel(timezone.now(), tick=False):  # in another minute, a poll finds the page changed
        for name, (address, headers) in dict(pages(lambda address: owner.get(address).content.decode())).items():
            with CaptureQueriesContext(connection) as queries:
                assert owner.get(address, headers=headers).status_code == 200, address
            usual = MOST_POLL_QUERIES if name.startswith("poll") else MOST_QUERIES
            if len(queries) > MOST_QUERIES_OF.get(name, usual):
                found[name] = len(queries)
    return found


def too_wide_of_periodic_work():
    """The faults in the plans of periodic work. It changes the shop."""
    found = []
    for name, work in PERIODIC.items():
        with CaptureQueriesContext(connection) as queries:
            work()
        found += faults(name, asked(queries.captured_queries), set())
    return found
