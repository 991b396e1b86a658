"""The pages of drawers: each person's view and acts there."""

import re
import uuid

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from drawers.errors import DifferenceUnexplained
from drawers.models import Drawer, DrawerEntry, Payment, Shift
from drawers.services import PaymentFacts, close_shift, pay_in
from policies.services import change_policies
from purchases.states import Status
from staff.models import User
from testing.orders import never_arrived
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import codes, counts_at, has_id, words, words_at
from tests.drawers.helpers import begin, counted, end, make_drawer, message_codes, pieces_of, sell
from workbench.services.story import read_story

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_cashier_opens_pays_out_and_closes():
    browser, drawer = browser_of("cashier"), make_drawer()
    amount_typed = browser.post("/drawer/open/", {"drawer": drawer.pk, "pieces_1000": "200.000"})
    assert list(amount_typed.context["form"].errors) == ["pieces_1000"]
    assert not Shift.objects.exists()
    assert browser.get("/drawer/open/")["Location"] == "/drawer/"  # that address, opened again
    person = User.objects.get(username="cashier")
    assert browser.post("/drawer/open/", counted(150_000, drawer=drawer.pk)).status_code == 302
    sell(person, 10_500)

    page = browser.get("/drawer/").content.decode()
    assert 'data-amount="160500"' in page
    out = {"way": "out", "reason": "Petrol", "token": str(uuid.uuid4())}
    form = browser.post("/drawer/paid/", {**out, "amount": "900.000.000"}).context["form"]
    assert [error.code for error in form.errors.as_data()["amount"]] == ["TooLittleCash"]
    assert form["amount"].value() == "900.000.000"
    assert DrawerEntry.objects.count() == 1
    browser.post("/drawer/paid/", {**out, "amount": "20.000"})
    shift = Shift.objects.get()
    again = browser.post(f"/shifts/{shift.pk}/close/", counted(140_000))
    assert again.status_code == 200
    assert list(again.context["form"].errors) == ["reason"]
    done = browser.post(f"/shifts/{shift.pk}/close/", counted(140_000, reason="No small change"))

    shift.refresh_from_db()
    assert (done.status_code, shift.expected, shift.difference) == (302, 140_500, -500)


def test_a_drawer_is_handed_over_with_both_names():
    shift, next_person = begin(cash=100_000), make_person("supervisor")
    browser = signed_in(shift.cashier)

    browser.post(f"/shifts/{shift.pk}/close/", counted(100_000, to=next_person.pk, secret="secret-words"))

    assert Shift.objects.get(closed_at=None).cashier == next_person
    taken = Shift.objects.get(closed_at=None)
    page = browser.get(f"/shifts/{shift.pk}/").content.decode()
    assert 'id="handed-to"' in page
    assert f'href="/shifts/{taken.pk}/"' not in page  # which a cashier may not open
    browser.force_login(next_person)
    page = browser.get(f"/shifts/{taken.pk}/").content.decode()
    assert re.search(rf'id="taken-from">\s*<a href="/shifts/{shift.pk}/"', page)


def test_a_form_that_comes_too_late_says_so_with_what_was_typed():
    browser, drawer = browser_of("cashier"), make_drawer()
    cashier, other = User.objects.get(username="cashier"), make_person("cashier", username="other")
    begun = begin(other, drawer=drawer, cash=100_000)
    count = counted(120_000, drawer=drawer.pk, reason="Kept safe")

    taken = browser.post("/drawer/open/", count)
    close_shift(begun, pieces=pieces_of(100_000), actor=other)
    shift = begin(cashier, drawer=drawer, cash=100_000)
    own = browser.post("/drawer/open/", count, follow=True)
    close_shift(shift, pieces=pieces_of(100_000), actor=cashier)
    closed = browser.post(f"/shifts/{shift.pk}/close/", count, follow=True)
    paid = browser.post("/drawer/paid/", {"way": "out", "amount": "20.000", "reason": "Petrol"}, follow=True)
    twice = browser.post(f"/shifts/{shift.pk}/close/", counted(100_000), follow=True)

    assert (list(taken.context["form"].errors), taken.context["form"]["reason"].value()) == (["drawer"], "Kept safe")
    assert re.search(r'name="pieces_100000" value="1"', taken.content.decode())
    for page, code in ((own, "open_before"), (closed, "closed_before")):
        words = " ".join(map(str, page.context["messages"]))
        assert code in codes(page)
        assert all(part in words for part in ("Rp120.000", "Kept safe"))
    assert "Petrol" in " ".join(map(str, paid.context["messages"]))
    assert "closed_before" not in codes(twice)
    assert Shift.objects.count() == 2


