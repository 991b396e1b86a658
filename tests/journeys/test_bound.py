"""A bound supervisor, by hand: lists, "find anything", earnings and files name only the person's branch."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.branches.two_branches import NUMBER, make_two_branches
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def found(page: Page, text: str) -> str:
    """The results that the window of "find anything" shows for this text."""
    page.keyboard.press("Control+k")
    page.fill("#find-q", text)
    expect(page.locator(f'#find-results[data-text="{text}"]')).to_be_visible()
    shown = page.inner_text("#find-results")
    page.keyboard.press("Escape")
    return shown


def test_a_bound_supervisor_meets_the_own_branch_alone(live_server: Any, open_window: OpenWindow):
    two = make_two_branches()
    page, seen = open_window(language="en-GB"), []
    sign_in(page, live_server.url, two.supervisor.username)

    # when: the pages of each place are opened
    for path in ("/", "/work/?whose=shop", "/orders/", "/shifts/", "/earnings/?by=person", "/staff/"):
        page.goto(f"{live_server.url}{path}")
        expect(page.locator("#own-branch")).to_have_text(two.own.branch.name)
        seen.append(page.inner_text("body"))

    # and: people, drawers and numbers of both branches are searched for
    own = [found(page, text) for text in ("Melati", "Drawer Melati")]
    seen += [*own, *(found(page, text) for text in ("zebra", NUMBER))]

    # and: the list of orders becomes a file
    page.goto(f"{live_server.url}/orders/")
    with page.expect_download() as download:
        page.evaluate("location.href = '/orders/file/?format=csv'")
    seen.append(download.value.path().read_text())

    assert [two.said(text) for text in seen] == [[]] * len(seen)
    assert ("Melati" in own[0], "Drawer Melati" in own[1]) == (True, True)
    assert two.own.order.ref_id in seen[-1]
    assert faults_of(page) == []
