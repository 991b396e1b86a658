"""Two accounts of one person do not count as two people."""

import datetime as dt
import re
from pathlib import Path

import pytest

from alerts.models import Alert
from alerts.services import evaluate_alerts
from approvals.errors import ApprovalRefused
from approvals.models import Approval
from approvals.services import may_see
from audit.models import AuditEvent
from core import clock
from core.rights import Role
from staff.models import AccessLink, User
from staff.services import Limits, change_limits, change_role, deactivate, invite, make_link, reactivate
from staff.services.independence import Hands
from staff.services.links import accept_link
from staff.services.own_factors import reset_factors
from testing.people import give_factor, make_person
from tests.approvals.helpers import approve, approver, ask_discount
from tests.staff.helpers import GOOD, invited

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {"tests", "testing", "node_modules"}


def joined(actor: User) -> User:
    person, token = invited(actor=actor)
    return accept_link(token, GOOD) or person


def again(person: User) -> User:
    return User.objects.get(pk=person.pk)


def refusal(approval: Approval, person: User) -> str:
    with pytest.raises(ApprovalRefused) as refused:
        approve(approval, person)
    approval.refresh_from_db()
    assert approval.is_open
    return refused.value.reason


@pytest.fixture
def boss(db):
    approver("first")
    return make_person("administrator", username="boss")


def test_given_an_account_that_one_invited_then_one_cannot_approve(discount, boss):
    approval, first = ask_discount(joined(boss)), User.objects.get(username="first")

    with pytest.raises(ApprovalRefused) as refused:
        approve(approval, boss)

    assert refused.value.reason == "not_independent"
    assert first.shown_name in str(refused.value), "who may approve instead"
    assert not discount.done
    approve(approval, first)
    assert discount.done


HELD = {
    "reset": lambda person, boss: accept_link(make_link(person, actor=boss), GOOD),
    "limits": lambda person, boss: change_limits(person, Limits(per_day=1_000_000), actor=boss),
    "role": lambda person, boss: (
        change_role(person, Role.VIEWER, actor=boss),
        change_role(person, Role.CASHIER, actor=None),
    ),
    "on": lambda person, boss: (deactivate(person, actor=boss), reactivate(person, actor=boss)),
}


def test_given_an_account_that_one_held_then_one_cannot_approve(discount, boss):
    for how, hold in HELD.items():
        person = make_person("cashier", username=how)
        hold(person, boss)

        assert refusal(ask_discount(again(person), subject=how), boss) == "not_independent", how


def test_given_a_link_that_nobody_used_or_31_days_then_they_are_two(discount, boss):
    ani = make_person("cashier", username="ani")
    make_link(ani, actor=boss)
    approve(ask_discount(ani), boss)
    assert len(discount.done) == 1

    sari = joined(boss)
    AccessLink.objects.update(used_at=clock.now() - dt.timedelta(days=31))
    approve(ask_discount(sari, subject="B"), boss)
    assert len(discount.done) == 2


def test_given_an_owner_then_another_owner_has_to_approve_and_no_account_that_one_held(discount, db):
    first, second = approver("first"), approver("second")
    approval = ask_discount(joined(first))
    assert refusal(approval, first) == "not_independent"
    approve(approval, second)

    puppet, reset = (make_person("administrator", username=name) for name in ("puppet", "reset"))
    accept_link(make_link(puppet, actor=first), GOOD)
    reset_factors(reset, actor=first)
    give_factor(reset)
    own = ask_discount(first, subject="B")
    assert [refusal(own, again(person)) for person in (puppet, reset)] == ["not_independent"] * 2


def test_given_one_owner_then_it_is_done_alone_and_seen(discount, db):
    only = approver("only")
    approval = ask_discount(joined(only))

    approve(approval, only)

    assert AuditEvent.objects.get(kind="approved").facts["alone"] is True
    evaluate_alerts()
    assert Alert.objects.get(kind="acted_alone").facts["name"] == only.shown_name
    assert may_see(approval, only)


def test_given_two_then_no_alert(discount, boss):
    approve(ask_discount(make_person("cashier", username="sari")), boss)

    evaluate_alerts()

    assert not Alert.objects.filter(kind="acted_alone").exists()


# --- one person behind both ----------------------------------------------------------------------------------------


def take(person: User, by: User) -> User:
    """Take the account over by a link for a new password, without the person's former factor."""
    reset_factors(person, actor=by if by.is_superuser else None)
    return again(accept_link(make_link(person, actor=by), GOOD))


def test_given_one_who_took_both_accounts_then_they_are_one(discount, db):
    accomplice, _other = approver("first"), approver("second")
    sari, budi = (take(make_person(role, username=role), accomplice) for role in ("cashier", "administrator"))
    give_factor(budi)

    assert refusal(ask_discount(sari), budi) == "not_independent"


def test_given_a_chain_of_accounts_then_its_ends_are_one(discount, db):
    owner, _other = approver("first"), approver("second")
    middle = take(make_person("administrator", username="middle"), owner)
    sari, raised = joined(middle), make_person("viewer", username="raised")
    change_role(raised, Role.CASHIER, actor=middle, approved_by=owner)

    assert refusal(ask_discount(sari), owner) == "not_independent"
    assert refusal(ask_discount(again(raised), subject="B"), owner) == "not_independent"


def test_given_two_whom_one_invited_then_they_are_two(discount, db):
    owner, _other = approver("first"), approver("second")
    sari = joined(owner)
    person, token = invite(username="budi", role=Role.ADMINISTRATOR, actor=None)
    AccessLink.objects.filter(person=person).update(made_by=owner)
    budi = again(accept_link(token, GOOD))
    give_factor(budi)

    approve(ask_discount(sari), budi)

    assert discount.done


def test_given_a_taken_account_and_no_other_then_only_an_owner(discount, db):
    only = approver("only")
    sari, budi = (take(make_person(role, username=role), only) for role in ("cashier", "administrator"))
    give_factor(budi)
    approval = ask_discount(sari)

    assert refusal(approval, budi) == "not_independent"
    approve(approval, only)
    assert AuditEvent.objects.get(kind="approved").facts["alone"] is True


def test_given_many_accounts_then_it_takes_one_query(boss, django_assert_num_queries):
    people = [joined(boss)] + [make_person("cashier", username=f"sari-{n}") for n in range(5)]

    with django_assert_num_queries(1):
        hands = Hands.read()
        assert [bool(hands.between(boss, person)) for person in people] == [True] + [False] * 5


def test_only_the_acts_call_what_they_execute():
    rooms = [folder for folder in ROOT.glob("[a-z]*/") if folder.is_dir() and folder.name not in NOT_OURS]
    texts = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for room in rooms for path in room.rglob("*.py")
    }
    for name, act in (
        ("approve_verdict", "purchases/services/acts.py"),
        ("approve_adjustment", "reconciliation/services/acts.py"),
    ):
        call = re.compile(rf"\b{name}\s*\(|[=(,]\s*{name}\b|\.{name}\b")
        places = {
            path
            for path, text in texts.items()
            for line in text.splitlines()
            if name in line and call.search(line) and not line.lstrip().startswith(("def ", "from ", "import "))
        }

        assert places == {act}
