"""The pages about people: the list, one person, and a person's own devices."""

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from branches.services import all_branches
from core.rights import Role
from staff.models import AccessLink, Session, User
from staff.services import accept_link, names_of_helpers, names_of_owners
from staff.services.break_glass import make_break_glass
from testing.people import browser_of, give_factor, make_person
from tests.core.helpers import cells, codes, has_id, words, words_at
from tests.staff.helpers import GOOD, administrator, invited, link_of, owner, signed_in

pytestmark = pytest.mark.django_db


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


def test_the_list_shows_where_each_account_stands_and_is_searched(boss):
    ani = make_person("cashier", username="ani", first_name="Ani", last_login=None)
    off = make_person("auditor", first_name="Budi", is_active=False)
    invited(username="citra")
    late, _token = invited(username="dewi")
    AccessLink.objects.filter(person=late).update(withdrawn_at=late.date_joined)
    assert 'href="/staff/"' in boss.get("/").content.decode()
    assert 'href="/staff/"' not in signed_in(ani).get("/").content.decode()
    Session.objects.filter(person=ani).delete()

    page = boss.get("/staff/")

    assert sorted(cells(page, "state")) == ["Active", "Active", "Invitation expired", "Invited", "Switched off"]
    assert sorted(cells(page, "role")) == ["Administrator", "Auditor", "Cashier", "Cashier", "Cashier"]
    assert [cell for cell in cells(page, "sessions") if cell] == ["1 device"]
    assert f"/staff/{off.pk}/" in page.content.decode()
    owner()
    for query, found in [("q=ani", 1), ("role=owner", 1), ("role=cashier", 3), ("q=zzz", 0)]:
        page = boss.get(f"/staff/?{query}")

        assert len(cells(page, "name")) == found, query
        assert has_id(page, "none-matches") == (not found), query

    User.objects.filter(pk=ani.pk).update(last_login=None)
    assert [cell.removeprefix("Last sign-in: ") for cell in cells(boss.get("/staff/?q=ani"), "time")] == ["Never"]
    assert re.search(r"<dd>\s*Never\s*</dd>", boss.get(f"/staff/{ani.pk}/").content.decode())


def test_a_link_that_was_used_meanwhile_is_not_called_withdrawn(boss):
    person, token = invited()
    accept_link(token, GOOD)

    page = boss.post(f"/staff/{person.pk}/withdraw/", follow=True)

    assert codes(page) == {"NotAllowed:no_link"}
    assert not AuditEvent.objects.filter(kind="link_withdrawn").exists()


def test_a_link_made_again_is_shown_once_and_can_be_withdrawn(boss):
    person, _token = invited()

    link_of(boss.confirm(f"/staff/{person.pk}/link/"))
    assert "Withdraw the invitation" in words_at(boss.get(f"/staff/{person.pk}/"), 'id="withdraw"')
    page = boss.post(f"/staff/{person.pk}/withdraw/", follow=True)

    assert "The invitation was withdrawn, and the account is switched off." in words(page)
    assert 'data-standing="off"' in page.content.decode()
    assert not has_id(page, "withdraw")
    assert has_id(page, "make-link")


def test_given_an_expired_invitation_then_the_account_is_switched_off(boss):
    person, _token = invited()
    AccessLink.objects.filter(person=person).update(expires_at=person.date_joined)

    late = boss.get(f"/staff/{person.pk}/")
    boss.confirm(f"/staff/{person.pk}/deactivate/")
    off = boss.get(f"/staff/{person.pk}/")

    assert [has_id(late, name) for name in ("withdraw", "deactivate", "make-link")] == [False, True, True]
    assert [has_id(off, name) for name in ("withdraw", "deactivate", "make-link")] == [False, False, True]
    assert 'data-standing="off"' in off.content.decode()


def test_an_account_is_switched_off_and_on_and_gets_no_higher_role(boss):
    person = make_person("cashier")
    address = f"/staff/{person.pk}/"

    boss.confirm(f"{address}deactivate/")
    off = boss.get(address)
    boss.confirm(f"{address}reactivate/")
    on = boss.get(address)

    assert [has_id(off, name) for name in ("deactivate", "reactivate", "make-link")] == [False, True, False]
    assert [has_id(on, name) for name in ("deactivate", "reactivate", "make-link")] == [True, False, True]

    boss.confirm(f"{address}role/", {"role": "auditor"})
    boss.confirm(f"{address}role/", {"role": "owner"})
    person.refresh_from_db()
    assert [group.name for group in person.groups.all()] == ["auditor"]
    assert not person.is_superuser


def test_an_owners_page_and_the_own_one_offer_an_administrator_nothing(boss):
    above, own = owner(), User.objects.get(username="boss")
    pages = {mark: boss.get(f"/staff/{person.pk}/") for mark, person in (("above-own", above), ("own-account", own))}

    for mark, page in pages.items():
        assert has_id(page, mark)
        offered = ("role-form", "make-link", "deactivate", "sign-out")
        assert [name for name in offered if has_id(page, name)] == [], mark
    assert "data-current" in pages["own-account"].content.decode()
    assert "NotAllowed:above_own" in codes(boss.confirm(f"/staff/{above.pk}/link/", follow=True))
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


def test_a_page_asks_as_often_for_many_devices_as_for_few(boss):
    own, other = User.objects.get(username="boss"), make_person("cashier")
    boss.get("/")  # this reads the policies and the branches, which the process then keeps for a time
    all_branches()
    numbers = {f"/staff/{own.pk}/": 9, "/me/": 7, "/staff/invite/": 6}
    for _ in range(2):
        for _ in range(4):
            signed_in(own)
        for address, number in numbers.items():
            with CaptureQueriesContext(connection) as asked:
                assert boss.get(address).status_code == 200
            assert len(asked) == number, (address, [query["sql"][:150] for query in asked])

    with CaptureQueriesContext(connection) as asked:
        assert has_id(boss.get(f"/staff/{other.pk}/"), "role-form")
    assert len(asked) <= 11, [query["sql"][:150] for query in asked]


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
