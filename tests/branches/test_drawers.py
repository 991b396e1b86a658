"""A person who opens a drawer is offered their branch's drawers first, and never gets another's by accident."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from branches.models import FIRST
from drawers.forms import OpenForm
from drawers.models import Drawer, Payment
from drawers.services import PaymentFacts, change_drawer, expected_cash, give_back, pay_out
from drawers.services.shifts import close_shift
from earnings.services.journal import journal_of
from staff.models import User
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import words_at
from tests.credit.helpers import give_credit
from tests.drawers.helpers import begin, end, pieces_of, sell

pytestmark = pytest.mark.django_db


def _offered(person: User) -> tuple[list[str], int | str | None]:
    """The offered names, and the drawer that is chosen at first; "" if the person has to choose."""
    field = OpenForm(person=person)["drawer"]
    options = [(str(choice.data["value"]), choice.data["label"]) for choice in field.subwidgets]
    chosen = field.initial or options[0][0]
    return [label.split(" – ")[0] for _value, label in options], int(chosen) if chosen else ""


def test_the_own_branchs_drawers_come_first_and_each_names_its_branch():
    drawer, person = Drawer.objects.create(name="Depan"), make_person("cashier")
    assert _offered(person) == (["Depan"], drawer.pk), "with one branch no option names it"
    close_shift(begin(person, drawer=drawer, cash=0), pieces=pieces_of(0), actor=person)
    tebet = make_branch()
    other = make_person("cashier", username="other", branch=tebet)
    names, chosen = _offered(other)
    assert (len(names), chosen) == (2, ""), "without a drawer of the own branch the person has to choose"

    own = Drawer.objects.create(name="Kasir", branch=tebet)

    names, chosen = _offered(other)
    assert names[0] == "Kasir · Tebet"
    assert names[1].startswith("Depan · ")
    assert chosen == own.pk
    User.objects.filter(pk=person.pk).update(branch=tebet)
    assert _offered(User.objects.get(pk=person.pk))[1] == own.pk, "after a move the new branch's"


def test_a_bound_reader_sees_only_the_cash_of_a_sale_elsewhere():
    tebet, person = make_branch(), make_person("cashier")
    shift = begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet), cash=200_000)
    order = sell(person, 12_000, payment=PaymentFacts(branch=FIRST))
    bound, free = _bound_to(tebet.pk), browser_of("supervisor", username="whole")

    for cash in (212_000, 200_000):
        if cash == 200_000:
            end(order, "failed")
            give_back(Payment.objects.get(), shift=shift, method="cash", actor=person)
        (page, file), whole = _page_and_file(bound, shift), _page_and_file(free, shift)[0]

        assert [order.ref_id in text for text in (page, file, whole)] == [False, False, True]
        assert order.get_absolute_url() not in page
        assert order.product_name not in page
        assert ("data-elsewhere" in page, "data-elsewhere" in whole) == (True, False)
        assert "12.000" in page
        assert expected_cash(shift) == cash
        assert ",12000," in file


def _bound_to(branch):
    return browser_of("supervisor", username="bound", branch_id=branch, bound_since="2026-01-01T00:00Z")


def _page_and_file(browser, shift) -> list[str]:
    """The page of a shift, and its file."""
    page = browser.get(f"/shifts/{shift.pk}/").content.decode()
    return [page, b"".join(browser.get(f"/shifts/{shift.pk}/csv/")).decode()]


def test_the_note_slip_and_debtor_of_a_sale_elsewhere_are_not_shown():
    tebet, person = make_branch(), make_person("cashier")
    shift = begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet))
    order = end(sell(person, 12_000, payment=PaymentFacts(branch=FIRST)), "failed")
    note = f"Bu Sri {order.destination} {order.ref_id}"
    give_back(Payment.objects.get(), shift=shift, method="cash", actor=person, note=note)
    sell(person, 12_000, payment=PaymentFacts(branch=FIRST, method="card", reference="EDC-7731"))
    sell(person, 13_000, payment=PaymentFacts(branch=FIRST, method="credit", customer=give_credit("Bu Ratmi")))

    seen = _page_and_file(_bound_to(tebet.pk), shift)
    whole = _page_and_file(browser_of("supervisor", username="whole"), shift)

    texts = ("Bu Sri", "EDC-7731", "Bu Ratmi")
    for word in (order.destination, order.ref_id, *texts):
        assert [word in text for text in seen] == [False, False], word
    for word in texts:
        assert [word in text for text in whole] == [True, True], word


@pytest.mark.parametrize("is_given_back", [False, True])
def test_an_order_names_no_drawer_of_another_branch(is_given_back):
    # given: Wulan sold it, or another person gave the money back out of Wulan's drawer
    tebet, wulan = make_branch(), make_person("cashier", first_name="Wulan")
    shift = begin(wulan, drawer=Drawer.objects.create(name="Laci Tebet 9", branch=tebet))
    seller = make_person("cashier", username="seller") if is_given_back else wulan
    order = sell(seller, 12_000, payment=PaymentFacts(branch=FIRST))
    if is_given_back:
        end(order, "failed")
        give_back(Payment.objects.get(), shift=shift, method="cash", actor=make_person("admin"))
    bound, whole = _bound_to(FIRST), browser_of("supervisor", username="whole")

    pages = order.get_absolute_url(), "/refunds/?state=all"
    said = {browser: [browser.get(address).content.decode() for address in pages] for browser in (bound, whole)}

    assert bound.get(f"/shifts/{shift.pk}/").status_code == 404
    assert ["Laci Tebet 9" in page for page in said[bound]] == [False, False]
    assert ["Drawer of another branch" in page for page in said[bound]] == [True, is_given_back]
    assert f'href="/shifts/{shift.pk}/"' not in said[bound][0]
    assert ("Wulan" in said[bound][0]) == (not is_given_back)
    assert ("Laci Tebet 9 · Wulan" in said[whole][0]) == (not is_given_back)
    assert "Laci Tebet 9" in said[whole][0]
    assert ("Laci Tebet 9" in said[whole][1]) == is_given_back


def test_given_the_branch_of_a_sale_then_no_drawer_is_asked_for_it():
    tebet, person = make_branch(), make_person("cashier")
    drawer = Drawer.objects.create(name="Tebet 1", branch=tebet)
    agreed = begin(person, drawer=drawer, cash=0)
    close_shift(agreed, pieces=pieces_of(0), actor=person)

    with CaptureQueriesContext(connection) as queries:
        order = sell(person, 12_000, payment=PaymentFacts(branch=FIRST, agreed_in=agreed.pk))

    assert order.payment.branch_id == FIRST
    assert [query["sql"] for query in queries if '"drawers_drawer"."branch_id"' in query["sql"]] == []


def test_a_shift_counts_no_cost_and_profit_of_a_sale_elsewhere():
    tebet, person = make_branch(), make_person("cashier")
    shift = begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet), cash=0)
    end(sell(person, 12_000, payment=PaymentFacts(branch=FIRST)), "success")
    own = end(sell(person, 30_000), "success").payment

    facts = {}
    for name, browser in (("bound", _bound_to(tebet.pk)), ("whole", browser_of("supervisor", username="whole"))):
        totals = browser.get(f"/shifts/{shift.pk}/").context["totals"]
        facts[name] = (totals.cost, totals.arrived, totals.expected)

    assert facts == {"bound": (own.cost, 30_000, 42_000), "whole": (12_000 + own.cost, 42_000, 42_000)}


def test_no_sale_elsewhere_is_named_that_a_later_shift_settled():
    # given: a shift's sales for another branch: one ends, one is given back, one is entered after the close
    tebet, person = make_branch(), make_person("cashier")
    drawer = Drawer.objects.create(name="Tebet 1", branch=tebet)
    first = begin(person, drawer=drawer, cash=0)
    late, given = (sell(person, 12_000, payment=PaymentFacts(branch=FIRST)) for _sale in range(2))
    end(given, "failed")
    close_shift(first, pieces=pieces_of(24_000), actor=person)
    second = begin(person, drawer=drawer, cash=24_000)
    end(late, "success")
    give_back(given.payment, shift=second, method="cash", actor=person)
    entered = sell(person, 12_000, payment=PaymentFacts(branch=FIRST, agreed_in=first.pk))

    said = {}
    for name, browser in (("bound", _bound_to(tebet.pk)), ("whole", browser_of("supervisor", username="whole"))):
        page = browser.get(f"/shifts/{first.pk}/").content.decode()
        said[name] = [order.ref_id in page.partition('id="sales"')[0] for order in (late, given, entered)]

    assert said == {"bound": [False] * 3, "whole": [True] * 3}


@pytest.mark.parametrize("is_approved_late", [False, True])
def test_a_later_shift_of_another_branch_names_nobody(is_approved_late):
    # given: Wulan, in another branch, gave a sale of this shift back, or sold here and then there
    tebet, wulan = make_branch(), make_person("cashier", username="wulan", first_name="Wulan")
    there = Drawer.objects.create(name="Laci Tebet 9", branch=tebet)
    seller = wulan if is_approved_late else make_person("cashier", first_name="Sari")
    first = begin(seller, cash=0)
    order = None if is_approved_late else end(sell(seller, 12_000), "failed")
    close_shift(first, pieces=pieces_of(0 if is_approved_late else 12_000), actor=seller)
    second = begin(wulan, drawer=there, cash=50_000)
    if order is None:
        sell(wulan, 12_000, payment=PaymentFacts(branch=FIRST, agreed_in=first.pk))
    else:
        give_back(order.payment, shift=second, method="cash", actor=wulan)

    bound, whole = (
        words_at(browser.get(f"/shifts/{first.pk}/"), 'id="later"')
        for browser in (_bound_to(FIRST), browser_of("supervisor", username="whole"))
    )

    assert ("Wulan" in whole, "Wulan" in bound, "Laci Tebet 9" in bound) == (True, False, False)
    assert "Drawer of another branch" in bound


def test_a_drawer_that_moves_takes_no_past_booking_with_it():
    # given a closed shift with cash paid out and a difference, and a new shift of the same drawer
    tebet, boss = make_branch(), make_person("admin", username="boss")
    cashier = make_person("cashier")
    shift = begin(cashier, drawer=Drawer.objects.create(name="Depan"), cash=100_000)
    pay_out(shift, amount=30_000, reason="to the safe", actor=cashier)
    close_shift(shift, pieces=pieces_of(65_000), actor=cashier, reason="5.000 short")
    today = timezone.localdate()
    before = {branch: journal_of(today, branch) for branch in (FIRST, tebet.pk)}
    assert {(each.debit, each.credit): each.amount for each in before[FIRST]} == {
        ("other", "cash"): 30_000,
        ("differences", "cash"): 5_000,
    }

    change_drawer(shift.drawer, name="Depan", is_active=True, branch=tebet.pk, actor=boss)

    assert {branch: journal_of(today, branch) for branch in (FIRST, tebet.pk)} == before
    begin(cashier, drawer=shift.drawer, cash=66_000)
    assert {(each.debit, each.credit): each.amount for each in journal_of(today, tebet.pk)} == {
        ("cash", "differences"): 1_000
    }
