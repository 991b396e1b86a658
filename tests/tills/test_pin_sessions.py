"""A session by PIN sells up to a limit; it approves, administers and exports nothing, and ends by itself."""

import datetime as dt

import pytest
import time_machine
from django.test import Client, RequestFactory

from approvals.models import Approval
from audit.models import AuditEvent
from core import clock
from core.rights import PIN_RIGHTS, STRONG_RIGHTS, Role
from policies.bounds import BOUNDS
from purchases.errors import NeedsApproval
from purchases.models import Order
from purchases.services import ask_for_approval
from staff.confirming import check_factor
from staff.errors import FactorRefused
from staff.events import SIGN_OUT
from staff.models import User
from staff.roles import ROLES
from staff.services import limits_of
from staff.urls import urlpatterns
from testing.database import statements
from testing.factories import make_product
from testing.orders import confirm, place, review
from testing.people import code_of, make_person, signed_in
from tests.core.helpers import cells, codes, has_id, hidden, words_at
from tests.drawers.helpers import begin
from tests.gateway.helpers import read_balance
from tests.tills.helpers import boss, give_pin, manager, take_over, till_browser, who_is_at, with_pin
from tills.backends import PinBackend
from tills.models import NotStored, Till

pytestmark = pytest.mark.django_db
PIN_IDLE_SECONDS = BOUNDS["pin_idle_minutes"].default * 60


def at_till(person: User, **facts) -> Client:
    browser = till_browser(**facts)
    assert take_over(browser, person).status_code == 302
    return browser


def by_pin(person: User) -> User:
    person_by_pin = PinBackend().get_user(person.pk)
    assert person_by_pin is not None
    return person_by_pin


def test_whoever_it_is_a_pin_only_sells():
    assert PIN_RIGHTS.isdisjoint(STRONG_RIGHTS)
    assert set(ROLES[Role.CASHIER]) >= PIN_RIGHTS
    for role in ("admin", "administrator", "supervisor"):
        person = by_pin(with_pin(role))

        assert person.get_all_permissions() == PIN_RIGHTS, role
        assert (person.is_superuser, person.is_staff) == (False, False)
        assert not person.has_perm("staff.manage_staff")
        assert person.has_perm("purchases.buy")
    assert by_pin(with_pin("viewer")).get_all_permissions() == PIN_RIGHTS & set(ROLES[Role.VIEWER])


def test_an_owners_flags_are_neither_read_again_nor_stored():
    person = with_pin("admin")
    read_again = by_pin(person)

    read_again.refresh_from_db()

    assert not read_again.is_superuser
    with pytest.raises(NotStored):
        read_again.save()
    assert User.objects.get(pk=person.pk).is_superuser


def test_the_person_and_the_tills_are_one_query_and_the_lowest_limit_holds():
    person = with_pin()
    Till.objects.update(held_by=None)
    at_till(person)

    with statements() as sent:
        read_person = by_pin(person)
        assert read_person.has_perm("purchases.buy")
        assert not read_person.has_perm("purchases.decide_order")
        assert limits_of(read_person).per_order == 1_000_000
        assert [till.name for till in read_person.tills] == ["Kasir 1"]

    assert len(sent) == 1
    Till.objects.update(pin_limit=20_000)
    assert limits_of(by_pin(person)).per_order == 20_000
    User.objects.filter(pk=person.pk).update(own_per_order=5_000)
    assert limits_of(by_pin(person)).per_order == 5_000


def test_an_owner_by_pin_reaches_no_administration_and_is_told_why():
    browser, cashier = at_till(with_pin("admin")), at_till(with_pin("cashier"), name="Kasir 2")
    pages = ("/staff/", "/staff/invite/", "/tills/", "/tills/add/", "/callbacks/", "/files/", "/balance/statement/")
    of_ones_password = ("/earnings/", "/bank/", "/balance/", "/health/", "/callbacks/")

    assert [page for page in pages if browser.get(page).status_code != 403] == []
    assert [page for page in of_ones_password if not has_id(browser.get(page), "fault-pin-only")] == []
    assert has_id(cashier.get("/callbacks/"), "fault-no-access")
    assert has_id(browser.get("/"), "pin-session")
    assert set(browser.cookies) <= {
        *("till", "sessionid", "__Host-sessionid", "csrftoken", "__Host-csrftoken", "messages")
    }, "no known device of who used a PIN there"


