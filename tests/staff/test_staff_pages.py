"""The pages about people: the list, an invitation, one person, and a person's own devices."""

import html
import re
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from branches.services import all_branches
from core import clock
from core.rights import Role
from staff import services
from staff.models import AccessLink, RoleLimits, Session, User
from staff.services import invite, names_of_helpers, names_of_owners
from staff.services.break_glass import make_break_glass
from testing.people import browser_of, give_factor, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import cells, codes, has_id, words, words_at
from tests.staff.helpers import GOOD, administrator, choose, invited, owner, signed_in

pytestmark = pytest.mark.django_db

INVITATION = {"full_name": "Bu Sari", "username": "sari", "role": "cashier"}


@pytest.fixture
def boss(db: None) -> Client:
    return signed_in(administrator())


def link_of(answer) -> str:
    return re.search(r'id="access-link">http://testserver/accounts/link/\?link=([\w-]+)<', answer.content.decode())[1]


def errors(answer) -> dict[str, list[str]]:
    return {name: [fault.code for fault in faults] for name, faults in answer.context["form"].errors.as_data().items()}


def test_who_never_signed_in_is_said_alike_in_list_and_page(boss):
    person = make_person("cashier", username="new")

    listed = cells(boss.get("/staff/?q=new"), "time")
    page = boss.get(f"/staff/{person.pk}/").content.decode()

    assert [cell.removeprefix("Last sign-in: ") for cell in listed] == ["Never"]
    assert re.search(r"<dd>\s*Never\s*</dd>", page)


def test_what_a_person_did_yesterday_is_one_click_away(boss):
    person = make_person("cashier", username="sari")

    def links(browser: Client) -> list[str]:
        page = html.unescape(browser.get(f"/staff/{person.pk}/").content.decode())
        return re.findall(r'href="(\S+)" data-list', page)

    yesterday = [
        "/orders/?cashier=sari&days=yesterday",
        f"/shifts/?cashier={person.pk}&days=yesterday",
        "/audit/?person=sari&days=yesterday",
    ]
    assert links(boss)[3:] == yesterday
    assert all(boss.get(link).status_code == 200 for link in yesterday)
    assert not any(link.startswith("/audit/") for link in links(browser_of("supervisor")))


def test_an_administrator_invites_a_cashier_who_signs_in(boss):
    shown = boss.confirm("/staff/invite/", {**INVITATION, "note": "mornings"})
    choose(link_of(shown))

    client = Client()
    answer = client.post("/accounts/login/", {"login": "sari", "password": GOOD})
    assert answer["Location"] == "/"
    assert client.get("/products/").status_code == 200
    assert client.get("/staff/").status_code == 403
    assert "mornings" in boss.get(f"/staff/{User.objects.get(username='sari').pk}/").content.decode()


def test_the_form_offers_only_roles_below_the_own_one(boss):
    offered = re.findall(r'<option value="(\w+)"', boss.get("/staff/invite/").content.decode())

    assert offered == ["viewer", "cashier", "auditor"]
    assert boss.get("/staff/invite/").context["form"]["role"].value() == "cashier", "nobody invites another by accident"
    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "role": ""})) == {"role": ["required"]}
    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "role": "owner"})) == {"role": ["invalid_choice"]}
    assert not User.objects.filter(username="sari").exists()


def test_a_wrong_invitation_is_refused_beside_the_field(boss):
    invited()

    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "username": "Sari"})) == {"username": ["NameTaken"]}
    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "username": "bu sari"})) == {"username": ["invalid"]}
    assert set(errors(boss.confirm("/staff/invite/", {"note": ""}))) == {"full_name", "role"}


@pytest.mark.parametrize(
    ("full_name", "username"),
    [("Bu Sari Dewi", "sari"), ("RENÉ", "rene2"), ("Pak", None), ("Pak 王", None)],
)
def test_an_empty_user_name_is_made_from_the_name_and_is_free(boss, full_name, username):
    for taken in ("Rene", "rene3"):
        make_person("cashier", username=taken)

    answer = boss.confirm("/staff/invite/", {**INVITATION, "full_name": full_name, "username": ""})

    if username:
        link_of(answer)
        assert User.objects.get(username=username).first_name == full_name
        assert username in words_at(answer, 'id="link-for"')
    else:
        assert errors(answer) == {"username": ["required"]}
        assert re.search(r'<details [^>]*id="more-fields" open>', answer.content.decode())


@pytest.mark.parametrize(("typed", "refused"), [("", {}), ("sari", {"username": ["NameTaken"]})])
def test_a_name_taken_meanwhile_is_proposed_again_unless_typed(boss, monkeypatch, typed, refused):
    names_to_take = ["sari2", "sari"]

    def invite_late(**facts):
        if names_to_take:
            make_person("cashier", username=names_to_take.pop())
        return invite(**facts)

    monkeypatch.setattr(services, "invite", invite_late)
    answer = boss.confirm("/staff/invite/", {**INVITATION, "full_name": "Sari", "username": typed})

    if refused:
        assert errors(answer) == refused
    else:
        link_of(answer)
        assert User.objects.get(username="sari3").first_name == "Sari"


