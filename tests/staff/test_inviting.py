"""An invitation on its page: the name that it proposes, its role and limits, and the link that it shows."""

import html
import re
from urllib.parse import quote

import pytest
from django.test import Client

from core import clock
from staff import services
from staff.models import LIMITS, RoleLimits, User
from staff.services import invite
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import has_id, words_at
from tests.staff.helpers import GOOD, choose, invited, link_of, owner, signed_in

pytestmark = pytest.mark.django_db

INVITATION = {"full_name": "Bu Sari", "username": "sari", "role": "cashier"}


def errors(answer) -> dict[str, list[str]]:
    return {name: [fault.code for fault in faults] for name, faults in answer.context["form"].errors.as_data().items()}


def test_an_administrator_invites_a_cashier_who_signs_in(boss):
    shown = boss.confirm("/staff/invite/", {**INVITATION, "note": "mornings"})
    choose(link_of(shown))

    client = Client()
    answer = client.post("/accounts/login/", {"login": "sari", "password": GOOD})
    assert answer["Location"] == "/"
    assert client.get("/products/").status_code == 200
    assert client.get("/staff/").status_code == 403
    assert "mornings" in boss.get(f"/staff/{User.objects.get(username='sari').pk}/").content.decode()


def test_the_form_offers_roles_below_the_own_one_and_the_limit_per_order_first(boss):
    form = boss.get("/staff/invite/")

    page = form.content.decode()
    assert re.findall(r'<option value="(\w+)"', page) == ["viewer", "cashier", "auditor"]
    assert form.context["form"]["role"].value() == "cashier", "nobody invites another by accident"
    before, _fold, after = page.partition('id="more-fields"')
    assert 'name="per_order"' in before
    assert [name for name in ("per_day", "approval_above") if f'name="{name}"' not in after] == []
    assert [name for name in LIMITS if f'id="id_{name}_helptext"' not in after] == [], "says what it counts"

    assert has_id(boss.post("/staff/invite/"), "id_full_name"), "without any field it is asked again"
    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "role": ""})) == {"role": ["required"]}
    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "role": "owner"})) == {"role": ["invalid_choice"]}
    assert not User.objects.filter(username="sari").exists()


def test_a_wrong_invitation_is_refused_beside_the_field(boss):
    invited()

    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "username": "Sari"})) == {"username": ["NameTaken"]}
    assert errors(boss.confirm("/staff/invite/", {**INVITATION, "username": "bu sari"})) == {"username": ["invalid"]}
    assert set(errors(boss.confirm("/staff/invite/", {"note": ""}))) == {"full_name", "role"}


def test_an_empty_user_name_is_made_from_the_name_and_is_free(boss):
    for taken in ("Rene", "rene3"):
        make_person("cashier", username=taken)

    for full_name, username in (("Bu Sari Dewi", "sari"), ("RENÉ", "rene2"), ("Pak", None), ("Pak 王", None)):
        answer = boss.confirm("/staff/invite/", {**INVITATION, "full_name": full_name, "username": ""})

        if username:
            link_of(answer)
            assert User.objects.get(username=username).first_name == full_name
            assert username in words_at(answer, 'id="link-for"')
        else:
            assert errors(answer) == {"username": ["required"]}, full_name
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


def test_an_invitation_with_a_limit_of_zero_keeps_it():
    RoleLimits.objects.create(role="cashier", per_order=50_000)

    link_of(signed_in(owner()).confirm("/staff/invite/", {**INVITATION, "per_order": "0"}))

    assert User.objects.get(username="sari").own_per_order == 0


def test_a_second_person_of_one_name_is_asked_about_once(boss):
    for username, name in (("sari", "Sari Dewi"), ("budi", "Budi")):
        make_person("cashier", username=username, first_name=name)
    second = {**INVITATION, "full_name": "sari  dewi", "username": ""}

    asked = boss.confirm("/staff/invite/", second)

    assert "(sari)" in words_at(asked, 'id="namesake"')
    assert User.objects.filter(first_name__icontains="dewi").count() == 1
    assert 'name="another" value="sari dewi" required' in asked.content.decode()
    without_role = boss.confirm("/staff/invite/", {**second, "another": "sari dewi", "role": ""})
    assert re.search(r'name="another" value="sari dewi" required\s+checked', without_role.content.decode())
    of_budi = boss.confirm("/staff/invite/", {**second, "full_name": "Budi", "another": "sari dewi"})
    assert "(budi)" in words_at(of_budi, 'id="namesake"'), "an answer about one name counts for no other"
    link_of(boss.confirm("/staff/invite/", {**second, "another": "sari dewi"}))
    assert User.objects.filter(username="sari2").exists()


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


def test_the_other_limits_are_open_when_one_is_filled_in_or_wrong(boss):
    filled_in = ({"per_day": "1.000"}, {"approval_above": "0"}, {"per_day": "x"})
    for typed in ({}, {"per_order": "50.000"}, *filled_in):
        page = boss.confirm("/staff/invite/", {**INVITATION, "full_name": "", **typed}).content.decode()

        is_open = re.search(r'<details [^>]*id="more-fields"( open)?>', page)[1] == " open"
        assert is_open == (typed in filled_in), typed


def test_limits_do_not_go_with_a_role_that_takes_two(boss):
    head = signed_in(owner())

    answer = head.confirm("/staff/invite/", {**INVITATION, "role": "supervisor", "per_day": "1000"})

    assert errors(answer) == {"role": ["NotAllowed:limits_later"]}
    assert not User.objects.filter(username="sari").exists()


def test_the_page_of_a_link_shows_it_first_then_name_role_and_limits(boss):
    shown = boss.confirm("/staff/invite/", INVITATION | {"approval_above": "200000"})

    page = shown.content.decode()
    order = [page.index(f'id="{part}"') for part in ("access-link", "link-whatsapp", "link-for", "link-rights")]
    assert order == sorted(order)
    address = re.search(r'id="link-whatsapp" href="([^"]+)"', page)[1]
    assert address.startswith("https://wa.me/?text=")
    assert quote(f"?link={link_of(shown)}", safe="") in address
    assert "<svg" in page, "and as a picture"
    here = boss.confirm(
        "/staff/invite/", INVITATION | {"full_name": "Rini", "username": "rini"}, headers={"Host": "localhost:8000"}
    )
    order = [here.content.decode().index(f'id="{part}"') for part in ("access-link", "only-here", "link-for")]
    assert order == sorted(order)
    assert "sari" in words_at(shown, 'id="link-for"')
    assert "Rp200.000" in words_at(shown, 'id="link-rights"')
