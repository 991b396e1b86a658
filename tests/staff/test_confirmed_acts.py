"""Acts on other people's accounts take a fresh second factor, for exactly that act."""

import json

import pytest
from django.contrib.auth.models import Permission

from audit.models import AuditEvent
from core.rights import Right
from staff.events import FACTOR_FAILED, FACTOR_REMOVED, FACTOR_USED
from staff.models import RoleLimits, User
from staff.services import deactivate, has_factor
from testing.people import Browser, code_of, give_factor, make_person
from tests.branches.helpers import make_branch
from tests.staff.helpers import administrator, groups, invited, owner, signed_in
from tests.staff.own_keys import with_passkey

pytestmark = pytest.mark.django_db


def post(browser: Browser, person: User, step: str, **fields):
    return browser.post(f"/staff/{person.pk}/{step}/", fields, follow=True)


def code_shown(answer) -> str:
    return next((message.extra_tags for message in answer.context["messages"]), "")


def test_an_act_without_a_code_changes_nothing():
    person, off = make_person("cashier"), make_person("viewer")
    deactivate(off, actor=None)
    give_factor(person)
    boss = signed_in(owner())
    before = User.objects.count()

    for step, fields in (("role", {"role": "viewer"}), ("deactivate", {}), ("link", {}), ("reset-factors", {})):
        assert "FactorRefused:missing" in code_shown(post(boss, person, step, **fields)), step
    post(boss, off, "reactivate")
    boss.post("/staff/invite/", {"full_name": "Sari", "username": "sari", "role": "cashier"})

    person.refresh_from_db()
    assert (person.is_active, groups(person), has_factor(person)) == (True, {"cashier"}, True)
    assert not person.links.exists()
    assert not User.objects.get(pk=off.pk).is_active
    assert User.objects.count() == before


def test_one_code_confirms_one_act():
    boss = owner()
    browser, code = signed_in(boss), code_of(boss)
    first, second = make_person("cashier", username="ani"), make_person("cashier", username="budi")

    post(browser, first, "deactivate", factor_code=code)
    post(browser, second, "deactivate", factor_code=code)

    assert [User.objects.get(pk=person.pk).is_active for person in (first, second)] == [False, True]


def test_an_act_that_is_refused_leaves_its_code_valid():
    boss, cashier = administrator(), make_person("cashier")
    boss.user_permissions.add(Permission.objects.get(codename="change_roles"))
    RoleLimits.objects.create(role="administrator", per_order=5_000)
    browser, code = signed_in(boss), code_of(boss)
    above = {"rights": [Right.PUBLISH_PRICES], "factor_code": code}

    shown = [
        code_shown(post(browser, make_person("supervisor"), "role", role="viewer", factor_code=code)),
        code_shown(post(browser, cashier, "limits", per_order="9.000", factor_code=code)),
        browser.post("/staff/roles/viewer/", above).context["refusal"].code,
    ]
    post(browser, cashier, "role", role="viewer", factor_code=code)

    assert not [words for words in shown if "Factor" in words], shown
    assert groups(cashier) == {"viewer"}


def test_a_step_with_an_account_that_is_refused_leaves_its_code_valid():
    boss, branch = owner(), make_branch("Tebet")
    people = {"boss": boss, "cashier": make_person("cashier"), "off": make_person("viewer"), "invited": invited()[0]}
    for name in ("off", "invited"):
        deactivate(people[name], actor=None)
    browser, kinds = signed_in(boss), AuditEvent.objects.filter(kind__in=[FACTOR_USED.key, FACTOR_FAILED.key])

    for number, (step, refused, accepted) in enumerate(
        (
            ("branch", "boss", "cashier"),
            ("bind", "boss", "cashier"),
            ("link", "off", "cashier"),
            ("reset-factors", "boss", "cashier"),
            ("deactivate", "boss", "cashier"),
            ("reactivate", "invited", "off"),
        )
    ):
        typed = {"bound": "1", "branch": branch.pk, "factor_code": code_of(boss)}
        assert code_shown(post(browser, people[refused], step, **typed)).startswith("NotAllowed"), step
        assert kinds.count() == number, step
        post(browser, people[accepted], step, **typed)
        assert kinds.filter(kind=FACTOR_USED.key).count() == number + 1, step


