"""Pages behind rights that the table marks `fresh`, and no other page, ask for a second factor again."""

import re
from typing import Any

import pytest
from django.urls import get_resolver, resolve, reverse

from alerts.models import AddedWay
from approvals.acts import all_acts
from audit.acts import STEPS
from batches.models import Batch
from branches.models import FIRST
from core.rights import Right, Trait
from credit.models import CreditAccount
from policies.bounds import BOUNDS, SWITCHES
from staff.errors import FactorRefused
from staff.services import factors
from testing.people import browser_of, make_person
from tests.customers.helpers import make_customer
from tests.reconciliation.helpers import make_difference
from tests.roles.helpers import HOUSE, routes, tables
from tests.tills.helpers import make_till

pytestmark = pytest.mark.django_db

FRESH = frozenset(right for right in Right if Trait.FRESH in right.traits)
STEP_IN_TEMPLATE = re.compile(r"\bwith act=\"(\w+)\"")
PK = 777_000_000  # no sequence reaches this key, also after many tests
# The posts behind such a right that do not ask again, with the reason.
FREE = {
    "batch_step": "stops, goes on with what was released so, or takes away",
    "bill_number": "shows one number, which is noted each time",
    "kind_edit": "corrects a kind of numbers, no price",
    "order_number": "shows one number, which is noted each time",
    "staff_sign_out": "takes away only",
    "staff_withdraw": "takes away only",
    "ways_test": "sends a test message only",
    "till_printer_set": "chooses how receipts come out, and sells nothing",
    "till_tiles": "puts products first on a page, and sells nothing",
    "topup_cancel": "takes nothing into the books",
}
# All other posts: the address, and a form that is valid enough to reach the question.
FORMS: dict[str, tuple[list[Any], dict[str, str]]] = {
    "alert_way_remove": ([PK], {}),
    "alert_ways": ([], {"name": "Owner", "token": f"123456789:{'A' * 35}", "chat": "-42"}),
    "batch_release": ([PK], {"seal": "0" * 64}),
    "credit_brought": ([PK], {"amount": "20000", "reason": "Book", "token": "b3bd2c1e-8a56-4a8e-93c8-0c6d9ffaa0d4"}),
    "credit_terms": ([PK], {"cap": "500000", "due_days": "14"}),
    "difference_acknowledge": ([PK], {"note": "BCA"}),
    "drawer_day_sign": (["2026-01-02"], {}),
    "open_shop": ([], {}),
    "policies": ([], {name: str(bounds.default) for name, bounds in BOUNDS.items()} | dict.fromkeys(SWITCHES, "False")),
    "price_rule": ([], {"target": "all:prepaid", "kind": "plus", "value": "500", "round_to": "1"}),
    "role_detail": (["viewer"], {"rights": "purchases.view_order"}),
    "staff_bind": ([PK], {"bound": "1"}),
    "staff_deactivate": ([PK], {}),
    "staff_drawer": ([PK], {}),
    "staff_invite": ([], {"full_name": "Sari", "username": "sari", "role": "viewer"}),
    "staff_limits": ([PK], {}),
    "staff_link": ([PK], {}),
    "staff_move": ([PK], {}),
    "staff_reactivate": ([PK], {}),
    "staff_reset_factors": ([PK], {}),
    "staff_role": ([PK], {"role": "viewer"}),
    "till_add": ([], {"name": "Kasir 2"}),
    "till_detail": ([PK], {"name": "Kasir 1", "pin_limit": "50000"}),
    "till_switch_off": ([PK], {}),
    "till_unlock": ([PK], {}),
    "topup_announce": ([], {"amount": "500000"}),
}


def fresh_pages() -> dict[str, frozenset[Right]]:
    """Each address that takes a POST behind rights marked `fresh`: its name → these rights."""
    documented = tables()["address"]
    rights = {
        name: FRESH.intersection(getattr(resolve(address).func, "rights", ()))
        for name, address in routes(get_resolver().url_patterns)
        if f"{name} POST" in documented
    }
    return {name: held for name, held in rights.items() if held}


def test_each_fresh_right_has_an_act_that_asks_and_no_other_has():
    assert get_resolver().url_patterns  # this loads all views
    asking = {step.right for step in STEPS.values() if step.right}

    assert asking | {act.may_approve for act in all_acts().values()} == FRESH


def test_each_post_behind_a_fresh_right_asks_or_says_why_not():
    assert set(fresh_pages()) == FORMS.keys() | FREE.keys()


def test_without_a_second_factor_it_asks_for_one(monkeypatch):
    asked: dict[str, list[Right]] = {name: [] for name in FORMS}
    make_person("cashier", pk=PK), make_till(pk=PK), make_difference(500, pk=PK)
    Batch.objects.create(pk=PK, branch_id=FIRST, sha256="0" * 64)
    CreditAccount.objects.create(customer=make_customer(pk=PK), cap=0, due_days=14)
    AddedWay.objects.create(pk=PK, name="Owner", added_by_id=PK)
    browser, pages = browser_of("admin"), fresh_pages()

    def refuse(_person: Any, _shown: Any, *, act: str, content: Any) -> None:
        asked[name].append(STEPS[act].right)
        raise FactorRefused("missing")

    monkeypatch.setattr(factors, "use_factor", refuse)
    previewed = browser.get(reverse("price_rule"), FORMS["price_rule"][1]).content.decode()
    seen = {"price_rule": {"seen": previewed.split('name="seen" value="')[1].split('"')[0]}}
    for name, (args, fields) in FORMS.items():
        browser.post(reverse(name, args=args), fields | seen.get(name, {}))

    assert {name: len(rights) for name, rights in asked.items()} == dict.fromkeys(FORMS, 1)
    assert [name for name, rights in asked.items() if rights[0] not in pages[name]] == []


def test_templates_name_only_steps_that_there_are():
    named = {
        step for path in (HOUSE / "templates").rglob("*.html") for step in STEP_IN_TEMPLATE.findall(path.read_text())
    }

    assert get_resolver().url_patterns
    assert named
    assert named <= STEPS.keys()