def test_a_cashier_sees_the_own_shifts_only_and_others_no_payment():
    shift = begin(make_person("cashier", username="other"))
    order = sell(shift.cashier)
    browser = browser_of("cashier")

    for path in ("", "close/", "csv/"):
        assert browser.get(f"/shifts/{shift.pk}/{path}").status_code == 403
    page = browser_of("viewer").get(f"/orders/{order.ref_id}/").content.decode()
    assert 'id="order-sale"' not in page
    assert 'href="/drawer/"' not in page


def test_the_order_page_its_story_and_its_receipt_say_how_it_was_paid():
    shift = begin()
    order = sell(shift.cashier, 10_500)
    browser, address = signed_in(shift.cashier), f"/orders/{order.ref_id}/"

    page = browser.get(address).content.decode()
    assert 'data-method="cash"' in page
    assert re.findall(r'name="method" value="(\w+)"', page) == ["cash", "transfer", "qris", "card", "credit"]
    browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "qris"})

    assert 'data-method="qris"' in browser.get(address).content.decode()
    assert [payment.amount for payment in read_story(order.ref_id).of(Payment)] == [10_500]
    assert f'href="/shifts/{shift.pk}/"' in browser_of("auditor").get(f"{address}story/").content.decode()
    end(order, "success")
    browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "cash", "cash_given": "20.000"})
    receipt = browser.get(f"{address}receipt/").content.decode()
    assert 'id="struk-cash"' in receipt
    assert "Rp9.500" in receipt


def test_the_order_page_shows_a_sale_for_cash_that_is_in_no_drawer():
    # given a sale before the shop has drawers, and one by a person and one by a command after the first shift
    ani = make_person("cashier")
    orders = [sell(ani, 10_500)]
    begin(make_person("cashier", username="budi"))
    orders += [sell(ani, 10_500), sell(None, 10_500)]
    browser = browser_of("supervisor")

    def shows() -> list[bool]:
        pages = [browser.get(f"/orders/{order.ref_id}/").content.decode() for order in orders]
        return ['id="sale-nowhere"' in page and 'data-method="cash"' in page for page in pages]

    # then the page says it of the second one alone, also after its end and without today's drawers
    assert shows() == [False, True, False]
    end(orders[1], "success")
    Drawer.objects.update(is_active=False)
    assert shows() == [False, True, False]


def test_what_comes_back_after_closing_is_on_both_pages():
    first = begin(cash=100_000)
    order = sell(first.cashier, 5_000)
    close_shift(first, pieces=pieces_of(105_000), actor=first.cashier)
    end(order, "failed")
    second = begin(first.cashier, drawer=first.drawer, cash=105_000)
    browser = signed_in(first.cashier)
    for path in ("/drawer/", f"/shifts/{first.pk}/"):  # until a person gives it back
        assert 'id="unsettled"' in browser.get(path).content.decode()
    assert f">{order.ref_id}<" in browser_of("auditor").get("/refunds/").content.decode()

    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "cash", "shift": second.pk})

    assert 'id="refund-late"' in browser.get(f"/orders/{order.ref_id}/").content.decode()
    assert 'id="later"' in browser.get(f"/shifts/{first.pk}/").content.decode()
    assert 'id="unsettled"' not in browser.get("/drawer/").content.decode()
    assert f"sold in shift {first.pk}" in browser.get(f"/shifts/{second.pk}/").content.decode()


