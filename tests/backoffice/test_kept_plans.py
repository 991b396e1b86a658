"""A connection's kept plans work after a change of their tables; behind a pooler no plan is kept."""

import os
import subprocess
import sys
from contextlib import closing

import pytest
from django.conf import settings
from django.db import connection, transaction

from core.together import Given, Together
from purchases.models import Order
from staff.models import User
from testing.database import app_url
from testing.people import make_person, signed_in
from tests.drawers.helpers import begin, sell

pytestmark = pytest.mark.django_db(transaction=True)

# The changes of the table of orders by another connection, and the changes back.
CHANGES = [
    ("ADD of_tests text NOT NULL DEFAULT ''", "DROP of_tests"),
    ("ALTER polls TYPE bigint", "ALTER polls TYPE integer"),
]
# A small process like a page's: it sends one query twice, and prints the number of plans that the server keeps.
ASKS_TWICE = """
import django; django.setup()
from django.db import connection
from core.together import Given, Together
from purchases.models import Order
often = Together(Order.objects.filter(pk=Given("key")))
often.read(key=1), often.read(key=2)
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM pg_prepared_statements")
    print(*cursor.fetchone())
"""


def test_given_kept_plans_when_their_table_changes_then_a_page_goes_on():
    person, order = sold()
    browser = signed_in(person)
    for change, back in CHANGES:
        browser.get("/counter/")
        kept = kept_plans()

        alter(change)
        try:
            page = browser.get("/counter/")
        finally:
            alter(back)

        assert (page.status_code, order.ref_id in page.content.decode()) == (200, True), change
        assert kept_plans() == kept > 0, change


def test_given_a_transaction_when_a_table_changes_then_it_is_committed():
    person, order = sold()
    often = Together(Order.objects.filter(pk=Given("key")))
    for change, back in CHANGES:
        often.read(key=order.pk)
        kept = kept_plans()

        try:
            with transaction.atomic():
                User.objects.filter(pk=person.pk).update(first_name=change)
                alter(change)
                rows = often.read(key=order.pk)
        finally:
            alter(back)

        assert rows == [[order]]
        assert User.objects.get(pk=person.pk).first_name == change
        assert kept_plans() == kept > 0, change


@pytest.mark.parametrize(("pooled", "kept"), [("0", "1"), ("1", "0")])
def test_given_a_pooler_when_a_question_is_asked_then_no_plan_is_kept(pooled, kept):
    facts = {"DATABASE_URL": app_url(), "DATABASE_POOLED": pooled, "DJANGO_SETTINGS_MODULE": "backoffice.settings"}
    command = [sys.executable, "-c", ASKS_TWICE]

    asked = subprocess.run(
        command, cwd=settings.BASE_DIR, env=os.environ | facts, capture_output=True, text=True, check=False
    )

    assert asked.stdout.split() == [kept], asked.stderr


def sold():
    """A cashier with an open shift, and the cashier's order."""
    person = make_person("cashier")
    begin(person)
    return person, sell(person)


def alter(change):
    """Change the table of orders from another connection, as a migration does."""
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute(f"ALTER TABLE purchases_order {change}")


def kept_plans():
    """The number of plans of queries for orders that the connection keeps."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement ~ 'purchases_order'")
        return cursor.fetchone()[0]
