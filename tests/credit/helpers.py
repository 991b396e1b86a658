"""Customers with credit for the tests of several rooms."""

import datetime as dt
import uuid
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from catalogue.models import Product
from credit.errors import CreditRefused
from credit.models import CreditAccount
from customers.models import Customer
from drawers.models import Payment
from drawers.services import PaymentFacts, give_back
from purchases.models import Order
from staff.models import User
from testing.factories import make_product
from testing.orders import place
from tests.customers.helpers import make_customer


def give_credit(name: str = "Bu Sri", *, cap: int = 100_000, due_days: int = 14) -> Customer:
    """A customer with a credit cap of so much (rupiah)."""
    customer = make_customer(name)
    CreditAccount.objects.create(customer=customer, cap=cap, due_days=due_days)
    return customer


def sell_to(customer: Customer, amount: int = 10_000, *, by: User, product: Any = None, **facts: Any) -> Order:
    """An order for so much (rupiah) that this person has sold on credit."""
    on_credit = PaymentFacts(method="credit", customer=customer)
    return place(product or make_product(price=amount), placed_by=by, payment=on_credit, **facts)


def take_off(order: Order, *, actor: User, customer: Customer | None = None) -> Payment:
    """Take the order's price off an account."""
    return give_back(order.payment, method="credit", actor=actor, customer=customer)


def account_of(customer: Customer) -> CreditAccount:
    """The account as it is now."""
    return CreditAccount.objects.get(customer=customer)


def owed_by(customer: Customer) -> int:
    """The rupiah that this customer owes by the account's row; asserts that they are the sum of its entries."""
    account = account_of(customer)
    assert account.balance == sum(account.entries.values_list("amount", flat=True))
    return account.balance


def made_due(customer, days_ago):
    """Date all of this customer's debts back, so that they were due so many days ago."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        day = timezone.localdate() - dt.timedelta(days=days_ago)
        cursor.execute("UPDATE credit_creditentry SET due_on = %s WHERE due_on IS NOT NULL", [day])
        cursor.execute("UPDATE credit_creditaccount SET oldest_due = %s WHERE balance > 0", [day])
        cursor.execute("SET LOCAL session_replication_role = origin")


def sold_earlier(customer, days_ago):
    """Date the entries of this customer back by so many days; what is due stays."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        entries = "UPDATE credit_creditentry SET at = at - %s WHERE account_id = %s"
        cursor.execute(entries, [dt.timedelta(days=days_ago), account_of(customer).pk])
        cursor.execute("SET LOCAL session_replication_role = origin")


def refused(reason: str) -> Any:
    """Assert that the block is refused for this reason."""
    return pytest.raises(CreditRefused, check=lambda refusal: refusal.reason == reason)


def fault_codes(form: Any) -> list[str]:
    """The codes of a form's errors."""
    return [fault.code for faults in form.errors.as_data().values() for fault in faults]


def page_of(browser: Client, path: str) -> str:
    """The page at this address; asserts that it answers."""
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def send_sale(browser: Client, product: Product, destination: str, **more: Any) -> Any:
    """Confirm the review of this sale; returns the answer."""
    fields = {"product": product.code, "destination": destination, "price": product.sells_for, "token": uuid.uuid4()}
    return browser.post("/counter/send/", fields | {"confirm": "1"} | more)
