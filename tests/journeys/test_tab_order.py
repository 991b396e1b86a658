"""The order of Tab, which is the order of the document, follows the shown order on a phone and on a wide screen."""

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from purchases.states import ActionReason, Status
from staff.roles import create_demo_staff
from testing.factories import make_order
from tests.journeys.helpers import PHONE, OpenWindow, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

# The focused element in `main`: its name, and the place of it, or of its table row, as if nothing were scrolled.
FOCUSED = """() => {
    const focused = document.activeElement;
    if (!focused.closest("main")) return null;
    let {left, right, top, bottom} = (focused.closest("tr") ?? focused).getBoundingClientRect();
    for (let around = focused.parentElement; around; around = around.parentElement) {
        left += around.scrollLeft, right += around.scrollLeft;
        top += around.scrollTop, bottom += around.scrollTop;
    }
    return {name: focused.id || focused.innerText || focused.name, left, right, top, bottom};
}"""

FOLLOW_EACH_OTHER = """() => {
    const seen = [...document.querySelectorAll("#overview-grid > *")].map(part => part.getBoundingClientRect());
    const isAfter = (part, one) => part.top > one.top || (part.top === one.top && part.left >= one.left);
    return seen.length > 3 && seen.every((part, number) => !number || isAfter(part, seen[number - 1]));
}"""


@pytest.fixture
def work() -> None:
    """Two orders: one that succeeded, and one that waits for a person."""
    create_demo_staff()
    make_order(Status.SUCCESS, selling_price=12_000)
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, sent_no=None)


def steps_back(page: Page) -> list[tuple[str, str]]:
    """Pairs of elements in the order of Tab whose second stands above the first, or before it in one row."""
    page.evaluate("document.querySelector('#main').focus()")
    page.keyboard.press("Tab")
    reached = []
    while part := page.evaluate(FOCUSED):
        reached.append(part)
        page.keyboard.press("Tab")
    assert len(reached) > 10
    return [(one["name"], other["name"]) for one, other in pairwise(reached) if is_before(other, one)]


def is_before(other: dict[str, float], one: dict[str, float]) -> bool:
    """Whether the other element stands wholly above, or wholly to the left in the same row."""
    is_in_row = one["top"] < (other["top"] + other["bottom"]) / 2 < one["bottom"]
    return other["bottom"] <= one["top"] or (is_in_row and other["right"] <= one["left"])


def test_tab_goes_down_the_page_on_a_phone_and_follows_what_is_seen(live_server: Any, open_window: OpenWindow, work):
    page = open_window(size=PHONE)
    sign_in(page, live_server.url, "owner", path=None)
    for path in ("/orders/?status=success&days=30", "/?days=today"):
        page.goto(f"{live_server.url}{path}")
        page.wait_for_load_state("networkidle")
        assert steps_back(page) == [], path

    # then: in each width the overview shows its parts in the order of the document
    for width in (PHONE[0], 820, 1440, PHONE[0]):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator("#earned-by .switch")).to_be_visible()
        expect(page.locator("#work-first")).to_be_visible()
        page.wait_for_function(FOLLOW_EACH_OTHER)  # the browser reports the new width with its next frame