def test_a_second_person_of_one_name_is_asked_about_once(boss):
    make_person("cashier", username="sari", first_name="Sari Dewi")
    second = {**INVITATION, "full_name": "sari  dewi", "username": ""}

    asked = boss.confirm("/staff/invite/", second)

    assert "(sari)" in words_at(asked, 'id="namesake"')
    assert User.objects.filter(first_name__icontains="dewi").count() == 1
    assert 'name="another" value="sari dewi" required' in asked.content.decode()
    without_role = boss.confirm("/staff/invite/", {**second, "another": "sari dewi", "role": ""})
    assert re.search(r'name="another" value="sari dewi" required\s+checked', without_role.content.decode())
    link_of(boss.confirm("/staff/invite/", {**second, "another": "sari dewi"}))
    assert User.objects.filter(username="sari2").exists()


def test_an_invitation_without_any_field_is_asked_again(boss):
    assert has_id(boss.post("/staff/invite/"), "id_full_name")


def test_an_answer_about_one_name_counts_for_no_other(boss):
    for name in ("Sari Dewi", "Budi"):
        make_person("cashier", username=name.split()[0].lower(), first_name=name)

    asked = boss.confirm("/staff/invite/", {**INVITATION, "full_name": "Budi", "username": "", "another": "sari dewi"})

    assert "(budi)" in words_at(asked, 'id="namesake"')


def test_a_bound_inviter_learns_no_name_of_another_branch():
    make_person("cashier", username="sari", first_name="Sari Dewi", branch=make_branch())
    manager = browser_of("administrator", username="bound", bound_since=clock.now())

    answer = manager.confirm("/staff/invite/", {**INVITATION, "full_name": "Sari Dewi", "username": ""})

    assert not has_id(answer, "namesake")
    link_of(answer)


def test_the_proposed_user_name_follows_the_typed_name(boss):
    make_person("cashier", username="sari")

    def proposed(**typed: str) -> str:
        answer = boss.get("/staff/invite/", typed, headers={"HX-Request": "true"})
        assert "<html" not in answer.content.decode()
        return html.unescape(re.sub(r"<[^>]+>", "", answer.content.decode())).strip()

    assert proposed(full_name="") == "from the name"
    assert proposed(full_name="Bu Sari") == "sari2"
    link_of(boss.confirm("/staff/invite/", {**INVITATION, "username": "rini"}, headers={"HX-Request": "true"}))


def test_the_list_shows_where_each_account_stands(boss):
    make_person("cashier", first_name="Ani", last_login=None)
    off = make_person("auditor", first_name="Budi", is_active=False)
    invited(username="citra")
    late, _token = invited(username="dewi")
    AccessLink.objects.filter(person=late).update(withdrawn_at=late.date_joined)

    page = boss.get("/staff/")

    assert sorted(cells(page, "state")) == ["Active", "Active", "Invitation expired", "Invited", "Switched off"]
    assert sorted(cells(page, "role")) == ["Administrator", "Auditor", "Cashier", "Cashier", "Cashier"]
    assert [cell for cell in cells(page, "sessions") if cell] == ["1 device"]
    assert f"/staff/{off.pk}/" in page.content.decode()


def test_people_are_found_by_name_and_role(boss):
    make_person("cashier", first_name="Ani")
    invited(username="budi")
    owner()

    for query, found in [("q=ani", 1), ("role=owner", 1), ("role=cashier", 2), ("q=zzz", 0)]:
        page = boss.get(f"/staff/?{query}")

        assert len(cells(page, "name")) == found, query
        assert has_id(page, "none-matches") == (not found), query


def test_a_link_made_again_is_shown_once_and_can_be_withdrawn(boss):
    person, _token = invited()

    link_of(boss.confirm(f"/staff/{person.pk}/link/"))
    assert "Withdraw the invitation" in words_at(boss.get(f"/staff/{person.pk}/"), 'id="withdraw"')
    page = boss.post(f"/staff/{person.pk}/withdraw/", follow=True)

    assert "The invitation was withdrawn, and the account is switched off." in words(page)
    assert 'data-standing="off"' in page.content.decode()
    assert not has_id(page, "withdraw")
    assert has_id(page, "make-link")


def test_an_account_is_switched_off_and_on_again(boss):
    person = make_person("cashier")
    address = f"/staff/{person.pk}/"

    boss.confirm(f"{address}deactivate/")
    off = boss.get(address)
    boss.confirm(f"{address}reactivate/")
    on = boss.get(address)

    assert [has_id(off, name) for name in ("deactivate", "reactivate", "make-link")] == [False, True, False]
    assert [has_id(on, name) for name in ("deactivate", "reactivate", "make-link")] == [True, False, True]


