"""An invitation in real browsers: the link is copied in one browser and opened in another."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from staff.models import RoleLimits
from staff.roles import create_demo_staff
from tests.journeys.helpers import PHONE, OpenWindow, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_an_invited_cashier_chooses_a_password_on_a_phone(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    owner, phone = open_window(), open_window(size=PHONE, scheme="dark")
    sign_in(owner, live_server.url, "owner", "/staff/invite/")
    owner.locator("[name=full_name]").press_sequentially("Bu Sari")
    expect(owner.locator("#user-name-now")).to_have_text("sari")
    expect(owner.locator("[name=role]")).to_have_value("cashier")
    owner.click("main form button.btn-primary")
    faults = faults_of(owner)

    phone.goto(owner.inner_text("#access-link"))
    faults += faults_of(phone)
    phone.fill("[name=new_password1]", "entirely-other-9")
    phone.fill("[name=new_password2]", "entirely-other-9")
    phone.click("#choose-password button.btn-primary")

    expect(phone.locator(".toast-success")).to_be_visible()
    assert phone.url == f"{live_server.url}/"
    owner.goto(f"{live_server.url}/staff/")
    expect(owner.locator("td.c-sessions").filter(has_text="1")).to_have_count(2)
    assert faults + faults_of(owner) == []


def test_limits_and_link_of_a_new_cashier_take_four_acts(live_server: Any, open_window: OpenWindow):
    # given: a limit of every cashier, and an owner on the overview
    create_demo_staff()
    for role, per_day in (("cashier", 5_000_000), ("supervisor", 9_000_000)):
        RoleLimits.objects.update_or_create(role=role, defaults={"per_day": per_day})
    owner = open_window(language="id-ID", permissions=["clipboard-read", "clipboard-write"])
    sign_in(owner, live_server.url, "owner")

    # when: the window of "find anything" leads to the form
    owner.keyboard.press("Control+k")  # 1
    owner.keyboard.type("tambah kasir")
    expect(owner.locator("#find-results [data-found]").first).to_have_attribute("href", "/staff/invite/")
    owner.keyboard.press("Enter")  # 2

    # then: the limits of the chosen role alone stand behind "More…"
    owner.click("#more-fields summary")
    limits = owner.locator("#limits-of-roles [data-role]:visible")
    expect(limits).to_have_count(1)  # until the page's script has run
    expect(limits).to_have_attribute("data-role", "cashier")
    expect(limits).to_contain_text("Rp5.000.000")
    owner.select_option("[name=role]", "supervisor")
    expect(limits).to_have_attribute("data-role", "supervisor")
    owner.select_option("[name=role]", "cashier")
    faults = faults_of(owner)

    # when: the form has the limits, too, and its answer has the link
    owner.click("#more-fields summary")
    owner.locator("[name=full_name]").press_sequentially("Bu Sari")
    owner.fill("[name=per_order]", "50.000")
    owner.keyboard.press("Enter")  # 3
    expect(owner.locator("#only-here")).to_be_visible()
    owner.wait_for_load_state()  # before this, no script copies
    expect(owner.locator("[data-copy]")).to_be_focused()
    owner.keyboard.press("Enter")  # 4

    # then
    expect(owner.locator("[data-copy]")).to_contain_text("Tersalin")
    assert owner.evaluate("navigator.clipboard.readText()") == owner.inner_text("#access-link")
    assert faults + faults_of(owner) == []


def type_user_name(phone: Page, *, with_script: bool) -> None:
    """Type a user name by keys alone, instead of the proposed one, and invite."""
    phone.locator("[name=full_name]").press_sequentially("Owner Dewi")
    if with_script:
        expect(phone.locator("#user-name-now")).to_have_text("owner2")  # the demo has an owner
    expect(phone.locator("[name=username]")).to_be_hidden()

    phone.focus("#more-fields > summary")
    phone.keyboard.press("Enter")
    for _field in ("per_day", "approval_above", "username"):
        phone.keyboard.press("Tab")
    phone.keyboard.type("dewi")
    phone.focus("[name=per_order]")
    phone.keyboard.press("Enter")

    expect(phone.locator("#link-for strong")).to_have_text("dewi")


def test_without_a_script_a_user_name_is_typed_by_keys_alone(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    phone = open_window(size=PHONE, java_script_enabled=False)
    sign_in(phone, live_server.url, "owner", "/staff/invite/")
    expect(phone.locator("#user-name-now")).to_have_text("from the name")

    type_user_name(phone, with_script=False)


def test_on_a_phone_an_invitation_with_its_limit_takes_one_screen(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    phone = open_window(size=PHONE, language="id-ID")
    sign_in(phone, live_server.url, "owner")
    phone.click("#more > summary")
    phone.click("#more a[href='/staff/invite/']")
    expect(phone.locator("#invite-title")).to_be_visible()

    # the limit follows the role; the user name and the other limits wait behind one line each
    named = phone.locator("main form [name]:not([type=hidden]):visible")
    names = named.evaluate_all("fields => fields.map(field => field.name)")
    assert names == ["full_name", "role", "per_order"]
    expect(phone.locator("[name=per_day]")).to_be_hidden()
    button = phone.locator("main form button.btn-primary").bounding_box()
    assert button
    assert button["y"] + button["height"] <= PHONE[1]

    # when one of those is filled in, and the form comes back
    phone.click("#more-fields summary")
    phone.fill("[name=per_day]", "1.000.000")
    faults = faults_of(phone)
    phone.click("main form button.btn-primary")

    # then it is still in sight
    expect(phone.locator("#id_full_name_error")).to_be_visible()
    expect(phone.locator("[name=per_day]")).to_have_value("1.000.000")
    expect(phone.locator("[name=per_day]")).to_be_visible()
    assert faults + faults_of(phone) == []

    phone.goto(f"{live_server.url}/staff/invite/")
    type_user_name(phone, with_script=True)