def test_an_administrator_adds_renames_and_ends_drawers():
    browser = browser_of("administrator")
    browser.post("/drawers/", {"name": "Front", "is_active": "on"})
    drawer = Drawer.objects.get()
    shift = begin(drawer=drawer)
    browser.post(f"/drawers/{drawer.pk}/", {"name": "Back"})
    drawer.refresh_from_db()
    assert drawer.is_active
    close_shift(shift, pieces=pieces_of(200_000), actor=shift.cashier)

    browser.post(f"/drawers/{drawer.pk}/", {"name": "Back"})

    drawer.refresh_from_db()
    assert (drawer.name, drawer.is_active) == ("Back", False)

    page = browser.post(f"/drawers/{drawer.pk}/", {"name": " "}, follow=True)

    drawer.refresh_from_db()
    assert drawer.name == "Back"
    assert message_codes(page)[-1] == "drawer_not_saved"


def test_only_who_sees_costs_sees_them_on_shifts_and_days():
    browser = browser_of("viewer")
    shift = begin(cash=100_000)
    end(sell(shift.cashier, 5_000), "success")
    close_shift(shift, pieces=pieces_of(105_000), actor=shift.cashier)
    today = timezone.localdate().isoformat()

    seller = make_person("cashier", username="seller")
    seller.user_permissions.add(Permission.objects.get(codename="view_shifts"))
    for person, sees in ((make_person("supervisor"), True), (seller, False)):
        browser.force_login(person)
        assert ('id="shift-cost"' in browser.get(f"/shifts/{shift.pk}/").content.decode()) == sees
        day_file = b"".join(browser.get(f"/shifts/days/{today}/csv/").streaming_content).decode()
        assert ("profit" in day_file) == sees


def test_a_shift_that_was_opened_with_a_difference_is_found_says_so_and_counts_for_its_person():
    # given: 200.000 were left; the next shift began with 100.000, and was closed with 5.000 too little
    drawer = make_drawer()
    first = begin(cash=200_000, drawer=drawer)
    close_shift(first, pieces=pieces_of(200_000), actor=first.cashier)
    second = begin(make_person("cashier", username="budi"), cash=100_000, drawer=drawer)
    browser = browser_of("auditor")

    opened = browser.get("/shifts/?state=difference").content.decode()
    close_shift(second, pieces=pieces_of(95_000), actor=second.cashier, reason="?")
    closed = browser.get("/shifts/?state=difference").content.decode()

    assert [f"/shifts/{shift.pk}/" in opened for shift in (first, second)] == [False, True]
    assert ["−Rp100.000" in closed, "−Rp5.000" in closed] == [True, True]
    beside = browser.get(f"/earnings/beside/{second.cashier_id}/").content.decode()
    assert "−Rp105.000" in beside.split('data-person="budi"')[1].split("data-difference")[1][:60]


def test_the_shifts_of_a_day_are_one_chip_away_and_old_addresses_hold():
    shift = begin()
    browser, today = browser_of("auditor"), timezone.localdate()

    def listed(query: str) -> bool:
        return f"/shifts/{shift.pk}/" in browser.get(f"/shifts/{query}").content.decode()

    page = browser.get("/shifts/?days=today").content.decode()
    chosen = re.findall(r'data-period="(\S+)"\s+aria-current="true"', page)

    assert (chosen, 'type="search"' in page) == (["today"], False)
    assert [listed(query) for query in ("?days=today", "?days=yesterday")] == [True, False]
    old = f"?state=open&cashier={shift.cashier_id}&since={today}&until={today}"
    assert [listed(query) for query in (old, "?until=2026-01-01")] == [True, False]
    assert 'data-chip="since"' in browser.get(f"/shifts/{old}").content.decode()


def test_a_file_holds_every_entry_and_masks_every_number_also_for_people_who_may_see_numbers():
    shift = begin()
    slip = PaymentFacts(method="card", reference="081234567890 EDC7")
    sell(shift.cashier, destination="081234567890", payment=slip)
    pay_in(shift, amount=5_000, reason="owed by 081377077077", actor=shift.cashier)
    browser = browser_of("admin")

    assert "081377077077" in browser.get(f"/shifts/{shift.pk}/").content.decode()
    answer = b"".join(browser.get(f"/shifts/{shift.pk}/csv/").streaming_content).decode()

    assert len(answer.splitlines()) == 1 + shift.payments.count() + shift.entries.count() == 4
    assert [text in answer for text in ("owed by 0813•••••077", "0812•••••890 EDC7")] == [True, True]
    assert [text in answer for text in ("081377077077", "081234567890")] == [False, False]