def test_the_own_account_takes_a_password():
    browser = at_till(with_pin())
    for address in ("/me/", "/me/pin/", "/me/sign-out-elsewhere/", "/accounts/password/change/"):
        for ask in (browser.get, browser.post):
            page = ask(address)

            assert page.status_code == 403, address
            assert has_id(page, "fault-pin-only"), address


def test_every_address_of_accounts_is_refused_but_signing_out_and_the_language():
    browser = at_till(with_pin("admin"))
    reached = set()
    for pattern in urlpatterns:
        address = "/" + str(pattern.pattern).replace("<int:pk>", "1").replace("<str:role>", "cashier")
        if "<" not in address and browser.get(address).status_code != 403:
            reached.add(pattern.name)
            take_over(browser, User.objects.get(username="admin"))

    # the first owner's page is gone once there is an owner
    assert reached - {"first_owner"} == {"account_logout", "set_language"}


def test_an_order_above_the_tills_limit_is_refused():
    product = make_product(price=20_500)
    read_balance(1_000_000)
    browser = at_till(with_pin(), pin_limit=20_000)
    page = review(browser, product)

    answer = confirm(browser, product, hidden(page) | {"price": "20500"})

    assert "LimitReached:per_order" in codes(answer)
    assert not Order.objects.exists()


def test_an_owner_by_pin_decides_no_approval():
    product, sari = make_product(price=20_500), make_person("cashier", username="sari", own_approval_above=10_000)
    with pytest.raises(NeedsApproval) as need:
        place(product, placed_by=sari)
    approval = ask_for_approval(need.value, actor=sari, reason="A wedding")
    person = with_pin("admin")
    browser = at_till(person)

    for step in ("", "live/"):
        assert has_id(browser.get(f"/approvals/{approval.pk}/{step}"), "fault-pin-only")
    for step in ("approve", "refuse"):
        browser.post(f"/approvals/{approval.pk}/{step}/", {"reason": "because", "factor_code": code_of(person)})

    approval.refresh_from_db()
    assert approval.is_open


def test_what_was_asked_by_pin_is_not_approved_with_the_password():
    person, product = with_pin("supervisor", own_approval_above=10_000), make_product(price=20_500)
    read_balance(1_000_000)
    by_till = at_till(person)
    confirm(by_till, product, hidden(review(by_till, product)) | {"price": "20500"})
    approval, browser = Approval.objects.get(), signed_in(person)
    assert by_till.get(f"/approvals/{approval.pk}/").status_code == 200

    page = browser.confirm(f"/approvals/{approval.pk}/approve/", {"seal": approval.seal}, follow=True)

    assert "ApprovalRefused:own" in codes(page)
    assert approval.asked_by == person
    assert not Order.objects.exists()


def test_a_second_factor_confirms_nothing_by_pin():
    request = RequestFactory().post("/", {"factor_code": "123456"})
    request.user = by_pin(with_pin("admin", is_demo=True))

    with pytest.raises(FactorRefused) as refusal:
        check_factor(request, act="anything", content={})

    assert refusal.value.reason == "pin"


def test_without_the_tills_cookie_the_session_is_over():
    person, browser = with_pin(), till_browser()
    cookie = browser.cookies["till"].value
    for changed in ("", "another"):
        browser.cookies["till"] = cookie
        assert take_over(browser, person).status_code == 302
        browser.cookies["till"] = changed

        assert browser.get("/orders/").status_code == 302, changed
        assert who_is_at(browser) == "", changed


def test_somebody_elses_take_over_in_a_copy_of_the_browser_ends_the_session():
    ani, budi = with_pin(username="ani"), with_pin(username="budi")
    browser = at_till(ani)
    copy = Client()
    copy.cookies["till"] = browser.cookies["till"].value

    take_over(copy, budi)

    assert who_is_at(copy) == "budi"
    assert browser.get("/orders/")["Location"] == "/till/?because=till"


