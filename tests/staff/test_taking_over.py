"""Nobody gets more than their own role through a colleague's account. Money needs two people, not two accounts."""

from functools import partial
from unittest import mock

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.backends.base import UpdateError
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from core.rights import Role
from staff.errors import LinkRefused, NameTaken, NotAllowed
from staff.models import Session, User
from staff.roles import give_role
from staff.services import accept_link, change_role, deactivate, end_sessions, invite, make_link, reactivate
from testing.orders import at_once
from testing.people import make_person
from tests.core.helpers import codes, has_id, run
from tests.staff.helpers import GOOD, STEPS, administrator, choose, invited, open_link, owner, refused, signed_in

pytestmark = pytest.mark.django_db


def permission(full_name: str) -> Permission:
    app_label, codename = full_name.split(".")
    return Permission.objects.get(content_type__app_label=app_label, codename=codename)


def test_who_holds_more_than_a_lower_role_is_an_owners_matter():
    boss, head, group = administrator(), owner(), Group.objects.create(name="night shift")
    group.permissions.add(permission("purchases.decide_order"))
    for number, (name, step) in enumerate([*STEPS.items()] * 2):
        person = make_person("cashier", username=f"cashier-{number}")
        if number < len(STEPS):
            person.user_permissions.add(permission("ledger.adjust_balance"))
        else:
            person.groups.add(group)
        if name == "withdraw":
            make_link(person, actor=None)
        User.objects.filter(pk=person.pk).update(is_active=name != "reactivate")

        assert refused(partial(step, person, boss)) == "above_own", (name, number)
        step(person, head)


def test_an_owner_may_with_everybody_else():
    boss = owner()

    for name, step in STEPS.items():
        for role in ("admin", "administrator", "auditor", ""):
            person = make_person(role, username=f"{name}-{role}")
            if name == "withdraw":
                make_link(person, actor=None)
            step(person, boss)


def test_a_viewer_who_may_manage_staff_gives_no_role():
    person = make_person("viewer")
    person.user_permissions.add(permission("staff.manage_staff"))
    browser = signed_in(person)

    for role in Role:
        assert refused(lambda role=role: invite(username="x", role=role, actor=person)) == "role_above_own"
    assert refused(lambda: make_link(make_person("auditor"), actor=person)) == "above_own"
    assert not has_id(browser.get("/staff/invite/"), "id_role_0")


def test_no_field_of_a_form_gives_rights():
    browser = signed_in(administrator())
    target = make_person("cashier")
    typed = {"language": "en", "theme": "dark", "role": "cashier", "full_name": "X", "username": "x"}

    for address in ("/me/", "/staff/invite/", f"/staff/{target.pk}/role/"):
        for field in ("is_superuser", "is_staff", "groups", "user_permissions", "is_active", "password"):
            browser.post(address, typed | {field: "3"})

        for user in User.objects.all():
            assert (user.is_superuser, user.is_staff, user.is_active) == (False, False, True), address
            assert not user.user_permissions.exists()
            assert user.groups.count() == 1


def test_a_link_dies_when_its_person_rises_above_its_maker():
    boss = administrator()
    person, token = invited(actor=boss)
    reset = make_link(make_person("auditor"), actor=boss)

    change_role(person, Role.OWNER, actor=owner())
    change_role(User.objects.get(username="auditor"), Role.ADMINISTRATOR, actor=None)

    for link in (token, reset):
        assert codes(open_link(link)) == {"LinkRefused:withdrawn"}
        assert choose(link).status_code == 410


def test_a_link_dies_with_the_right_of_its_maker_and_is_not_shown_as_open():
    browser = signed_in(owner())
    for how in ("off", "lower"):
        boss, person = administrator(f"boss-{how}"), make_person("cashier", username=how)
        token, page = make_link(person, actor=boss), f"/staff/{person.pk}/"
        assert has_id(browser.get(page), "link-until")

        if how == "off":
            deactivate(boss, actor=None)
        else:
            change_role(boss, Role.AUDITOR, actor=None)

        with pytest.raises(LinkRefused):
            accept_link(token, GOOD)
        assert not has_id(browser.get(page), "link-until"), how
        assert Client().login(username=how, password="secret-words")


