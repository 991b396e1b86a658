"""People who may not see costs find the cost of an order nowhere: on no page, receipt, file or refusal."""

import datetime as dt
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from alerts.services import evaluate_alerts
from approvals.models import Approval
from catalogue.errors import NeedsSecondPerson
from catalogue.models import PriceChange, Product
from catalogue.services import ask_for_rule, change_rule
from catalogue.services.targets import Target
from catalogue.services.terms import Terms
from ledger.models import Books
from purchases.models import Incident, Order, OrderEvent, ReceiptPrint
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import make_order, make_product
from testing.orders import NUMBER, confirm, review
from testing.people import browser_of, make_person
from tests.core.helpers import codes, has_id, hidden, words, words_at
from tests.ledger.helpers import open_books
from tests.roles.helpers import addresses, opened_by

pytestmark = pytest.mark.django_db

COST, RISEN, PRICE = 10_203, 10_307, 32_000
BALANCE = 987_654
# The costs and profits of an order and of the product now, and the balance, from which these follow. Each has at least
# five digits: a shorter number may stand on a page by chance.
SECRETS = (COST, RISEN, PRICE - COST, PRICE - RISEN, BALANCE)
LEFT = ("cashier", "viewer")


def secrets_in(answer: Any) -> set[int]:
    """The secret amounts in the page's text or fields, with any grouping of their digits."""
    text = re.sub(r"(?<=\d)[.,\s](?=\d{3})", "", answer.getvalue().decode(errors="replace"))
    # a token or a hash may hold the digits by chance
    text = re.sub(
        r'(name="(csrfmiddlewaretoken|token|seal)" value="[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}|seen=[^"]*)', "", text
    )
    return {secret for secret in SECRETS if re.search(rf"(?<![0-9a-f]){secret}(?![0-9a-f])", text)}


def facts_of(answer: Any) -> set[str]:
    """The names of the facts that an approval's page shows."""
    return set(re.findall(r'data-fact="(\w+)"', answer.content.decode()))


def fingerprints(browser: Any) -> dict[str, str]:
    """The values of live pages, by part."""
    pages = [browser.get(path).content.decode() for path in ("/", "/counter/")]
    return dict(found for page in pages for found in re.findall(r"(own|overview|counter-strip)(?:~|%7E)(\w+)", page))


@pytest.fixture
def product() -> Product:
    return make_product(price=COST, selling_price=PRICE, code="SECRET")


@pytest.fixture
def orders(product: Product) -> list[Order]:
    """Open books, and one order in each status, with all rows that name its cost."""
    open_books(BALANCE)
    found = []
    for number, status in enumerate(Status):
        price = COST if status in {Status.PENDING, Status.SUCCESS, Status.FAILED, Status.REVERSED} else None
        order = make_order(
            status,
            product=product,
            destination=f"0812345678{number:02d}",
            selling_price=PRICE,
            price=price,
            message=f"Harga Rp10.203 ({RISEN}), menunggu",
            action_reason=ActionReason.PRICE_CHANGED if status == Status.NEEDS_ACTION else "",
            created_at=timezone.now() - dt.timedelta(minutes=1),
        )
        for facts in ({"code": "price_confirmed", "before": COST, "after": RISEN}, {}):
            OrderEvent.objects.create(
                order=order,
                to_status=status,
                source="poll",
                facts=facts,
                note="saldo 999.999, harga 10,203",
                raw={"price": COST},
            )
        Incident.objects.create(order=order, kind="price_above_max", source="poll", detail=f"charged {RISEN}, {COST}")
        found.append(order)
    PriceChange.objects.create(product=product, price_before=COST, price=RISEN)
    Product.objects.filter(pk=product.pk).update(price=RISEN)
    return found


def pages(browser: Any, orders: list[Order]) -> list[Any]:
    """All pages that this person can open: each address without parts, and the pages about each order."""
    person = User.objects.get(pk=browser.session["_auth_user_id"])
    opened = opened_by(person.groups.get().name)
    keyless = {(name, address) for name, address in addresses() if not re.search(r"/(0|X|x)(/|$)|0000|logout", address)}
    plain = {address for name, address in keyless if name in opened}
    wanted = [*sorted(plain), "/?seen=overview~old", "/overview/live/?seen=overview~old", "/orders/?q=SECRET"]
    wanted += [
        "/products/?q=telkomsel",
        "/counter/?product=SECRET",
        f"/counter/review/?product=SECRET&q={NUMBER}",
    ]
    for order in orders:
        wanted += [order.get_absolute_url(), f"{order.get_absolute_url()}live/?seen=order-live~old"]
        wanted += [f"/orders/live/?seen=row-{order.pk}~old"]
        if order.status in {Status.SUCCESS, Status.REVERSED}:
            ReceiptPrint.objects.get_or_create(order=order, number=1, paper="80", defaults={"printed_by": person})
            wanted += [f"{order.get_absolute_url()}receipt/?paper={paper}" for paper in ("58", "80", "a5")]
            wanted += [f"{order.get_absolute_url()}receipt/1/"]
    return [browser.get(address, follow=True) for address in wanted]


