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


def test_no_administrator_takes_over_another_administrator():
    boss, second = administrator(), administrator("second")

    assert {refused(partial(step, second, boss)) for step in STEPS.values()} == {"above_own"}


def test_no_administrator_makes_a_second_administrator():
    boss, person = administrator(), make_person("cashier")

    assert refused(lambda: invited(Role.ADMINISTRATOR, actor=boss)) == "role_above_own"
    assert refused(lambda: change_role(person, Role.ADMINISTRATOR, actor=boss)) == "role_above_own"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("how", ["own", "group"])
def test_who_holds_more_than_a_lower_role_is_an_owners_matter(step, how):
    person = make_person("cashier")
    if how == "own":
        person.user_permissions.add(permission("ledger.adjust_balance"))
    else:
        group = Group.objects.create(name="night shift")
        group.permissions.add(permission("purchases.decide_order"))
        person.groups.add(group)
    if step == "withdraw":
        make_link(person, actor=None)
    User.objects.filter(pk=person.pk).update(is_active=step != "reactivate")

    assert refused(lambda: STEPS[step](person, administrator())) == "above_own"
    STEPS[step](person, owner())


@pytest.mark.parametrize("step", STEPS)
def test_an_owner_may_with_everybody_else(step):
    boss = owner()

    for person in (owner("second"), administrator(), make_person("auditor"), make_person("")):
        if step == "withdraw":
            make_link(person, actor=None)
        STEPS[step](person, boss)


def test_a_viewer_who_may_manage_staff_gives_no_role():
    person = make_person("viewer")
    person.user_permissions.add(permission("staff.manage_staff"))
    browser = signed_in(person)

    for role in Role:
        assert refused(lambda role=role: invite(username="x", role=role, actor=person)) == "role_above_own"
    assert refused(lambda: make_link(make_person("auditor"), actor=person)) == "above_own"
    assert not has_id(browser.get("/staff/invite/"), "id_role_0")


@pytest.mark.parametrize("address", ["/me/", "/staff/invite/", "/staff/{pk}/role/"])
def test_no_field_of_a_form_gives_rights(address):
    browser = signed_in(administrator())
    target = make_person("cashier")
    typed = {"language": "en", "theme": "dark", "role": "cashier", "full_name": "X", "username": "x"}

    for field in ("is_superuser", "is_staff", "groups", "user_permissions", "is_active", "password"):
        browser.post(address.format(pk=target.pk), typed | {field: "3"})

    for user in User.objects.all():
        assert (user.is_superuser, user.is_staff, user.is_active) == (False, False, True)
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


def test_a_link_that_died_with_its_makers_right_is_not_shown_as_open():
    boss = administrator()
    person, _token = invited(actor=boss)
    page = f"/staff/{person.pk}/"
    browser = signed_in(owner())
    assert has_id(browser.get(page), "link-until")

    change_role(boss, Role.AUDITOR, actor=None)

    assert not has_id(browser.get(page), "link-until")


@pytest.mark.parametrize("how", ["off", "lower"])
def test_a_link_dies_with_the_right_of_its_maker(how):
    boss = administrator()
    token = make_link(make_person("cashier"), actor=boss)

    if how == "off":
        deactivate(boss, actor=None)
    else:
        change_role(boss, Role.AUDITOR, actor=None)

    with pytest.raises(LinkRefused):
        accept_link(token, GOOD)
    assert Client().login(username="cashier", password="secret-words")


def test_a_session_key_known_before_is_worth_nothing_after():
    person, token = invited()
    client = Client()
    client.session["planted"] = 1
    planted = signed_in(make_person("auditor")).session.session_key
    client.cookies["sessionid"] = planted

    choose(token, client=client)

    assert client.session.session_key != planted
    assert not Session.objects.filter(session_key=planted).exists()
    assert Session.objects.get(person=person).session_key == client.session.session_key


def test_the_form_of_a_link_needs_its_csrf_token():
    _person, token = invited()

    assert choose(token, client=Client(enforce_csrf_checks=True)).status_code == 403
    assert choose(token).status_code == 302


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


@pytest.mark.parametrize("address", ["/me/", "/accounts/password/change/"])
def test_own_settings_saved_late_give_nothing_back(address):
    person = owner()
    owner("second")
    browser = signed_in(person)
    typed = {"language": "en", "theme": "dark", "oldpassword": "secret-words", "password1": GOOD, "password2": GOOD}

    def meanwhile(_form: object) -> None:
        change_role(person, Role.CASHIER, actor=None)
        deactivate(person, actor=None)

    with mock.patch("django.forms.forms.BaseForm._clean_form", meanwhile):
        browser.post(address, typed)

    person.refresh_from_db()
    assert (person.is_active, person.is_superuser) == (False, False)


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


@pytest.mark.parametrize("step", ["reactivate", "link"])
def test_with_a_real_upstream_no_demo_account_is_switched_on(step, settings):
    settings.SANDBOX = False
    person = make_person("cashier", is_demo=True, is_active=False)
    if step == "link":
        person.set_unusable_password()
        person.save()

    assert refused(lambda: STEPS[step](person, owner())) == "demo"
    person.refresh_from_db()
    assert not person.is_active


@pytest.mark.django_db(transaction=True)
def test_of_two_names_at_once_that_differ_in_case_one_stays():
    results = at_once(*(lambda name=name: invited(username=name) for name in ("Sari", "sari")))

    assert [type(result).__name__ for result in results].count("NameTaken") == 1


def test_a_name_in_wide_letters_is_the_same_name():
    make_person("cashier", username="sari")

    with pytest.raises(NameTaken):
        invited(username="\uff33ari")  # full-width S
    assert Client().post("/accounts/login/", {"login": "sari", "password": "secret-words"}).status_code == 302


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
@pytest.mark.parametrize("turn", range(3))
def test_a_link_used_during_switching_off_opens_nothing(turn):
    person, token = invited()

    results = at_once(lambda: accept_link(token, GOOD), lambda: deactivate(person, actor=None))

    assert results[1] is None
    assert isinstance(results[0], User | LinkRefused)
    assert not Client().login(username="sari", password=GOOD)


@pytest.mark.parametrize("name", ["CASHIER", "\uff23ashier"])
def test_a_command_finds_the_name_as_it_is_signed_in_with(name):
    person = make_person("cashier")

    assert run("deactivate_staff", name)[0] == 0
    person.refresh_from_db()
    assert not person.is_active


@pytest.mark.parametrize("name", ["", "a" * 151, "a\nb", "\ufdfa", "\ufdfa" * 100])
def test_an_odd_name_is_one_sentence_to_a_command(name):
    for arguments in (("add_staff", name, "--role", "cashier"), ("deactivate_staff", name)):
        code, sentence = run(*arguments)

        assert code in {1, 2}
        assert len(sentence.splitlines()) <= 2
    assert not User.objects.exists()


@pytest.mark.parametrize("name", ["a\x00b", "\ufdfa", "\ufdfa" * 100, "a\nb"])
def test_an_odd_name_is_refused_beside_its_field(name):
    browser = signed_in(administrator())

    answer = browser.confirm("/staff/invite/", {"full_name": "X", "username": name, "role": "cashier"})

    assert answer.status_code in {200, 400}
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