def test_an_invitation_that_is_refused_leaves_its_code_valid():
    boss = owner()
    make_person("cashier", username="ani")
    RoleLimits.objects.create(role="cashier", per_order=5_000)
    browser, code = signed_in(boss), code_of(boss)
    typed = {"full_name": "Sari", "username": "sari", "role": "supervisor", "factor_code": code}

    taken = browser.post("/staff/invite/", typed | {"username": "ani"})
    later = browser.post("/staff/invite/", typed | {"per_order": "1.000"})
    above = browser.post("/staff/invite/", typed | {"role": "cashier", "per_order": "9.000"})
    browser.post("/staff/invite/", typed)

    refused = [name for answer in (taken, later, above) for name in answer.context["form"].errors]
    assert refused == ["username", "role", "role"]
    assert User.objects.filter(username="sari").exists()


def test_a_passkey_confirms_the_role_that_was_chosen_alone():
    boss, person = owner(), make_person("supervisor")
    key, browser = with_passkey(boss), signed_in(boss)

    for chosen, before in (("cashier", "supervisor"), ("viewer", "viewer")):
        asked = {"act": "change_role", "content": json.dumps({"person": person.pk, "role": "viewer"})}
        options = browser.post("/me/factors/options/", asked).json()["publicKey"]

        post(browser, person, "role", role=chosen, factor_assertion=key.sign(options))

        assert groups(person) == {before}, chosen


def test_a_passkey_confirms_the_name_also_without_a_user_name():
    boss = owner()
    key, browser = with_passkey(boss), signed_in(boss)
    form = {"full_name": "Sari", "username": "", "role": "cashier"}
    names = browser.get("/staff/invite/").context["confirmed"].split()
    asked = {"act": "invite", "content": json.dumps({name: form.get(name, "") for name in names})}

    for typed, invited_names in (("Budi", []), ("Sari", ["sari"])):
        options = browser.post("/me/factors/options/", asked).json()["publicKey"]

        browser.post("/staff/invite/", {**form, "full_name": typed, "factor_assertion": key.sign(options)})

        names = User.objects.filter(username__in=("sari", "budi")).values_list("username", flat=True)
        assert [*names] == invited_names, typed


def test_an_owner_alone_resets_a_lost_factor():
    boss, person = owner(), make_person("cashier")
    give_factor(person)
    theirs = signed_in(person)
    signed_in(administrator()).confirm(f"/staff/{person.pk}/reset-factors/")
    assert has_factor(person)

    signed_in(boss).confirm(f"/staff/{person.pk}/reset-factors/")

    assert not has_factor(person)
    assert theirs.get("/me/").status_code == 302
    event = AuditEvent.objects.get(kind=FACTOR_REMOVED.key)
    assert (event.person_id, event.subject, event.before) == (boss.pk, "cashier", {"kinds": ["totp"]})


def test_uses_and_refusals_of_factors_are_recorded():
    boss = owner()
    browser = signed_in(boss)
    post(browser, make_person("cashier"), "link", factor_code="12")
    browser.confirm(f"/staff/{make_person('viewer').pk}/link/")

    events = AuditEvent.objects.filter(kind__startswith="factor_").order_by("pk").values_list("kind", "facts")
    assert [(kind, facts["act"]) for kind, facts in events] == [
        (FACTOR_FAILED.key, "access_link"),
        (FACTOR_USED.key, "access_link"),
    ]


def test_the_list_shows_who_has_no_second_factor():
    browser = signed_in(owner())
    administrator()
    make_person("cashier")

    for which, names in (("none", ["cashier"]), ("some", ["boss", "owner"])):
        page = browser.get(f"/staff/?factor={which}")

        assert sorted(person.username for person in page.context["page"]) == names
        assert ('data-factor="none"' in page.content.decode()) is (which == "none")