def test_the_form_of_a_link_needs_its_csrf_token_and_gives_a_new_session_key():
    person, token = invited()
    assert choose(token, client=Client(enforce_csrf_checks=True)).status_code == 403
    client = Client()
    planted = signed_in(make_person("auditor")).session.session_key
    client.cookies["sessionid"] = planted

    choose(token, client=client)

    assert client.session.session_key != planted
    assert not Session.objects.filter(session_key=planted).exists()
    assert Session.objects.get(person=person).session_key == client.session.session_key


def test_a_link_shown_never_leads_to_a_host_of_the_request():
    boss, person = signed_in(owner()), make_person("cashier")

    forwarded = boss.confirm(f"/staff/{person.pk}/link/", headers={"X-Forwarded-Host": "evil.example"})
    poisoned = boss.confirm(f"/staff/{person.pk}/link/", headers={"Host": "evil.example"})

    assert "evil.example" not in forwarded.content.decode()
    assert poisoned.status_code == 400


def test_no_log_line_holds_the_token_even_when_the_page_fails(caplog):
    caplog.set_level("DEBUG")
    _person, token = invited()
    browser = Client(raise_request_exception=False)
    with mock.patch("staff.views.signing_in.read_link", side_effect=RuntimeError("broken")):
        assert open_link(token, browser).status_code == 500
        assert choose(token, client=browser).status_code == 500
    open_link(token)
    choose(token)
    open_link(token)

    assert token not in caplog.text
    assert token not in str([vars(record) for record in caplog.records if record.name != "django.request"])


def test_a_session_ended_is_not_written_again_by_a_late_request():
    person = make_person("cashier")
    on_its_way = signed_in(person).session
    on_its_way["x"] = 1

    end_sessions(person, actor=owner())

    with pytest.raises(UpdateError):
        on_its_way.save()
    assert not person.sessions.exists()


def test_own_settings_saved_late_give_nothing_back():
    owner("second")
    typed = {"language": "en", "theme": "dark", "oldpassword": "secret-words", "password1": GOOD, "password2": GOOD}
    for name, address in (("settings", "/me/"), ("password", "/accounts/password/change/")):
        person = owner(name)
        browser = signed_in(person)

        def meanwhile(_form: object, person: User = person) -> None:
            change_role(person, Role.CASHIER, actor=None)
            deactivate(person, actor=None)

        with mock.patch("django.forms.forms.BaseForm._clean_form", meanwhile):
            browser.post(address, typed)

        person.refresh_from_db()
        assert (person.is_active, person.is_superuser) == (False, False), name


def test_a_password_changed_late_never_replaces_the_one_of_a_link():
    person = make_person("cashier")
    token = make_link(person, actor=None)
    browser = signed_in(person)
    typed = {"oldpassword": "secret-words", "password1": "their-own-8-words", "password2": "their-own-8-words"}

    with mock.patch("django.forms.forms.BaseForm._clean_form", side_effect=lambda: accept_link(token, GOOD)):
        assert browser.post("/accounts/password/change/", typed).status_code == 403

    person.refresh_from_db()
    assert person.check_password(GOOD)


def test_a_sign_in_on_its_way_is_out_when_switched_on_again():
    person = make_person("cashier")
    deactivate(person, actor=None)
    late = signed_in(person)  # the password was checked before

    assert late.get("/orders/").status_code == 302
    late = signed_in(person)
    reactivate(person, actor=None)

    assert late.get("/orders/").status_code == 302


def test_with_a_real_upstream_no_demo_account_is_switched_on(settings):
    settings.SANDBOX = False
    person, head = make_person("cashier", is_demo=True, is_active=False), owner()

    assert refused(lambda: STEPS["reactivate"](person, head)) == "demo"
    person.set_unusable_password()
    person.save()
    assert refused(lambda: STEPS["link"](person, head)) == "demo"
    person.refresh_from_db()
    assert not person.is_active


@pytest.mark.django_db(transaction=True)
def test_of_two_names_at_once_that_differ_in_case_one_stays():
    results = at_once(*(lambda name=name: invited(username=name) for name in ("Sari", "sari")))

    assert [type(result).__name__ for result in results].count("NameTaken") == 1