def test_a_role_is_changed_and_a_higher_one_refused(boss):
    person = make_person("cashier")

    boss.confirm(f"/staff/{person.pk}/role/", {"role": "auditor"})
    boss.confirm(f"/staff/{person.pk}/role/", {"role": "owner"})

    person.refresh_from_db()
    assert [group.name for group in person.groups.all()] == ["auditor"]
    assert not person.is_superuser


def test_an_owners_page_offers_an_administrator_nothing(boss):
    above = owner()

    page = boss.get(f"/staff/{above.pk}/")
    answer = boss.confirm(f"/staff/{above.pk}/link/", follow=True)

    assert has_id(page, "above-own")
    assert not any(has_id(page, name) for name in ("role-form", "make-link", "deactivate", "sign-out"))
    assert "NotAllowed:above_own" in codes(answer)
    assert not above.links.exists()


def test_a_page_says_who_resets_a_factor_and_what_a_link_ends(boss):
    above, person = owner(), make_person("cashier")
    give_factor(person)

    page = boss.get(f"/staff/{person.pk}/")

    assert words_at(page, 'id="second-factor"') == "App"
    assert above.shown_name in words_at(page, 'id="who-resets"')
    assert has_id(page, "link-ends")
    assert not has_id(boss.get(f"/staff/{make_person('viewer').pk}/"), "who-resets")


def test_only_people_who_have_joined_are_named_as_help():
    person = make_person("cashier", first_name="Rina")
    helpers = [administrator().shown_name, owner().shown_name]
    make_break_glass()
    invited(Role.OWNER)

    assert names_of_helpers(person) == helpers
    assert names_of_owners() == helpers[1:]


def test_the_own_page_offers_no_change(boss):
    own = User.objects.get(username="boss")

    page = boss.get(f"/staff/{own.pk}/")

    assert has_id(page, "own-account")
    assert "data-current" in page.content.decode()
    assert not any(has_id(page, name) for name in ("role-form", "make-link", "deactivate", "sign-out"))


def test_sessions_are_listed_and_ended_and_their_keys_never_shown(boss):
    make_person("cashier")
    client = Client(headers={"User-Agent": "Mozilla/5.0 (Linux; Android 14) Chrome/130.0 Mobile Safari/537.36"})
    client.post("/accounts/login/", {"login": "cashier", "password": "secret-words"})
    session = Session.objects.get(person__username="cashier")

    page = boss.get(f"/staff/{session.person_id}/")
    assert cells(page, "device") == ["Chrome · Android"]
    assert session.session_key not in page.content.decode()

    boss.post(f"/staff/{session.person_id}/sign-out/")
    assert client.get("/orders/").status_code == 302
    assert boss.get("/staff/").status_code == 200


def test_one_signs_out_everywhere_else_and_stays_here():
    person = make_person("cashier")
    here, there = signed_in(person), signed_in(person)

    assert has_id(here.get("/me/"), "sign-out-elsewhere")
    here.post("/me/sign-out-elsewhere/")

    assert there.get("/orders/").status_code == 302
    page = here.get("/me/")
    assert len(cells(page, "device")) == 1
    assert "data-current" in page.content.decode()
    assert not has_id(page, "sign-out-elsewhere")


def test_who_manages_staff_finds_the_list_in_the_menu(boss):
    assert 'href="/staff/"' in boss.get("/").content.decode()
    assert 'href="/staff/"' not in browser_of("cashier").get("/").content.decode()


@pytest.mark.parametrize(("address", "number"), [("/staff/{}/", 9), ("/me/", 7), ("/staff/invite/", 6)])
def test_a_page_asks_as_often_for_many_devices_as_for_few(boss, address, number):
    own = User.objects.get(username="boss")
    boss.get("/")  # this reads the policies and the branches, which the process then keeps for a time
    all_branches()
    counts = []
    for _ in range(2):
        for _ in range(4):
            signed_in(own)
        with CaptureQueriesContext(connection) as asked:
            assert boss.get(address.format(own.pk)).status_code == 200
        counts.append(len(asked))

    assert counts == [number, number]


def test_the_page_of_somebody_else_takes_at_most_11_queries(boss):
    person = make_person("cashier")
    all_branches()  # a process reads them once in five seconds

    with CaptureQueriesContext(connection) as asked:
        assert has_id(boss.get(f"/staff/{person.pk}/"), "role-form")

    assert len(asked) <= 11, [query["sql"][:150] for query in asked]


