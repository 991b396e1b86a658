"""A request is void once its asker, or the person it is for, has lost the right or is switched off."""

from functools import partial

import pytest
from django.contrib.auth.models import Permission
from django.utils import translation

from approvals.presenting import ShownApproval
from audit.models import AuditEvent
from catalogue.models import Product
from core.rights import Role
from ledger.services import books
from purchases.models import Order
from staff.models import User
from staff.roles import give_role
from staff.services import Limits, change_limits, change_role, deactivate, limits_of
from testing.factories import make_check, make_product
from testing.people import make_person
from tests.approvals.helpers import MORE, approve, approver, ask_bill, ask_order, asked, cashier
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db

LOST = {
    "switched off": lambda person: deactivate(person, actor=None),
    "lower role": lambda person: change_role(person, Role.VIEWER, actor=None),
    "no role": lambda person: person.groups.clear(),
}
LOST_FOR_BILLS = {
    "switched off": LOST["switched off"],
    "no bills": lambda person: person.groups.get().permissions.remove(Permission.objects.get(codename="check_bill")),
}
ORDERS = {
    "purchase": lambda person: ask_order(make_product(price=12_000), person),
    "bill": lambda person: ask_bill(make_check(), person),
}


def test_given_an_asker_without_the_right_then_no_order():
    open_books(1_000_000)
    budi = approver()
    for order, lost, lose in (
        *(("purchase", lost, lose) for lost, lose in LOST.items()),
        *(("bill", lost, lose) for lost, lose in LOST_FOR_BILLS.items()),
    ):
        sari = cashier(f"{order} {lost}", own_approval_above=10_000)
        approval = ORDERS[order](sari)
        lose(sari)

        decided = approve(approval, budi)

        assert (decided.state, decided.changes["code"]) == ("void", "ApprovalRefused:not_asker"), (order, lost)
        assert not Order.objects.exists(), (order, lost)
        assert books().reserved == 0
        assert AuditEvent.objects.filter(kind="approval_void", subject=f"approval:{approval.pk}").exists()


def test_given_void_then_each_reads_why_in_their_language():
    sari = cashier(own_approval_above=10_000)
    product = make_product(price=12_000)
    approval = ask_order(product, sari)
    Product.objects.filter(pk=product.pk).update(availability="inactive")

    with translation.override("id"):
        decided = approve(approval, approver())

    words_by_language = {}
    for language in ("en", "id"):
        with translation.override(language):
            words_by_language[language] = ShownApproval(decided, sari).void_words
    assert decided.state == "void"
    assert words_by_language == decided.changes["words"]
    assert words_by_language["en"] != words_by_language["id"]


def test_given_the_right_back_later_then_void_stays_void():
    sari = cashier(own_approval_above=10_000)
    approval = ORDERS["purchase"](sari)
    deactivate(sari, actor=None)
    approve(approval, approver())
    User.objects.filter(pk=sari.pk).update(is_active=True)
    give_role(User.objects.get(pk=sari.pk), Role.CASHIER)

    with pytest.raises(Exception, match="decided before"):
        approve(approval, approver("second"))

    assert not Order.objects.exists()


def test_given_limits_for_somebody_who_left_then_void():
    first, second = approver("first"), approver("second")
    for lost, lose in LOST.items():
        sari = make_person("cashier", username=lost, own_per_order=100_000)
        approval = asked(partial(change_limits, sari, MORE, actor=first))
        lose(sari)

        assert approve(approval, second).state == "void", lost
        assert limits_of(User.objects.get(pk=sari.pk)).per_order == 100_000, lost


def test_given_limits_by_an_asker_without_the_right_then_void():
    first, second = approver("first"), approver("second")
    sari = make_person("cashier", username="sari", own_per_order=100_000)
    approval = asked(partial(change_limits, sari, MORE, actor=first))
    User.objects.filter(pk=first.pk).update(is_superuser=False)

    assert approve(approval, second).changes["code"] == "ApprovalRefused:not_asker"
    assert limits_of(User.objects.get(pk=sari.pk)).per_order == 100_000


def test_given_a_role_for_somebody_switched_off_then_void():
    first, second = approver("first"), approver("second")
    sari = make_person("cashier", username="sari")
    approval = asked(lambda: change_role(sari, Role.SUPERVISOR, actor=first))
    deactivate(sari, actor=None)

    assert approve(approval, second).changes["code"] == "NotAllowed:switched_off"
    assert sari.groups.get().name == "cashier"


def test_given_an_approver_switched_off_or_lower_limits_of_the_asker_then_no_order():
    """The person may not spend so much at all any more, and a second person cannot change that."""
    open_books(1_000_000)
    sari, budi, other = cashier(own_approval_above=10_000), approver(), approver("other")
    approval = ORDERS["purchase"](sari)
    deactivate(budi, actor=None)
    with pytest.raises(Exception, match="may not"):
        approve(approval, User.objects.get(pk=budi.pk))

    change_limits(sari, Limits(per_order=11_000, per_day=None, approval_above=10_000), actor=None)
    with pytest.raises(Exception, match="11"):
        approve(approval, other)

    approval.refresh_from_db()
    assert approval.is_open
    assert not Order.objects.exists()
