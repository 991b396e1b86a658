"""Only some people see customers' full numbers, also those that somebody wrote into a note or a reason."""

import pytest

from approvals.models import Approval
from audit.services import record
from core import clock
from drawers.events import OPENING_EXPLAINED
from drawers.models import Outcome, Payment
from purchases.models import Incident, Order, OrderEvent, Verdict
from purchases.services import propose_verdict, write_note
from purchases.states import Status
from reconciliation.models import Difference
from reconciliation.services import acknowledge_top_up, announce_top_up, propose_adjustment
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person
from tests.approvals.helpers import approve
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import make_difference
from tests.roles.helpers import PART, PHONE, asked, text_of, who_sees_none

pytestmark = pytest.mark.django_db


def given_back(seller: User, note: str) -> Order:
    """A reversed order, whose money a person gave back with this note."""
    order = make_order(Status.REVERSED, destination=PHONE)
    given = {"outcome": Outcome.GIVEN, "given_by": seller, "given_at": clock.now(), "given_method": "qris"}
    Payment.objects.filter(pk=order.payment_id).update(**given, given_note=note)
    return order


def write_everywhere(order: Order, person: User, text: str) -> None:
    """A closed incident, an event and a decision of this order, with this text in each field that a person writes."""
    closed = {"closed_at": clock.now(), "closed_by": person, "closing_note": text}
    Incident.objects.create(order=order, kind="mismatch", source="poll", detail="price", raw={}, **closed)
    OrderEvent.objects.create(order=order, to_status=order.status, source="staff", actor=person, note=text)
    verdict = {"outcome": "failed", "order_status": "success", "evidence": text, "reason": text}
    Verdict.objects.create(order=order, proposed_by=person, **verdict)


def test_without_the_right_no_words_about_an_order_show_a_number():
    other, seller = "081377077077", make_person("cashier", username="seller")
    order = given_back(seller, f"sent to {other}")
    write_note(order, actor=seller, text=f"The right one is {other}")
    write_everywhere(order, seller, f"Asked {other}")
    record(OPENING_EXPLAINED, actor=seller, subject="shift 7", facts={"reason": f"owed by {other}"})

    browser, pages = who_sees_none("viewer"), [f"/orders/{order.ref_id}/", f"/orders/{order.ref_id}/panel/"]
    shown = [browser.get(page, headers={PART: "true"}).content.decode() for page in pages]
    assert [text.count("The right one is 0813•••••077") for text in shown] == [1, 1]
    assert [text.count("Asked 0813•••••077") for text in shown] == [4, 1]
    assert [text.count(other) for text in shown] == [0, 0]

    auditor = browser_of("auditor")
    story, file = (text_of(auditor.get(f"/orders/{order.ref_id}/{end}")) for end in ("story/", "story.json"))
    assert [text.count("Asked 0813•••••077") for text in (story, file)] == [4, 5]  # the file has the incident twice
    assert "sent to 0813•••••077" in file
    log = [text_of(auditor.get(path)) for path in ("/audit/", "/audit/csv/")]
    assert ["owed by 0813•••••077" in text for text in log] == [True] * 2
    assert [other in text for text in (story, file, *log)] == [False] * 4


def test_without_the_right_no_words_of_an_approval_show_a_number():
    other, leader = "081377077077", make_person("supervisor", username="leader", own_approval_above=10_000)
    sale = asked(make_product(price=20_000, selling_price=19_000), leader, reason=f"promo for {other}")
    order = make_order(Status.SUCCESS, destination=PHONE)
    words = {"evidence": f"mail about {other}", "reason": f"asked for {other}"}
    decision = propose_verdict(order, outcome="reversed", actor=leader, **words).approval
    auditor = browser_of("auditor")
    pages = [sale.get_absolute_url(), decision.get_absolute_url(), "/audit/", "/audit/csv/"]
    placed = approve(sale, make_person("admin", username="second")).result
    pages += [f"/orders/{placed}/story/", f"/orders/{placed}/story.json"]

    texts = [text_of(auditor.get(page)) for page in pages]

    assert ["0813•••••077" in text for text in texts] == [True] * len(pages)
    assert [other in text for text in texts] == [False] * len(pages)


def test_without_the_right_no_reason_in_the_books_shows_a_number():
    number, boss = "081377077077", make_person("administrator", username="boss")
    open_books(100_000)
    acknowledge_top_up(make_difference(5_000), actor=boss, note=f"sent by {number}")
    propose_adjustment(make_difference(-5_000), actor=boss, reason=f"charged for {number}")
    announce_top_up(amount=7_000, note=f"from {number}", actor=boss)
    auditor, pages = browser_of("auditor"), ["/balance/", "/balance/differences/?state=all", "/balance/statement/"]
    pages += [*(f"/balance/differences/{row.pk}/" for row in Difference.objects.all()), "/balance/statement/csv/"]
    pages += [Approval.objects.get().get_absolute_url(), "/work/?kind=topup"]

    answers = [auditor.get(page) for page in pages]
    texts = [text_of(answer) for answer in answers]

    assert [page for page, text in zip(pages, texts, strict=True) if "0813•••••077" not in text] == []
    assert [page for page, text in zip(pages, texts, strict=True) if number in text] == []
