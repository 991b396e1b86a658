"""What a person has typed stays: while the page follows an order, and when a form is refused."""

from typing import Any

import pytest
from playwright.sync_api import expect

from drawers.models import Payment
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_order, make_product
from testing.orders import report
from tests.batches.helpers import checked
from tests.drawers.helpers import begin, end, sell
from tests.journeys.helpers import OpenWindow, sign_in
from work.services import take

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]
NUMBER = "081234567801"


def test_a_refused_refund_keeps_what_was_typed_and_the_next_page_does_not(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    cashier = User.objects.get(username="cashier")
    shift = begin(cashier, cash=100_000)
    order = end(sell(cashier, 10_500, destination=NUMBER), "failed")
    page = open_window()
    sign_in(page, live_server.url, "cashier", order.get_absolute_url())

    # when it is noted as given in cash, from no drawer
    page.fill("#back-note", "His brother has it")
    page.select_option("#back-shift", "")
    page.click("#give-back button[type=submit]")

    # then it is refused, and only the drawer has to be chosen
    expect(page.locator("[data-code=no_refund]")).to_be_visible()
    expect(page.locator("#back-note")).to_have_value("His brother has it")
    expect(page.locator("#back-shift")).to_have_value("")
    expect(page.locator("#give-back :focus")).to_have_count(1)

    # and a page that is opened afterwards knows nothing of it
    page.goto(page.url)
    expect(page.locator("#back-note")).to_have_value("")
    page.fill("#back-note", "His brother has it")
    page.select_option("#back-shift", str(shift.pk))
    page.click("#give-back button[type=submit]")
    expect(page.locator("#sale-refund")).to_contain_text("His brother")
    assert Payment.objects.get().is_given
    assert page.evaluate("sessionStorage.getItem('typedBefore')") is None


def test_what_is_typed_while_an_order_is_followed_stays(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    cashier = User.objects.get(username="cashier")
    begin(cashier, cash=100_000)
    order = sell(cashier, 10_500, destination=NUMBER)
    page = open_window()
    sign_in(page, live_server.url, "cashier", order.get_absolute_url())
    form = page.locator("#correct-payment")

    # when the order moves while its payment is being corrected
    page.click("#change-payment summary")
    form.locator(".chip", has=page.locator("[value=transfer]")).click()
    page.click("#paid-reference")
    page.keyboard.type("BCA 9")
    report(order, Status.SUCCESS, trx_id="TRX-1")
    expect(page.locator(".order-status .status-success")).to_be_visible()

    # then the typed text goes on where it was
    page.keyboard.type("7")
    expect(page.locator("#paid-reference")).to_have_value("BCA 97")
    expect(form.locator("[value=transfer]")).to_be_checked()
    form.locator("button[type=submit]").click()
    expect(page.locator("#sale-reference")).to_have_text("BCA 97")
    assert Payment.objects.get().method == "transfer"


def test_what_is_typed_beside_a_list_stays_when_its_row_changes(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    other, order = (sell(User.objects.get(username="cashier"), 10_500) for _ in range(2))
    page = open_window(size=(1440, 900))
    sign_in(page, live_server.url, "owner", "/orders/")
    panel = page.locator("[data-beside-panel]")
    page.click(f"#results [data-pick][href*='{other.ref_id}']")
    panel.locator("#act-cancel summary").click()
    page.click(f"#results [data-pick][href*='{order.ref_id}']")
    expect(panel.locator("#add-note")).to_have_attribute("action", f"/orders/{order.ref_id}/notes/")
    expect(panel.locator("#act-cancel[open]")).to_have_count(0)

    panel.locator("#note-text").click()
    page.keyboard.type("She wait")
    panel.locator("#act-cancel summary").click()
    panel.locator("#cancel-note").click()
    page.keyboard.type("Twice")
    claim(order.pk)
    expect(panel.locator(".status-sending").first).to_be_visible()

    expect(panel.locator("#note-text")).to_have_value("She wait")
    panel.locator("#note-text").click()
    page.keyboard.press("End")
    page.keyboard.type("s")
    report(order, Status.SUCCESS, trx_id="TRX-1")
    expect(panel.locator(".status-success").first).to_be_visible()
    page.keyboard.type(" here")
    expect(panel.locator("#note-text")).to_have_value("She waits here")


def test_what_is_typed_beside_the_work_stays_when_its_row_goes(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    facts = {"action_reason": ActionReason.BALANCE_SHORT, "sent_no": None}
    order, other = (make_order(Status.NEEDS_ACTION, destination=f"08123456780{n}", **facts) for n in (1, 2))
    page = open_window(size=(1440, 900))
    sign_in(page, live_server.url, "owner", "/work/")
    panel = page.locator("[data-beside-panel]")
    page.click(f"#row-order-{order.pk} [data-step]")
    panel.locator("#act-cancel summary").click()
    panel.locator("#cancel-note").click()
    page.keyboard.type("Twice j")

    # when a colleague takes the row, so that it leaves the list
    take("order", order.pk, actor=User.objects.get(username="supervisor"))
    page.evaluate("htmx.trigger('#live', 'again')")
    expect(page.locator(f"#row-order-{order.pk}")).to_have_count(0)

    # then the typed text goes on where it was, and can be sent
    page.keyboard.type("k")
    expect(panel.locator("#cancel-note")).to_have_value("Twice jk")
    page.keyboard.press("Enter")
    expect(page.locator(".toast-success")).to_be_visible()
    order.refresh_from_db()
    assert order.status == Status.CANCELLED

    # and without a typed text the panel goes with its row
    page.click(f"#row-order-{other.pk} [data-step]")
    expect(panel.locator("#act-cancel")).to_be_visible()
    take("order", other.pk, actor=User.objects.get(username="supervisor"))
    page.evaluate("htmx.trigger('#live', 'again')")
    expect(panel).to_be_hidden()


def test_a_text_goes_back_into_its_own_form_only(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    make_product(brand="telkomsel", code="TSEL10", name="Telkomsel 10.000")
    make_product(brand="xl", code="XL10", name="XL 10.000")
    batch = checked("087812345678;TSEL10\n081234567801;\n", User.objects.get(username="owner"))
    page = open_window()
    sign_in(page, live_server.url, "owner", f"/batches/{batch.pk}/")
    product, other = (
        page.locator(f"[data-fault-group={name}] [name=code]") for name in ("no_product", "other_operator")
    )
    expect(other).to_have_value("")

    product.fill("unheard")
    product.press("Enter")

    expect(page.locator("#toasts .toast-error")).to_be_visible()
    expect(product).to_have_value("unheard")
    expect(other).to_have_value("")


def test_a_note_stays_typed_while_its_page_comes_again(live_server: Any, open_window: OpenWindow, settings: Any):
    create_demo_staff()
    order = sell(User.objects.get(username="cashier"), 10_500)
    page = open_window()
    sign_in(page, live_server.url, "cashier", order.get_absolute_url())
    note, tag = page.locator("#note-text"), page.locator("#note-tag")
    notes, gone = page.locator("#order-notes .order-note"), f"{live_server.url}/orders/never-seen/notes/"

    # when a tag is added
    note.fill("She waits")
    tag.fill("bank")
    tag.press("Enter")
    expect(page.locator("#order-notes .tag")).to_have_count(1)
    expect(note).to_have_value("She waits")
    expect(tag).to_have_value("")

    # when the page comes with a refusal
    for number, code in enumerate(("not_there", "form_expired"), start=1):
        if code == "not_there":
            page.route("**/notes/", lambda route: route.continue_(url=gone), times=1)
        else:
            page.context.clear_cookies(name=settings.CSRF_COOKIE_NAME)
        note.fill(f"She waits, {code}")
        note.press("Enter")
        expect(page.locator(f"#toasts [data-code={code}]")).to_be_visible()
        expect(note).to_have_value(f"She waits, {code}")
        note.press("Enter")
        expect(notes).to_have_count(number)
        expect(note).to_have_value("")
