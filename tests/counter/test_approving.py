"""A colleague approves a sale above the cashier's limit at the counter, and the sale goes on, once."""

import re
import uuid
from typing import Any

import pytest

from approvals.models import Approval
from core.rights import Role
from purchases.models import Order
from staff.models import User
from staff.services import make_link
from staff.services.links import accept_link
from testing.factories import entries_of, make_check
from testing.people import code_of, make_person, signed_in
from tests.approvals.helpers import ask_role
from tests.core.helpers import codes, has_id, words_at
from tests.counter.helpers import NUMBER, review, send, shelf_of_telkomsel
from tests.drawers.helpers import begin
from tests.ledger.helpers import open_books
from tests.staff.helpers import GOOD
from tests.tills.helpers import PIN, WRONG, give_pin, take_over, till_browser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def seller() -> User:
    shelf_of_telkomsel()
    open_books(1_000_000)
    return make_person("cashier", username="sari", own_approval_above=5_000)


@pytest.fixture
def supervisor() -> User:
    return make_person("supervisor")


def ask(browser: Any, **paid: str) -> Any:
    """Send a sale above the limit; returns the panel afterwards."""
    return send(browser, review(browser, f"{NUMBER} 10"), reason="A wedding", **paid)


def approve(browser: Any, approver: User, **typed: str) -> Any:
    """Type this colleague's password and code into the panel; returns the panel afterwards."""
    waiting = Approval.objects.get()
    fields = {"seal": waiting.seal, "approver": approver.pk, "secret": "secret-words", "code": code_of(approver)}
    address = f"/counter/approvals/{waiting.pk}/approve/"
    return browser.post(address, {**fields, **typed}, headers={"HX-Request": "true"})


def test_the_colleague_sees_what_is_approved_and_the_sale_goes_on(seller, supervisor):
    shift, browser = begin(seller, cash=100_000), signed_in(seller)

    asked = ask(browser, paid_by="cash", cash_given="20.000")

    assert (has_id(asked, "counter-approval"), Order.objects.count()) == (True, 0)
    assert words_at(asked, 'data-fact="destination"') == "0812-3456-7890"
    assert "Rp12.000" in words_at(asked, 'id="review-price"')
    answer = approve(browser, supervisor)
    order = Order.objects.get()
    assert f'data-sent="{order.ref_id}"' in answer.content.decode()
    assert (order.placed_by, order.destination, order.product_code) == (seller, NUMBER, "T10000")
    assert (order.payment.sold_in, order.payment.amount, order.payment.cash_given) == (shift, 12_000, 20_000)
    assert entries_of(order) == [("hold", 10_250)]
    assert (Approval.objects.get().state, Approval.objects.get().decided_by) == ("approved", supervisor)

    again = approve(browser, supervisor)
    assert (has_id(again, "approval-fault"), Order.objects.count()) == (True, 1)


def test_nothing_is_sent_without_password_and_code_of_the_colleague(seller, supervisor):
    browser = signed_in(seller)
    ask(browser)

    for typed in ({"seal": "x"}, {"secret": ""}, {"code": ""}, {"code": "000000"}, {"secret": "not theirs"}):
        assert has_id(approve(browser, supervisor, **typed), "approval-fault"), typed
        assert (Order.objects.count(), Approval.objects.get().state) == (0, "asked"), typed

    approve(browser, supervisor)  # the colleague did not have to wait after these
    assert Order.objects.count() == 1


def test_nobody_approves_their_own_or_without_the_right_or_for_another_asker(seller, supervisor):
    browser, other = signed_in(seller), make_person("cashier", username="other")
    page = ask(browser)
    offered = re.findall(r'<option value="(\d+)"', page.content.decode())

    assert offered == [str(supervisor.pk)]
    for person in (seller, other):
        assert has_id(approve(browser, person), "approval-fault")
    assert approve(signed_in(other), supervisor).status_code == 404
    assert (Order.objects.count(), Approval.objects.get().state) == (0, "asked")