@pytest.mark.parametrize("role", LEFT)
def test_no_page_receipt_or_file_names_the_cost(role: str, orders: list[Order]):
    evaluate_alerts()
    browser = browser_of(role)

    found = {page.request["PATH_INFO"]: secrets_in(page) for page in pages(browser, orders)}

    assert {path: secrets for path, secrets in found.items() if secrets} == {}
    assert len(found) > 40


def test_no_fingerprint_of_a_page_follows_the_cost(product: Product, time_machine: Any):
    open_books(BALANCE)
    browsers = {role: browser_of(role) for role in (*LEFT, "supervisor")}
    for person in User.objects.all():
        make_order(Status.SUCCESS, product=product, selling_price=PRICE, placed_by=person, max_price=RISEN, price=None)
    time_machine.move_to(timezone.now(), tick=False)  # the overview changes each minute
    before = {role: fingerprints(browser) for role, browser in browsers.items()}

    Order.objects.update(price=COST)
    Books.objects.update(balance=BALANCE + 1, reserved=1)

    for role in LEFT:
        assert before[role], role
        assert fingerprints(browsers[role]) == before[role], role
    changed = {
        part for part, seen in fingerprints(browsers["supervisor"]).items() if seen != before["supervisor"][part]
    }
    assert changed == {"counter-strip", "overview"}


def test_who_sees_costs_finds_price_cost_and_profit(orders: list[Order]):
    browser = browser_of("supervisor")
    done = next(order for order in orders if order.status == Status.SUCCESS)

    page = browser.get(done.get_absolute_url())

    assert has_id(page, "customer-pays")
    assert {"Rp32.000", "Rp10.203", "+Rp21.797"} <= set(words(page).split())
    assert {COST} <= secrets_in(browser.get("/orders/"))
    receipt = words(browser.get(f"{done.get_absolute_url()}receipt/"))
    assert ("Rp10.203" in receipt, "Rp32.000" in receipt) == (False, True)


def test_no_refusal_names_the_cost(product: Product):
    open_books(COST - 1)
    browser = browser_of("cashier")
    for limits in ({"own_per_order": COST - 1}, {"own_per_day": COST - 1}, {"own_approval_above": 1}, {}):
        none = dict.fromkeys(("own_per_order", "own_per_day", "own_approval_above"))
        User.objects.update(**none | limits)
        page = review(browser, product)

        answer = browser.post("/counter/send/", {**hidden(page), "confirm": "1"}, follow=True)

        assert secrets_in(page) | secrets_in(answer) == set(), limits
        assert not Order.objects.filter(status=Status.QUEUED).exists(), limits


def test_a_cost_that_rose_meanwhile_is_confirmed_again(product: Product, cashier: Any):
    fields = hidden(review(cashier, product))
    without = {name: value for name, value in fields.items() if name != "seal"}
    for forged in (without, without | {"seal": ""}, without | {"seal": "0" * 64}):
        assert codes(confirm(cashier, product, forged)) == {"PriceMoved"}, "without its seal nothing is bought"
        assert not Order.objects.exists()
    Product.objects.filter(pk=product.pk).update(price=RISEN)

    answer = confirm(cashier, product, fields)

    assert codes(answer) == {"PriceMoved"}
    assert (secrets_in(answer), Order.objects.count()) == (set(), 0)
    confirm(cashier, product, hidden(answer))
    order = Order.objects.get()
    assert (order.max_price, order.selling_price) == (RISEN, PRICE)