def test_a_name_in_other_or_wide_letters_is_the_same_name():
    make_person("cashier", username="sari")

    for name in ("SARI", "\uff33ari"):  # full-width S
        with pytest.raises(NameTaken):
            invited(username=name)
        assert Client().post("/accounts/login/", {"login": name, "password": "secret-words"}).status_code == 302


def test_several_roles_at_once_count_as_the_highest():
    person = administrator("both")
    person.groups.add(Group.objects.get(name="cashier"))

    assert refused(lambda: change_role(person, Role.CASHIER, actor=administrator())) == "above_own"
    give_role(person, Role.CASHIER)
    assert not User.objects.get(pk=person.pk).has_perm("staff.manage_staff")


def test_an_owner_switched_off_is_above_an_administrator_still():
    off = owner()
    User.objects.filter(pk=off.pk).update(is_active=False)

    assert refused(lambda: reactivate(off, actor=administrator())) == "above_own"
    with pytest.raises(NotAllowed):
        deactivate(make_person("cashier"), actor=off)


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_lower_each_other_one_stays():
    first, second = owner("one"), owner("two")
    invited(Role.OWNER, username="not-joined")

    results = at_once(
        lambda: change_role(first, Role.CASHIER, actor=second), lambda: change_role(second, Role.CASHIER, actor=first)
    )

    assert [getattr(result, "reason", None) for result in results].count("no_right") == 1
    assert User.objects.exclude(username="not-joined").filter(is_superuser=True).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_link_used_during_switching_off_opens_nothing():
    for turn in range(3):
        person, token = invited(username=f"sari-{turn}")

        results = at_once(
            lambda token=token: accept_link(token, GOOD), lambda person=person: deactivate(person, actor=None)
        )

        assert results[1] is None
        assert isinstance(results[0], User | LinkRefused)
        assert not Client().login(username=person.username, password=GOOD)


def test_a_command_finds_the_name_as_it_is_signed_in_with():
    person = make_person("cashier")

    for name in ("CASHIER", "\uff23ashier"):
        User.objects.update(is_active=True)
        assert run("deactivate_staff", name)[0] == 0
        person.refresh_from_db()
        assert not person.is_active, name


def test_an_odd_name_is_one_sentence_to_a_command_and_refused_beside_its_field():
    for name in ("", "a" * 151, "a\nb", "\ufdfa", "\ufdfa" * 100):
        for arguments in (("add_staff", name, "--role", "cashier"), ("deactivate_staff", name)):
            code, sentence = run(*arguments)

            assert code in {1, 2}, arguments
            assert len(sentence.splitlines()) <= 2, arguments
    assert not User.objects.exists()

    browser = signed_in(administrator())
    for name in ("a\x00b", "\ufdfa", "\ufdfa" * 100, "a\nb"):
        typed = {"full_name": "X", "username": name, "role": "cashier"}
        assert browser.confirm("/staff/invite/", typed).status_code in {200, 400}, name
    assert User.objects.count() == 1


def test_switched_off_no_address_answers_a_session_any_more():
    person = owner()
    browser = signed_in(person)
    User.objects.filter(pk=person.pk).update(is_active=False)  # the session row still exists
    addresses = [pattern for pattern in everywhere() if "<" not in pattern and not pattern.startswith("accounts/")]

    answers = {address: browser.get(f"/{address}") for address in addresses}
    live = {address: browser.get(f"/{address}", headers={"HX-Request": "true"}) for address in addresses}

    assert len(answers) > 20
    open_to_all = {address for pages in (answers, live) for address, page in pages.items() if person_shown(page)}
    # the first two are for the next person at a till; the others show only the shop's name
    assert open_to_all <= {"till/", "till/enrol/", "manifest.webmanifest", "offline/"}


def everywhere() -> list[str]:
    return [str(pattern.pattern) for pattern in get_resolver().url_patterns if isinstance(pattern, URLPattern)] + [
        f"{pattern.pattern}{inner.pattern}"
        for pattern in get_resolver().url_patterns
        if isinstance(pattern, URLResolver)
        for inner in pattern.url_patterns
    ]


def person_shown(answer) -> bool:
    return answer.status_code == 200 and "HX-Refresh" not in answer.headers
