"""A bound supervisor, by hand: the page names the person's branch, and "find anything" has only that one's rows."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.branches.two_branches import NUMBER, make_two_branches
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_a_bound_supervisor_meets_the_own_branch_alone(live_server: Any, open_window: OpenWindow):
    two = make_two_branches()
    page = open_window(language="en-GB")
    sign_in(page, live_server.url, two.supervisor.username, "/earnings/?by=person")
    expect(page.locator("#own-branch")).to_have_text(two.own.branch.name)
    seen = page.inner_text("body")
    assert faults_of(page) == []

    # when: people, drawers and numbers of both branches are searched for
    page.keyboard.press("Control+k")
    for text in ("Melati", "zebra", NUMBER):
        page.fill("#find-q", text)
        expect(page.locator(f'#find-results[data-text="{text}"]')).to_be_visible()
        shown = page.inner_text("#find-results")
        assert two.said(shown) == [], text
        assert text != "Melati" or "Drawer Melati" in shown
    assert two.said(seen) == []
