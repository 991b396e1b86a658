"""Pages, settings, people, drawers and branches are found by the words that people have for them."""

import datetime as dt
from functools import cache
from urllib.parse import urlencode

import pytest
import time_machine
from django.template.backends.django import Template

from core.rights import Role
from drawers.models import Drawer
from testing.factories import make_product
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.drawers.helpers import begin
from tests.find.helpers import addresses, found, sold, who

pytestmark = pytest.mark.django_db


def test_pages_settings_and_actions_are_found_in_both_languages():
    browser = cache(browser_of)
    for role, text, address in [
        ("cashier", "orders", "/orders/"),
        ("cashier", "transaksi", "/orders/"),
        ("cashier", "add cust", "/customers/add/"),
        ("cashier", "policies", None),
        ("cashier", "invite", None),
        ("admin", "tambah kasir", "/staff/invite/"),
        ("admin", "add a person", "/staff/invite/"),
        ("admin", "karyawan baru", "/staff/invite/"),
        ("cashier", "tambah kasir", None),
        ("auditor", "activity", "/audit/"),
        ("admin", "bahasa", "/me/"),
        ("admin", "policies", "/shop/policies/"),
        ("admin", "paper", "/shop/"),
        ("admin", "roles", "/staff/roles/"),
        ("cashier", "salah nomor", "/guide/#wrong-number"),
        ("cashier", "wrong number", "/guide/#wrong-number"),
    ]:
        pages = addresses(browser(role), text, "pages")

        assert pages[:1] == ([address] if address else []), (role, text)


@pytest.mark.parametrize("role", Role)
def test_every_page_that_is_offered_opens(role, monkeypatch):
    browser = who(role)
    offered = {
        url: words
        for letter in "abcdefghijklmnopqrstuvwxyz"
        for url, words in found(browser, letter, kind="pages").get("pages", [])
    }

    assert offered
    monkeypatch.setattr(Template, "render", lambda *_context, **__context: "")  # only the access matters here
    for url, words in offered.items():
        assert browser.get(url).status_code in {200, 302}, (role, words, url)


def test_a_person_is_found_by_a_part_of_the_name_by_those_who_manage_people():
    sari = make_person("cashier", username="sari", first_name="Bu Sari", is_active=False)
    make_person("viewer", username="budi")

    for role in (Role.SUPERVISOR, Role.OWNER):
        browser = who(role)
        assert addresses(browser, "sar", "staff") == [f"/staff/{sari.pk}/"]
        assert addresses(browser, "s", "staff") == []
        ((_url, words),) = found(browser, "bu sari")["staff"]
        assert "sari · Cashier · Switched off" in words
    assert addresses(who(Role.CASHIER), "sar", "staff") == addresses(who(Role.AUDITOR), "sar", "staff") == []


def test_a_name_behind_the_word_limit_opens_the_persons_limits():
    rini = make_person("cashier", username="rini", first_name="Rini")
    owner = who(Role.OWNER)

    for text in ("limit rini", "Limits Rini", "batas rini"):
        assert addresses(owner, text, "staff") == [f"/staff/{rini.pk}/#limits"], text
    assert 'id="limits"' in owner.get(f"/staff/{rini.pk}/").content.decode()
    assert addresses(who(Role.CASHIER), "limit rini", "staff") == []


def test_days_behind_a_name_open_the_persons_page_with_these_days():
    sari = make_person("cashier", username="sari")
    owner = who(Role.OWNER)

    for text, days in (
        ("sari kemarin", "yesterday"),
        ("kasir sari hari ini", "today"),
        ("Sari last week", "last-week"),
        ("sari seminggu lalu", "last-week"),
    ):
        assert addresses(owner, text, "staff") == [f"/staff/{sari.pk}/?days={days}"]
        assert addresses(owner, text, "orders") == [f"/orders/?{urlencode({'q': text})}"]
    second = make_person("cashier", username="second", first_name="Kasir", last_name="Dua")
    make_person("cashier", username="dua")
    assert addresses(owner, "kasir dua kemarin", "staff") == [f"/staff/{second.pk}/?days=yesterday"]
    page = owner.get(f"/staff/{sari.pk}/?days=yesterday").content.decode()
    assert f'hx-get="/earnings/beside/{sari.pk}/?days=yesterday"' in page
    assert addresses(owner, "kemarin", "staff") == addresses(owner, "budi kemarin", "staff") == []
    assert addresses(who(Role.CASHIER), "sari kemarin", "staff") == []


def test_a_name_with_a_day_alone_puts_the_persons_page_first():
    seller = make_person("cashier", username="kasir9", first_name="Kasir", last_name="Demo")
    make_person("cashier", username="kasirlain")
    sold(1, placed_by=seller)
    owner = who(Role.OWNER)

    for text in ("kasir demo kemarin", "kasir9 yesterday"):
        results = found(owner, text)
        assert [*results][:2] == ["staff", "orders"], text
        assert results["staff"][0][0] == f"/staff/{seller.pk}/?days=yesterday"
    for text in ("kasi kemarin", "kasir demo 50rb kemarin"):  # a part of a name; more words than name and days
        assert next(iter(found(owner, text))) == "orders", text
    assert next(iter(found(who(Role.CASHIER), "kasir demo kemarin"))) == "orders"


