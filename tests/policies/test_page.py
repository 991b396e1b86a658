"""The page of the policies: a change takes a second factor, a looser value a second person; the environment wins."""

import datetime as dt
import re
from html import unescape

import pytest
from django.contrib.auth.models import Permission
from django.db import IntegrityError, transaction

from approvals.models import Approval
from approvals.services import withdraw
from audit.models import AuditEvent
from policies.bounds import BOUNDS
from policies.forms import PoliciesForm
from policies.models import Policies, PoliciesHistory
from policies.services import change_policies, policies
from policies.words import WORDS
from staff.models import User
from testing.people import browser_of, code_of, make_person, signed_in
from tests.approvals.helpers import approve, approver
from tests.core.helpers import codes, has_id, hidden

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/shop/policies/"


def typed(**changed: object) -> dict[str, object]:
    """The form as the page shows it, with these changes."""
    form = PoliciesForm(held=policies())
    fields = {name: form[name].value() for name in form.fields}
    return {name: "" if value is None else value for name, value in (fields | changed).items()}


def posted_from(page) -> dict[str, object]:
    """The form of this page, with the values that it has shown; a browser sends a field without a value as ""."""
    return {**typed(), **dict.fromkeys((f"initial-{name}" for name in WORDS), ""), **hidden(page)}


def faults(page) -> dict[str, list[str]]:
    """Field → codes of its faults."""
    return {name: [error.code for error in errors.as_data()] for name, errors in page.context["form"].errors.items()}


def test_a_stricter_policy_holds_at_once_and_the_log_names_only_it():
    owner = browser_of("admin")
    without_factor = owner.post(URL, typed(pin_idle_minutes=1))
    assert without_factor.context["refusal"].code.startswith("FactorRefused")
    assert codes(owner.confirm(URL, typed(), follow=True)) == {"policies_unchanged"}
    assert not AuditEvent.objects.filter(kind="setting_changed").exists()

    answer = owner.confirm(URL, typed(pin_order_limit="400.000", quiet_from="22:00", quiet_to="06:00"), follow=True)

    assert codes(answer) == {"policies_saved"}
    held = policies()
    assert (held.pin_order_limit, held.quiet_from, held.quiet_to) == (400_000, dt.time(22), dt.time(6))
    assert held.pin_idle_minutes == 5
    event = AuditEvent.objects.get(kind="setting_changed")
    assert event.before == {"pin_order_limit": 1_000_000, "quiet_from": None, "quiet_to": None}
    assert event.after == {"pin_order_limit": 400_000, "quiet_from": "22:00", "quiet_to": "06:00"}
    limits = PoliciesHistory.objects.order_by("pgh_id").values_list("pin_order_limit", flat=True)
    assert [*limits] == [1_000_000, 400_000]

    page = owner.get(URL).content.decode()
    (address,) = re.findall(r'id="policies-history" href="([^"]+)"', page)
    assert [row.kind for row in owner.get(unescape(address)).context["table"].rows] == ["setting_changed"]
    # "Rp" stands before an amount, other units behind a number
    fields = (page.partition(f'data-field="{name}"')[2] for name in ("pin_order_limit", "session_idle_minutes"))
    amount, minutes = fields
    assert amount.index(">Rp<") < amount.index("<input")
    assert minutes.index("<input") < minutes.index(">minutes<")


def test_given_a_page_from_before_then_a_colleagues_change_stays():
    first, second = browser_of("admin"), browser_of("administrator", username="anna")
    shown = posted_from(first.get(URL))
    second.confirm(URL, typed(alert_low_balance="5.000.000", opens_at="08:00", closes_at="21:00"))

    answer = first.confirm(URL, shown | {"complaint_due_hours": "12", "quiet_from": "22:00", "quiet_to": "06:00"})

    held = policies()
    assert (held.complaint_due_hours, held.quiet_from, held.quiet_to) == (12, dt.time(22), dt.time(6)), codes(answer)
    assert (held.alert_low_balance, held.opens_at, held.closes_at) == (5_000_000, dt.time(8), dt.time(21))

    # of hours, both ends of the page count when one is changed
    shown = posted_from(first.get(URL))
    second.confirm(URL, typed(quiet_from="", quiet_to=""))
    first.confirm(URL, shown | {"quiet_from": "21:00"})
    assert (policies().quiet_from, policies().quiet_to) == (dt.time(21), dt.time(6))