def test_a_list_of_sales_says_what_was_sold_to_which_number_and_the_status():
    shift = begin()
    order = never_arrived(sell(shift.cashier, destination="081234567890"))
    own, of_shift = signed_in(shift.cashier).get("/drawer/"), browser_of("admin").get(f"/shifts/{shift.pk}/")

    for page in (own.content.decode(), of_shift.content.decode()):
        assert re.search(rf'href="/orders/{order.ref_id}/"[^>]*>{order.product_name}<', page)
        assert ">0812-3456-7890<" in page
        assert str(Status(order.status).label) in page.split('id="unsettled"')[1].split("</ul>")[0]
    masked = browser_of("auditor").get(f"/shifts/{shift.pk}/").content.decode()
    assert (order.product_name in masked, "•890" in masked, "3456" in masked) == (True, True, False)


def test_an_opening_says_what_the_last_shift_left_in_each_drawer():
    shift = begin(cash=150_000)
    close_shift(shift, pieces=pieces_of(150_000), actor=shift.cashier)
    make_drawer("New")

    page = signed_in(shift.cashier).get("/drawer/").content.decode()

    assert re.findall(r'data-left="(\d+)"[^>]*>([^<]+)<', page) == [
        ("150000", f"{shift.drawer.name} – left in it: Rp150.000")
    ]
    assert ">New<" in page


def test_a_difference_of_exactly_the_rounding_needs_no_reason_and_any_other_does():
    for is_blind in (False, True):
        if is_blind:
            change_policies({"blind_count": True}, actor=make_person("admin", username="boss"))
        shift = begin(make_person("cashier", username=f"c{is_blind}"), cash=200_000)
        sales = [
            sell(shift.cashier, amount, payment=PaymentFacts(method=method))
            for amount, method in ((10_550, "cash"), (10_525, "cash"), (10_500, "cash"), (10_510, "qris"))
        ]
        entries = list(DrawerEntry.objects.filter(shift=shift).values_list("kind", "amount"))
        if not is_blind:
            page = signed_in(shift.cashier).get(f"/shifts/{shift.pk}/close/")
            assert 'id="odd-sales" data-amount="125"' in page.content.decode()
            assert counts_at(page, 'id="odd-sales"')[0] == 2
            for counted in (231_600, 231_800):
                with pytest.raises(DifferenceUnexplained):
                    close_shift(shift, pieces=pieces_of(counted), actor=shift.cashier)

        closed = close_shift(shift, pieces=pieces_of(231_700), actor=shift.cashier)

        assert (closed.expected, closed.counted, closed.difference) == (231_575, 231_700, 125)
        assert closed.reason == "2 cash sales for whose amounts there is no coin, rounded up."
        assert list(DrawerEntry.objects.filter(shift=shift).values_list("kind", "amount")) == entries
        paid = [payment.amount for payment in shift.payments.order_by("pk")]
        assert paid == [order.selling_price for order in sales]


def test_a_shift_says_what_its_sales_and_its_profit_count():
    shift = begin()
    address, of_cashier = f"/shifts/{shift.pk}/", signed_in(shift.cashier)
    end(sell(shift.cashier, 10_000), "success")
    alone, own_alone = browser_of("admin", language="en").get(address), of_cashier.get(address)
    sell(shift.cashier, 5_000)
    own = of_cashier.get(address)
    end(sell(shift.cashier, 30_000), "failed")

    page = browser_of("admin", username="second", language="en").get(address)

    assert not has_id(alone, "sales-count"), "both count the same"
    assert "also what failed or is still open" in words_at(page, 'id="sales-count"')
    assert "Rp45.000 · 3" in words(page)
    assert "of Rp10.000 that arrived" in words_at(page, 'id="profit-count"')
    assert has_id(own_alone, "sales")
    assert [has_id(shown, "sales-count") for shown in (own_alone, own)] == [False, True]