def test_an_invitation_gives_lower_limits_in_the_same_step(boss):
    assert not has_id(boss.get("/staff/invite/"), "limits-of-roles"), "no role has any"
    RoleLimits.objects.update_or_create(role="cashier", defaults={"per_day": 5_000_000})
    RoleLimits.objects.update_or_create(role="supervisor", defaults={"per_day": 9_000_000})
    page = boss.get("/staff/invite/")
    assert "Rp5.000.000" in words_at(page, 'id="limits-of-roles"')
    assert [role for role, _limits in page.context["limits_of_roles"]] == ["cashier"], "of the offered roles alone"

    too_much = boss.confirm("/staff/invite/", {**INVITATION, "per_day": "9.000.000"})
    assert errors(too_much) == {"role": ["NotAllowed:limits_later"]}
    assert not User.objects.filter(username="sari").exists()

    boss.confirm("/staff/invite/", {**INVITATION, "per_order": "200.000", "per_day": "1.000.000"})
    sari = User.objects.get(username="sari")
    assert (sari.own_per_order, sari.own_per_day, sari.own_approval_above) == (200_000, 1_000_000, None)


@pytest.mark.parametrize(
    ("typed", "is_open"),
    [
        ({}, False),
        ({"per_order": "50.000"}, False),
        ({"per_day": "1.000"}, True),
        ({"approval_above": "0"}, True),
        ({"per_day": "x"}, True),
    ],
)
def test_the_other_limits_are_open_when_one_is_filled_in_or_wrong(boss, typed, is_open):
    page = boss.confirm("/staff/invite/", {**INVITATION, "full_name": "", **typed}).content.decode()

    assert re.search(r'<details [^>]*id="more-fields"( open)?>', page)[1] == (" open" if is_open else None)


def test_limits_do_not_go_with_a_role_that_takes_two(boss):
    head = signed_in(owner())

    answer = head.confirm("/staff/invite/", {**INVITATION, "role": "supervisor", "per_day": "1000"})

    assert errors(answer) == {"role": ["NotAllowed:limits_later"]}
    assert not User.objects.filter(username="sari").exists()


def test_a_link_goes_out_by_whatsapp_and_as_a_picture(boss):
    shown = boss.confirm("/staff/invite/", INVITATION)

    address = re.search(r'id="link-whatsapp" href="([^"]+)"', shown.content.decode())[1]
    assert address.startswith("https://wa.me/?text=")
    assert quote(f"?link={link_of(shown)}", safe="") in address
    assert "<svg" in shown.content.decode()


def test_a_link_that_opens_on_this_computer_alone_says_so(boss):
    person, _token = invited()

    here = boss.confirm(f"/staff/{person.pk}/link/", headers={"Host": "localhost:8000"})
    elsewhere = boss.confirm(f"/staff/{person.pk}/link/")

    assert "http://localhost:8000/" in here.content.decode()
    assert has_id(here, "only-here")
    assert "SITE_URL" in here.content.decode()
    assert not has_id(elsewhere, "only-here")
    # what can be sent is sent; what opens only here is copied
    assert (has_id(here, "link-whatsapp"), "qr-code" in here.content.decode()) == (False, False)
    for page, solid in ((here, "data-copy"), (elsewhere, "link-whatsapp")):
        (button,) = re.findall(
            r'<(?:a|button)[^>]* class="btn btn-primary[^>]*>', page.content.decode().partition("<main")[2]
        )
        assert solid in button
    colleague = make_person("supervisor", username="tamu")
    person, _token = invited(username="dodi")
    plain = signed_in(colleague).confirm(f"/staff/{person.pk}/link/", headers={"Host": "localhost:8000"})
    assert has_id(plain, "only-here")
    assert "SITE_URL" not in plain.content.decode()


def test_an_invitation_asks_for_the_limit_per_order_first_and_says_what_it_counts(boss):
    page = boss.get("/staff/invite/")

    before, _fold, after = page.content.decode().partition('id="more-fields"')
    assert 'name="per_order"' in before
    for name in ("per_day", "approval_above"):
        assert f'name="{name}"' in after
    for name in ("per_order", "per_day", "approval_above"):
        assert f'id="id_{name}_helptext"' in after


def test_the_page_of_a_link_shows_it_first_then_name_role_and_limits(boss):
    shown = boss.confirm("/staff/invite/", INVITATION | {"approval_above": "200000"})

    page = shown.content.decode()
    order = [page.index(f'id="{part}"') for part in ("access-link", "link-whatsapp", "link-for", "link-rights")]
    assert order == sorted(order)
    here = boss.confirm(
        "/staff/invite/", INVITATION | {"full_name": "Rini", "username": "rini"}, headers={"Host": "localhost:8000"}
    )
    order = [here.content.decode().index(f'id="{part}"') for part in ("access-link", "only-here", "link-for")]
    assert order == sorted(order)
    assert "sari" in words_at(shown, 'id="link-for"')
    assert "Rp200.000" in words_at(shown, 'id="link-rights"')
