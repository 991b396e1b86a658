"""The release of a batch by a second person: above a limit, and for a cashier who may release none."""

import pytest
from django.contrib.auth.models import Permission
from django.db.models import F

from approvals.models import Approval
from approvals.services import why_not_approved_by
from batches.models import Batch
from batches.services import release, releasing, seal_of
from catalogue.models import Product
from drawers.models import Drawer
from drawers.services import PaymentFacts
from gateway.models import Exchange
from ledger.models import Entry
from purchases.models import Order
from staff.models import User
from testing.factories import make_biller, make_check, make_product
from testing.people import Browser, browser_of, code_of, make_person, signed_in
from tests.batches.helpers import checked, press_release, send_all
from tests.branches.helpers import make_branch
from tests.conftest import Upstream
from tests.core.helpers import codes, has_id
from tests.credit.helpers import give_credit
from tests.drawers.helpers import begin, make_drawer
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db


TABLE = "081290000001;10;Sari\n081290000102;20;Budi\n087812345678;TSEL10;Ani\n0812;10;Edo\n"


def test_above_the_limit_a_second_person_approves_exactly_these_rows(
    upstream: Upstream, browser: Browser, seller: User
):
    User.objects.filter(pk=seller.pk).update(own_approval_above=15_000)
    batch = checked(TABLE, seller)
    begin(seller, drawer=make_drawer("Left till"))

    press_release(browser, batch, reason="Staff credit")

    approval = Approval.objects.get()
    batch.refresh_from_db()
    assert (batch.state, approval.facts["rows"], approval.facts["sha256"]) == ("checked", 2, seal_of(batch))
    other = browser_of("administrator")
    page = other.get(f"/approvals/{approval.pk}/").content.decode()
    assert "Cash" in page.partition("Paid by")[2][:200]
    assert f"Left till · {seller.shown_name}" in page
    other.confirm(f"/approvals/{approval.pk}/approve/", {"seal": approval.seal})
    send_all(batch)
    assert [order.status for order in Order.objects.all()] == ["success", "success"]
    assert {order.placed_by for order in Order.objects.all()} == {seller}


def test_given_a_colleagues_request_then_the_tables_cashier_is_not_led_to_it(browser: Browser, seller: User):
    User.objects.filter(pk=seller.pk).update(own_approval_above=15_000)
    make_product(code="TSEL10", price=12_000)
    make_product(code="TSEL20", price=22_000)
    cashier = make_person("cashier", username="ani")
    batch = checked("081290000001;TSEL10\n081290000102;TSEL20\n", cashier)
    press_release(browser, batch, reason="Staff credit")
    address = Approval.objects.get().get_absolute_url()

    pages = [reader.get(f"/batches/{batch.pk}/") for reader in (browser, signed_in(cashier))]

    assert [has_id(page, "batch-waits") for page in pages] == [True, True]
    assert [f'href="{address}"' in page.content.decode() for page in pages] == [True, False]
    assert signed_in(cashier).get(address).status_code == 404


@pytest.mark.parametrize("above", [0, 1])
def test_what_customers_pay_for_all_rows_counts_above_the_limit(
    upstream: Upstream, browser: Browser, seller: User, above: int
):
    # given: two rows; the customers' prices are so many rupiah above the limit, the costs are below it
    is_above = above > 0
    Product.objects.filter(type="prepaid").update(selling_price=F("price") + 1_500)
    batch = checked("081290000001;10;Sari\n081290000102;20;Budi\n", seller)
    totals = batch.rows.totals()
    assert totals["pays"] == totals["cost"] + 3_000
    User.objects.filter(pk=seller.pk).update(own_approval_above=totals["pays"] - above)
    begin(seller, drawer=make_drawer("Left till"))

    # when
    page = browser.get(f"/batches/{batch.pk}/")
    press_release(browser, batch, reason="Staff credit")
    batch.refresh_from_db()
    send_all(batch)

    # then: the page has said so, and nothing was stored, reserved or sent without a second person
    assert has_id(page, "approval-needed") == is_above
    assert (Approval.objects.count(), batch.state) == ((1, "checked") if is_above else (0, "ended"))
    orders = list(Order.objects.order_by("pk"))
    assert [upstream.ledger(order) for order in orders] == [[("debit", -order.max_price)] for order in orders]
    held = Entry.objects.filter(kind="hold").values_list("amount", flat=True)
    assert sum(held) == (0 if is_above else totals["cost"])
    for row in batch.rows.all():
        sent = upstream.control("requests", ref_id=row.ref_id)["requests"]
        assert len([call for call in sent if call["endpoint"].endswith("create")]) == (0 if is_above else 1)