def test_a_word_for_earnings_opens_them_with_the_days_and_what_they_are_by():
    sold(1)
    owner = who(Role.OWNER)

    for text, query in [
        ("earned this week", "days=week"),
        ("laba minggu ini", "days=week"),
        ("how much did we earn yesterday?", "days=yesterday"),
        ("earnings by cashier", "by=person"),
        ("omzet per kasir bulan lalu", "days=last-month&by=person"),
        ("laba sebulan lalu", "days=last-month"),
        ("earned a week ago", "days=last-week"),
        ("sales by product 1 nov 2026 - 3 nov 2026", "since=2026-11-01&until=2026-11-03&by=product"),
    ]:
        results = found(owner, text)
        assert next(iter(results)) == "pages", text
        assert results["pages"][0][0] == f"/earnings/?{query}", text
        assert owner.get(results["pages"][0][0]).status_code == 200
    assert "since" in addresses(owner, "laba 30 hari terakhir", "pages")[0]
    with time_machine.travel(dt.datetime(2026, 11, 27, 5, tzinfo=dt.UTC), tick=False):  # a Friday
        for text, query in [
            ("laba 2 minggu lalu", "since=2026-11-09&until=2026-11-15"),
            ("laba 2 bulan lalu", "since=2026-09-01&until=2026-09-30"),
        ]:
            assert addresses(owner, text, "pages")[0] == f"/earnings/?{query}"
    for text in ("laba budi minggu ini", "this week", "earnings by branch"):
        assert not any("/earnings/?" in url for url in addresses(owner, text, "pages")), text
    assert "pages" not in found(who(Role.CASHIER), "laba minggu ini")


def test_a_drawer_leads_to_its_shifts_and_says_who_has_it_open():
    seller, drawer = make_person("cashier", username="rina"), Drawer.objects.create(name="Kasir depan")
    begin(seller, drawer=drawer)
    unused = Drawer.objects.create(name="Kasir lama", is_active=False)

    results = found(who(Role.AUDITOR), "kasir")["drawers"]

    assert [url for url, _words in results] == [f"/shifts/?drawer={drawer.pk}", f"/shifts/?drawer={unused.pk}"]
    assert "rina" in results[0][1]
    assert addresses(who(Role.SUPERVISOR), "depan", "drawers") == [f"/shifts/?drawer={drawer.pk}"]
    assert addresses(who(Role.CASHIER), "kasir", "drawers") == []


def test_a_page_is_found_by_the_words_that_people_have_for_it():
    make_product(name="Pulsa Deposit 10.000")
    browser_for = cache(who)
    for role, texts, address in [
        (
            Role.OWNER,
            ("branch", "tambah cabang", "second shop", "gerai"),
            "/shop/branches/",
        ),
        (Role.OWNER, ("ways of alerts", "telegram"), "/balance/alerts/ways/"),
        (Role.OWNER, ("webhook",), "/callbacks/"),
        (Role.OWNER, ("quiet hours", "jam tenang"), "/shop/policies/"),
        (Role.OWNER, ("announce", "topup", "isi saldo"), "/balance/#announce-title"),
        (Role.CASHIER, ("close the drawer", "tutup laci"), "/drawer/"),
        (Role.OWNER, ("export", "ekspor"), "/files/"),
        (Role.OWNER, ("approve", "setujui"), "/approvals/"),
        (Role.OWNER, ("file transaksi", "download orders"), "/orders/"),
        (Role.OWNER, ("revenue", "laba"), "/earnings/"),
        (Role.OWNER, ("bank statement", "mutasi bank", "qris"), "/bank/"),
        (Role.OWNER, ("margin", "harga jual"), "/products/prices/"),
        (
            Role.OWNER,
            ("daily closing", "sign the day", "tutup buku"),
            "/shifts/days/",
        ),
        (Role.OWNER, ("who owes", "hutang"), "/credit/"),
        (Role.AUDITOR, ("history", "riwayat", "verify"), "/audit/"),
        (Role.OWNER, ("incident", "insiden"), "/work/?kind=incident"),
        (Role.OWNER, ("outcome not known", "belum pasti"), "/work/?kind=order"),
        (Role.OWNER, ("never arrived", "tidak terkirim"), "/work/?kind=order"),
        (Role.AUDITOR, ("full numbers", "nomor lengkap"), "/audit/?kind=full_number_seen"),
        (Role.OWNER, ("tax", "PPN", "earnings by category"), "/earnings/?by=category&days=last-month"),
        (Role.OWNER, ("journal", "buku besar"), "/earnings/journal/"),
        (Role.OWNER, ("refund", "retur"), "/refunds/"),
        (Role.OWNER, ("fee", "biaya"), "/products/prices/"),
        (Role.OWNER, ("overdue", "jatuh tempo hari ini"), "/work/"),
        (Role.OWNER, ("jatuh tempo",), "/due/"),
        (Role.OWNER, ("debts overdue", "kasbon lewat jatuh tempo"), "/credit/?age=due"),
    ]:
        browser = browser_for(role)
        for text in texts:
            results = found(browser, text)
            assert next(iter(results)) == "pages", text
            assert results["pages"][0][0] == address, text


def test_pages_to_do_something_come_before_guides():
    pages = [address for address, *_ in found(who(Role.OWNER), "cashier")["pages"]]

    assert pages[-2:] == ["/guide/", "/guide/#wrong-number"]
    assert "/staff/invite/" in pages[:-2]


def test_a_branch_leads_to_its_figures_for_people_who_see_all():
    auditor = who(Role.AUDITOR)
    assert addresses(auditor, "pusat", "branches") == []

    branch = make_branch("Pasar Baru")

    for text in ("pasar", "baru", "Pasar Baru"):
        assert addresses(auditor, text, "branches") == [f"/?branch={branch.pk}"], text
    bound = browser_of("supervisor", username="bound", branch_id=branch.pk, bound_since="2026-01-01T00:00Z")
    assert [addresses(browser, "pasar", "branches") for browser in (who(Role.CASHIER), bound)] == [[], []]