def test_a_looser_policy_waits_for_a_second_person_who_is_given_a_reason():
    person, cashier = make_person("admin"), make_person("cashier")
    owner, code = signed_in(person), code_of(person)

    refused = owner.post(URL, typed(drawer_difference_limit="100.000", factor_code=code))
    assert codes(refused) == {"NoReason"}
    assert has_id(refused, "id_reason")
    assert not Approval.objects.exists()

    # the code stays valid for the request with a reason
    reason = {"reason": "Coins are short", "factor_code": code}
    asked = owner.post(URL, typed(drawer_difference_limit="100.000", **reason), follow=True)
    approval = Approval.objects.get()
    assert approval.reason == "Coins are short"
    assert policies().drawer_difference_limit == 20_000
    assert has_id(owner.get(URL), "policies-waiting")
    assert has_id(asked, "nobody-else")
    cashier.user_permissions.add(Permission.objects.get(codename="change_policies"))
    assert not has_id(owner.get(approval.get_absolute_url()), "nobody-else")

    assert approve(approval, approver()).state == "approved"
    assert policies().drawer_difference_limit == 100_000
    event = AuditEvent.objects.get(kind="setting_changed")
    assert event.facts["approved_by"] == User.objects.get(username="budi").pk


def test_what_has_moved_since_it_was_asked_makes_the_request_void():
    owner = make_person("admin", username="sari")
    browser_of("administrator").confirm(URL, typed(drawer_difference_limit="100.000", reason="Coins are short"))
    change_policies({"drawer_difference_limit": 10_000}, actor=owner)

    assert approve(Approval.objects.get(), approver()).state == "void"
    assert policies().drawer_difference_limit == 10_000


def test_more_of_a_limit_and_less_of_a_wait_are_looser():
    person = make_person("admin")
    owner = signed_in(person)
    for name, value, is_looser in (
        ("pin_order_limit", 500_000, False),
        ("pin_order_limit", 2_000_000, True),
        ("order_verdict_after_minutes", 120, False),
        ("order_verdict_after_minutes", 15, True),
        ("complaint_due_hours", 48, False),
    ):
        owner.confirm(URL, typed(**{name: value}, reason="Because"))

        waiting = Approval.objects.open().first()
        assert (waiting is not None) is is_looser, (name, value)
        assert (getattr(policies(), name) == value) is not is_looser, (name, value)
        if waiting:
            withdraw(waiting, actor=person)


def test_to_keep_texts_without_end_and_back_takes_one_person():
    names = ("callbacks_kept_days", "batch_texts_kept_days")
    Policies.objects.create(**dict.fromkeys(names, 400))
    owner = browser_of("admin")

    for before, text, after in ((400, "", None), (None, "400", 400)):
        for name in names:
            answer = owner.confirm(URL, typed(**{name: text}), follow=True)

            assert codes(answer) == {"policies_saved"}, (name, text)
            assert getattr(policies(), name) == after
            event = AuditEvent.objects.filter(kind="setting_changed").latest("pk")
            assert (event.before, event.after) == ({name: before}, {name: after})
    assert not Approval.objects.exists()
    assert owner.get("/audit/").status_code == 200


def test_what_the_environment_sets_wins_is_named_and_cannot_be_changed(settings):
    settings.POLICIES = {"pin_order_limit": 250_000}
    owner = browser_of("admin")

    assert "PIN_ORDER_LIMIT" in owner.get(URL).content.decode()
    owner.confirm(URL, typed(pin_order_limit="100"))

    assert policies().pin_order_limit == 250_000
    settings.POLICIES = {}
    assert policies().pin_order_limit == 1_000_000


def test_a_value_out_of_its_bounds_is_refused_on_the_page_and_by_the_database():
    answer = browser_of("admin").confirm(URL, typed(exchanges_kept_days=89, quiet_from="22:00", quiet_to=""))
    assert faults(answer) == {"exchanges_kept_days": ["min_value"]}
    answer = browser_of("admin", username="second").confirm(URL, typed(quiet_from="22:00", quiet_to=""))
    assert faults(answer) == {"quiet_to": ["both"]}

    Policies.objects.create(only=True)
    for name, bounds in BOUNDS.items():
        for value in (bounds.least - 1, bounds.most + 1):
            with pytest.raises(IntegrityError), transaction.atomic():
                Policies.objects.update(**{name: value})