def test_nobody_there_for_long_leads_to_the_lock_screen(settings):
    with time_machine.travel(clock.now(), tick=False) as time:
        browser = at_till(with_pin())
        time.shift(dt.timedelta(seconds=PIN_IDLE_SECONDS - 1))
        assert browser.get("/orders/").status_code == 200
        time.shift(dt.timedelta(seconds=PIN_IDLE_SECONDS + 1))

        answer = browser.get("/orders/")

    assert answer["Location"] == "/till/?because=idle"
    assert Till.objects.get().held_by is None
    event, facts = AuditEvent.objects.get(kind=SIGN_OUT.key), {"because": "idle", "till": Till.objects.get().pk}
    assert (event.facts, event.address, event.request_id != "") == (facts, "127.0.0.1", True)


def test_a_tills_page_says_who_worked_there_and_who_still_does():
    ani, budi = with_pin(username="ani"), with_pin(username="budi")
    with time_machine.travel(clock.now(), tick=False) as time:
        browser = at_till(ani)
        page = f"/tills/{Till.objects.get().pk}/"
        for person in (budi, ani):
            time.shift(dt.timedelta(seconds=60))
            take_over(browser, person)
        now = boss().get(page)
        time.shift(dt.timedelta(seconds=PIN_IDLE_SECONDS + 1))
        later = boss().get(page)

    assert cells(now, "person") == ["ani", "budi", "ani"]
    assert [cell.endswith("–") for cell in cells(now, "until")] == [True, False, False]
    assert not any(cell.endswith("–") for cell in cells(later, "until"))
    assert [words_at(shown, 'id="held-by"').strip() for shown in (now, later)] == ["ani", "Nobody"]


def test_polls_keep_no_session_alive_and_typing_does():
    """Typing is told by a header on a page that sends nothing, and by a search."""
    with time_machine.travel(clock.now(), tick=False) as time:
        polling, typing, searching = (at_till(with_pin(username=name), name=name) for name in ("ani", "budi", "citra"))
        for _ in range(4):
            time.shift(dt.timedelta(seconds=PIN_IDLE_SECONDS / 3))
            polled = polling.get("/overview/live/", headers={"HX-Request": "true"})
            typed = typing.get("/balance/alerts/now/", headers={"HX-Request": "true", "Acted": "yes"})
            searched = searching.get("/products/?q=tel", headers={"HX-Request": "true"})
        assert who_is_at(typing) == "budi"

    assert polled["HX-Redirect"] == "/till/?because=idle"
    assert "HX-Redirect" not in typed
    assert searched.status_code == 200


def test_a_changed_password_or_an_account_that_is_off_ends_the_session():
    person, other = with_pin(), with_pin(username="other")
    browser, browser_of_other = at_till(person), at_till(other, name="Kasir 2")
    assert [who_is_at(each) for each in (browser, browser_of_other)] == ["cashier", "other"]
    person.set_password("another-good-one")
    person.save()
    User.objects.filter(pk=other.pk).update(is_active=False)

    assert [who_is_at(each) for each in (browser, browser_of_other)] == ["", ""]


def test_by_pin_no_address_gives_a_file():
    person = give_pin(manager())
    shift = begin(person, cash=100_000)
    by_till, browser = at_till(person), signed_in(person)
    files = ["/audit/csv/", "/audit/xlsx/", "/credit/csv/", "/batches/rows/file/", "/batches/rows/file/whole/"]
    files.append(f"/shifts/{shift.pk}/csv/")

    assert [path for path in files if by_till.get(path).status_code != 403] == []
    assert not has_id(by_till.get("/batches/rows/"), "make-csv")
    assert has_id(browser.get("/batches/rows/"), "make-csv")
    assert not has_id(by_till.get(f"/shifts/{shift.pk}/"), "shift-csv")
    assert browser.get(files[-1]).status_code == 200
