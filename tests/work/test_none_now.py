"""The list of work names the kinds of work that have no row; the overview says that nothing waits."""

import re

import pytest
from django.contrib.auth.models import Permission

from branches.models import FIRST
from purchases.models import Incident
from purchases.states import ActionReason, Status
from testing.factories import make_order
from testing.people import browser_of, make_person, signed_in
from tests.branches.helpers import make_branch
from tests.core.helpers import counts_at, has_id, words_at
from tests.reconciliation.helpers import make_difference

pytestmark = pytest.mark.django_db


def test_of_one_branch_differences_are_said_to_be_of_the_shop():
    # given a difference, and an owner who looks at one of two branches
    make_branch()
    make_difference(-1_000, "unexplained_debit")
    browser = browser_of("admin")

    of_one, of_all = browser.get(f"/work/?branch={FIRST}"), browser.get("/work/")

    assert [kind.code for kind in of_one.context["none"]] == ["incident"]
    assert [re.findall(r'data-of-shop="(\w+)"', seen.content.decode()) for seen in (of_one, of_all)] == [
        ["difference"],
        [],
    ]


def test_it_is_said_to_people_alone_who_see_such_work_and_do_it():
    for held, named in [
        (["acknowledge_difference", "resolve_order"], []),
        (["view_difference", "view_order"], []),
        (["acknowledge_difference", "view_difference", "resolve_order"], ["difference"]),
        (["view_difference", "resolve_order", "view_order"], ["incident"]),
    ]:
        person = make_person("supervisor", username="-".join(held))
        person.groups.clear()
        person.user_permissions.set(Permission.objects.filter(codename__in=held))

        context = signed_in(person).get("/work/").context

        assert [kind.code for kind in context["none"]] == named, held
        assert {code for code, _words, _count in context.get("kinds", [])} <= {*named}


def test_of_one_branch_it_is_said_that_nothing_waits_there_and_how_much_in_all():
    quiet = make_branch("Timur")
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
    browser = browser_of("admin")

    there, here = browser.get(f"/work/first/?branch={quiet.pk}"), browser.get(f"/work/first/?branch={FIRST}")

    assert "Timur" in words_at(there, 'id="nothing-waits"')
    assert counts_at(there, 'id="waits-in-all"') == counts_at(browser.get("/work/"), 'id="count-work"') == [1]
    assert (has_id(here, "nothing-waits"), has_id(here, "waits-in-all")) == (False, False), "all of it is there"


def test_where_not_all_was_read_nothing_is_said_to_be_none(monkeypatch):
    # given an incident that is due after all rows that are read
    monkeypatch.setattr("work.services.MOST", 2)
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, sent_at="2026-01-01T00:00Z")
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, sent_at="2026-01-01T00:00Z")
    Incident.objects.create(order=order, kind="contradiction", source="poll", detail="failed after success")

    assert browser_of("admin").get("/work/").context["none"] == []