@pytest.mark.parametrize(("selling_price", "is_offered"), [(PRICE, False), (COST, True)])
def test_a_risen_cost_is_confirmed_by_who_sees_it(product: Product, selling_price: int, is_offered: bool):
    browser = browser_of("cashier")
    person = User.objects.get(pk=browser.session["_auth_user_id"])
    facts = {"selling_price": selling_price, "placed_by": person, "action_reason": ActionReason.PRICE_CHANGED}
    waits = make_order(Status.NEEDS_ACTION, product=product, **facts)
    Product.objects.filter(pk=product.pk).update(price=RISEN)

    assert has_id(browser.get(waits.get_absolute_url()), "act-confirm_price") is is_offered
    assert has_id(browser_of("supervisor").get(waits.get_absolute_url()), "act-confirm_price")


def test_a_rise_above_the_price_says_so_before_it_is_confirmed(product: Product):
    browser = browser_of("cashier")
    person = User.objects.get(pk=browser.session["_auth_user_id"])
    facts = {"selling_price": PRICE, "placed_by": person, "action_reason": ActionReason.PRICE_CHANGED}
    waits = make_order(Status.NEEDS_ACTION, product=product, **facts)
    Product.objects.filter(pk=product.pk).update(price=PRICE + 1_000)
    supervisor = browser_of("supervisor", first_name="Sari")

    page = browser.get(waits.get_absolute_url())
    assert "Sari" in words_at(page, 'id="who-confirms"')
    assert not has_id(page, "act-confirm_price")
    page = supervisor.get(waits.get_absolute_url())
    for at in ("loss-then", "profit-then"):
        assert "−Rp1.000" in words_at(page, f'id="{at}"')
    address = f"/orders/{waits.ref_id}/again/"
    answer = supervisor.post(address, hidden(page), follow=True)
    assert "BelowCost:no_reason" in codes(answer)
    supervisor.post(address, hidden(page) | {"reason": "promo"})

    waits.refresh_from_db()
    assert (waits.status, OrderEvent.objects.get(order=waits).note) == (Status.QUEUED, "promo")


def test_without_cost_a_price_rules_approval_names_none(product: Product):
    target, asker = Target(type="prepaid", product=product), make_person("administrator", username="asker")
    with pytest.raises(NeedsSecondPerson) as need:
        change_rule(target, Terms("fixed", 10_000), actor=asker)
    approval = ask_for_rule(need.value, actor=asker, reason="promo")
    seen = browser_of("auditor").get(approval.get_absolute_url())
    assert "Rp203" in words(seen)
    for role in ("supervisor", "administrator"):
        browser = browser_of(role)
        Group.objects.get(name=role).permissions.remove(Permission.objects.get(codename="view_cost"))

        page = browser.get(approval.get_absolute_url())

        assert page.status_code == 200
        assert {"largest_loss", "before", "after", "below_cost"}.isdisjoint(facts_of(page)), role
        assert not has_id(page, "approve-form")
        # nobody can find the content by trying, because the page has only a keyed hash of it
        assert (approval.sha256 in seen.content.decode(), approval.sha256 in page.content.decode()) == (True, False)


def test_an_own_request_for_approval_names_no_cost_and_no_hash_of_it(product: Product):
    browser = browser_of("cashier", own_approval_above=1)
    confirm(browser, product, hidden(review(browser, product)))

    approval = Approval.objects.get()

    for address in (approval.get_absolute_url(), "/approvals/"):
        page = browser.get(address)
        assert page.status_code == 200
        assert secrets_in(page) == set()
        assert "Rp32.000" in words(page)
        assert approval.sha256 not in page.content.decode()


def test_products_of_one_price_are_not_listed_by_cost(cashier: Any):
    products = [
        make_product(code=f"SAME{code}", name=f"Telkomsel 10.000 {code}", selling_price=PRICE) for code in "ABC"
    ]
    for costs in ((10_900, 10_100, 10_500), (10_100, 10_500, 10_900)):
        for product, cost in zip(products, costs, strict=True):
            Product.objects.filter(pk=product.pk).update(price=cost)

        page = cashier.get("/products/?category=pulsa").content.decode()

        assert list(dict.fromkeys(re.findall(r"SAME[ABC]", page))) == ["SAMEA", "SAMEB", "SAMEC"]


def test_below_cost_a_supervisor_writes_why(product: Product):
    Product.objects.filter(pk=product.pk).update(selling_price=COST - 3)
    browser = browser_of("supervisor")
    page = review(browser, product)
    assert has_id(page, "below-cost")

    assert codes(confirm(browser, product, hidden(page))) == {"BelowCost:no_reason"}
    confirm(browser, product, hidden(page) | {"reason": "promo"})

    assert OrderEvent.objects.get(order=Order.objects.get()).note == "promo"