@pytest.mark.parametrize(
    ("cost", "pays", "is_asked", "is_on_credit"),
    [
        (200_002, 190_000, True, False),
        (190_000, 200_002, True, True),
        (200_000, 190_000, False, True),
        (190_000, 200_000, False, False),
    ],
)
def test_of_several_bills_the_higher_sum_counts(
    seller: User, monkeypatch: pytest.MonkeyPatch, cost: int, pays: int, *, is_asked: bool, is_on_credit: bool
):
    # given: two bills; the check refuses a cost above the price, so the test writes the rows itself
    open_books(1_000_000)
    seller.own_approval_above = 200_000
    seller.save(update_fields=["own_approval_above"])
    biller = make_biller(code="PDAM1")
    batch = checked("531290000001;PDAM1\n531290000102;PDAM1\n", seller)
    for row in batch.rows.all():
        check = make_check(product=biller, destination=row.destination)
        prices = {"max_price": cost // 2, "selling_price": pays // 2}
        batch.rows.filter(pk=row.pk).update(state="ready", fault="", bill_check=check, **prices)
    monkeypatch.setattr(releasing, "recheck", lambda _batch: None)
    customer = give_credit(cap=1_000_000) if is_on_credit else None
    calls = Exchange.objects.count()

    page = signed_in(seller).get(f"/batches/{batch.pk}/")
    approval = release(
        batch,
        actor=seller,
        seal=seal_of(batch),
        payment=PaymentFacts(method="credit" if is_on_credit else "cash", customer=customer),
    )

    batch.refresh_from_db()
    assert has_id(page, "approval-needed") == is_asked
    assert (approval is not None, batch.state) == (is_asked, "checked" if is_asked else "running")
    assert (Order.objects.count(), Entry.objects.exclude(ref_id="").exclude(ref_id=None).count()) == (0, 0)
    assert Exchange.objects.count() == calls


def test_a_cashier_asks_for_the_release_and_the_money_is_counted_in_the_cashiers_shift(
    upstream: Upstream, browser: Browser, seller: User
):
    # given: Sari has taken the cash for a table, which only other people may release
    sari = make_person("cashier")
    shift = begin(sari, drawer=make_drawer("Left till"))
    batch = checked("081290000001;10\n", sari)

    signed_in(sari).post(f"/batches/{batch.pk}/ask/", {"seal": seal_of(batch), "paid_by": "cash"})

    # then: nothing is sold yet, and Work has a row, whose page names the asker and the way to pay
    batch.refresh_from_db()
    approval = Approval.objects.get()
    assert (batch.state, Order.objects.count()) == ("checked", 0)
    work = browser.get("/work/").content.decode()
    assert f'id="row-approval-{approval.pk}"' in work
    page = browser.get(f"/approvals/{approval.pk}/").content.decode()
    assert all(words in page for words in ("Cash", sari.shown_name, f"Left till · {sari.shown_name}"))
    assert work.split('id="count-work"')[1].split(">")[1].split("<")[0] == "1"
    assert f"Left till · {sari.shown_name}" in browser.get(f"/batches/{batch.pk}/").content.decode()

    # when: the supervisor releases it; somebody who may release none does not
    other = make_person("cashier", username="budi")
    other.user_permissions.add(Permission.objects.get(codename="approve_order"))
    refusal = why_not_approved_by(approval, other)
    assert refusal
    assert (refusal.code, why_not_approved_by(approval, seller)) == ("BatchRefused:not_releaser", None)
    browser.confirm(f"/approvals/{approval.pk}/approve/", {"seal": approval.seal})
    send_all(batch)

    # then: Sari has sold it, by the supervisor's right
    order = Order.objects.get()
    assert (order.status, order.placed_by, order.payment.sold_in) == ("success", sari, shift)
    assert (batch.state, batch.released_by) == ("ended", sari)


def test_an_approval_names_no_drawer_of_another_branch():
    # given: a cashier of the first branch asks, while their open drawer is in another branch
    open_books(1_000_000)
    make_product(price=12_000)
    sari = make_person("cashier", username="sari", first_name="Sari Dewi")
    begin(sari, drawer=Drawer.objects.create(name="Laci Tebet 9", branch=make_branch()))
    batch = checked("081290000001;10\n", sari)
    signed_in(sari).post(f"/batches/{batch.pk}/ask/", {"seal": seal_of(batch), "paid_by": "cash"})
    address = f"/approvals/{Approval.objects.get().pk}/"

    bound = browser_of("supervisor", username="bound", bound_since="2026-01-01T00:00Z").get(address).content.decode()
    whole = browser_of("supervisor", username="whole").get(address).content.decode()

    assert ("Laci Tebet 9" in bound, "Drawer of another branch" in bound) == (False, True)
    assert "Laci Tebet 9 · Sari Dewi" in whole


def test_a_change_after_the_request_is_asked_about_again(upstream: Upstream, browser: Browser, seller: User):
    User.objects.filter(pk=seller.pk).update(own_approval_above=15_000)
    batch = checked(TABLE, seller)
    press_release(browser, batch)
    approval = Approval.objects.get()

    browser.post(f"/batches/{batch.pk}/rows/1/", {"step": "leave_out"})
    assert 'id="batch-asked-before"' in browser.get(f"/batches/{batch.pk}/").content.decode()
    other = make_person("administrator")
    signed_in(other).post(f"/approvals/{approval.pk}/approve/", {"seal": approval.seal, "factor_code": code_of(other)})

    approval.refresh_from_db()
    batch.refresh_from_db()
    assert (approval.state, batch.state) == ("void", "checked")
    assert not Order.objects.exists()


def test_a_cashier_checks_tables_and_sees_the_own_ones_alone(upstream: Upstream, cashier: Browser, seller: User):
    others = checked(TABLE, seller)

    answer = cashier.post("/batches/new/", {"text": "081290000001;10\n"}, follow=True)

    own = Batch.objects.latest("pk")
    assert f'action="/batches/{own.pk}/ask/"' in answer.content.decode()
    assert cashier.post(f"/batches/{own.pk}/release/", {"seal": seal_of(own)}).status_code == 403
    assert cashier.get(f"/batches/{others.pk}/").status_code == 404
    page = cashier.get("/batches/").content.decode()
    assert f"/batches/{own.pk}/" in page
    assert f"/batches/{others.pk}/" not in page


def test_a_limit_names_no_cost_to_somebody_who_may_not_see_it(cashier: Browser):
    make_product(code="TSEL10", name="Telkomsel 10.000", price=10_250, selling_price=12_000)
    User.objects.filter(username="cashier").update(own_per_order=10_000)
    page = cashier.post("/batches/new/", {"text": "081290000001;TSEL10\n"}, follow=True)
    batch = Batch.objects.get()

    asked = cashier.post(f"/batches/{batch.pk}/ask/", {"seal": seal_of(batch), "paid_by": "cash"})

    for answer in (page, asked):
        assert "LimitReached:per_order" in codes(answer)
        assert "10.250" not in answer.content.decode()