def test_only_colleagues_who_may_approve_this_sale_are_offered(seller, supervisor):
    rosa = make_person("supervisor", username="rosa")
    make_person("supervisor", username="below", own_per_order=5_000)
    browser = signed_in(accept_link(make_link(seller, actor=supervisor), GOOD))

    offered = re.findall(r'<option value="(\d+)"', ask(browser).content.decode())

    assert offered == [str(rosa.pk)]
    assert has_id(approve(browser, supervisor), "approval-fault")
    assert (Order.objects.count(), Approval.objects.get().state) == (0, "asked")


def test_given_a_colleagues_request_for_the_same_then_a_pin_stays_at_the_counter(seller, supervisor):
    ask(signed_in(seller))
    till, other = till_browser(), give_pin(make_person("cashier", username="budi", own_approval_above=5_000))
    take_over(till, other)

    answer = till.get(ask(till).headers["HX-Redirect"])

    assert (answer.status_code, codes(answer)) == (200, {"AlreadyAsked"})
    assert Approval.objects.get().asked_by == seller


def test_a_sale_that_nobody_here_may_approve_waits_on_its_own_page(seller, supervisor):
    User.objects.filter(pk=supervisor.pk).update(own_per_order=5_000)

    answer = ask(signed_in(seller))

    assert answer.headers["HX-Redirect"] == Approval.objects.get().get_absolute_url()


def test_only_a_sale_or_a_bill_is_approved_at_the_counter(seller):
    owner, other = make_person("admin"), make_person("admin", username="other")
    approval = ask_role(seller, Role.SUPERVISOR, owner)

    answer = approve(signed_in(owner), other)

    assert (answer.status_code, Approval.objects.get().state) == (404, "asked")
    assert signed_in(owner).get(f"/counter/approvals/{approval.pk}/approve/").url == approval.get_absolute_url()


def test_what_keeps_an_approved_sale_back_names_no_cost_to_its_seller(seller, supervisor):
    browser = signed_in(seller)
    ask(browser)
    User.objects.filter(pk=seller.pk).update(own_per_order=10_000)

    answer = approve(browser, supervisor)

    assert (has_id(answer, "approval-fault"), Order.objects.count()) == (True, 0)
    assert "10.250" not in answer.content.decode()


def test_at_a_till_the_colleague_types_the_pin(seller, supervisor):
    browser = till_browser()
    give_pin(seller)
    give_pin(supervisor, "519372")
    take_over(browser, seller, PIN)
    ask(browser)

    assert has_id(approve(browser, supervisor, secret=WRONG), "approval-fault")
    approve(browser, supervisor, secret="519372")

    assert Order.objects.get().placed_by == seller
    assert Approval.objects.get().decided_by == supervisor


def test_beyond_the_limit_of_an_order_the_review_says_only_that(supervisor, seller):
    seller.own_per_order = 10_000
    seller.save()
    browser = signed_in(seller)

    page = review(browser, f"{NUMBER} 10")

    assert (has_id(page, "beyond-limit"), has_id(page, "approval-needed")) == (True, False)
    assert re.search(r'name="confirm" value="1" data-send\s+disabled', page.content.decode())
    within = review(browser, f"{NUMBER} 5")
    assert (has_id(within, "beyond-limit"), has_id(within, "approval-needed")) == (False, True)
    assert not re.search(r"data-send\s+disabled", within.content.decode())


def test_a_bill_of_several_is_approved_from_their_page_and_leads_back_to_it(seller, supervisor):
    begin(seller, cash=100_000)
    browser, check = signed_in(seller), make_check(batch=uuid.uuid4())
    address = f"/counter/batch/{check.batch}/"
    bill = f"{check.ref_id}:{check.total}"

    page = browser.post(f"{address}pay/", {"bill": bill, "reason": "A wedding"}, follow=True)

    assert Order.objects.count() == 0
    here = re.search(r'href="(/counter/approvals/[^"]+)"', page.content.decode())[1]
    assert has_id(browser.get(here), "counter-approval")
    assert signed_in(supervisor).get(here)["Location"] == Approval.objects.get().get_absolute_url()
    answer = approve(browser, supervisor)
    assert answer["HX-Redirect"] == address
    order = Order.objects.get()
    assert (order.placed_by, order.ref_id) == (seller, check.ref_id)
    assert entries_of(order) == [("hold", check.total)]
    assert browser.get(here)["Location"] == Approval.objects.get().get_absolute_url()
