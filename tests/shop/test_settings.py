"""The settings of the shop: typed values are checked, previewed, kept with their history, and recorded."""

import hashlib

import pytest
from django.db import DatabaseError, transaction

from audit.models import AuditEvent
from audit.services.sources import audited_tables
from shop.models import Logo, Shop, ShopHistory
from shop.services import adopt_name, current_shop, shop_name
from staff.models import User
from testing.people import browser_of
from tests.core.helpers import codes, hidden
from tests.shop.helpers import TYPED, file_of, jpeg, papers_of, png, save, text_of

pytestmark = pytest.mark.django_db


def faults(answer) -> dict[str, list[str]]:
    """Field → codes of its faults."""
    form = answer.context["form"]
    return {name: [error.code for error in errors.as_data()] for name, errors in form.errors.items()}


def test_what_is_saved_is_the_shop_from_then_on(admin, client):
    administrator = browser_of("administrator")
    answer = administrator.post("/shop/", {**TYPED, "save": "1"}, follow=True)

    shop = current_shop()
    assert codes(answer) == {"shop_saved"}
    assert "factor_code" not in answer.content.decode(), "it takes no second factor"
    assert {name: getattr(shop, name) for name in TYPED} == TYPED
    assert "Toko Maju" in answer.content.decode().split("<title>")[1].split("</title>")[0]
    for browser, address in ((admin, "/orders/"), (client, "/accounts/login/")):
        assert "Toko Maju" in browser.get(address).content.decode()

    assert codes(save(admin)) == {"shop_unchanged"}
    assert AuditEvent.objects.filter(subject="shop").count() == 1


def test_a_change_is_an_event_and_each_state_of_the_row_is_kept(admin, settings):
    save(admin)
    save(admin, name="Toko Jaya")

    first, second = AuditEvent.objects.filter(kind="setting_changed", subject="shop").order_by("pk")
    assert (first.before["name"], first.after["name"]) == (settings.SHOP_NAME, "Toko Maju")
    assert (second.before, second.after) == ({**TYPED, "logo": ""}, {**TYPED, "name": "Toko Jaya", "logo": ""})
    assert second.person_id == User.objects.get(username="admin").pk
    assert [row.name for row in ShopHistory.objects.order_by("pgh_id")][-2:] == ["Toko Maju", "Toko Jaya"]
    with pytest.raises(DatabaseError), transaction.atomic():
        ShopHistory.objects.update(name="Toko Lain")
    assert "shop_shophistory" in {table.name for table in audited_tables()}


def test_given_a_page_from_before_then_a_colleagues_texts_stay(admin):
    save(admin)
    shown = TYPED | hidden(admin.get("/shop/"))
    save(admin, address="Jl. Baru 2", paper="58")

    save(admin, **shown | {"name": "Toko Jaya"})

    shop = current_shop()
    assert (shop.name, shop.address, shop.paper) == ("Toko Jaya", "Jl. Baru 2", "58")


def test_what_cannot_be_printed_is_refused_at_its_field(admin):
    for typed, fault in (
        ({"name": ""}, {"name": ["required"]}),
        ({"name": "x" * 61}, {"name": ["max_length"]}),
        ({"address": "1\n2\n3\n4"}, {"address": ["lines"]}),
        ({"footer": "x" * 61}, {"footer": ["letters"]}),
        ({"footer": "1\n2\n3\n4\n5\n6\n7"}, {"footer": ["lines"]}),
        ({"phone": "call me"}, {"phone": ["phone"]}),
        ({"phone": "0812"}, {"phone": ["phone"]}),
        ({"paper": "a4"}, {"paper": ["invalid_choice"]}),
        ({"language": "xx"}, {"language": ["invalid_choice"]}),
        ({"kept_logo": "0" * 64}, {"kept_logo": ["invalid_choice"]}),  # nobody uploaded it
        ({"logo": file_of(b"<svg/>")}, {"logo": ["LogoRefused:format"]}),
        ({"logo": file_of(png(2_001, 20))}, {"logo": ["LogoRefused:size"]}),
    ):
        assert faults(save(admin, **typed)) == fault
        assert not Shop.objects.exists(), typed
    assert not Logo.objects.exists()


def test_a_preview_shows_what_is_typed_and_saves_nothing(admin):
    answer = admin.post("/shop/", {**TYPED, "name": "Toko Coba", "preview": "1"})

    papers = papers_of(answer)
    assert [paper.split('"')[1] for paper in papers] == ["struk struk-58", "struk struk-80", "struk struk-a5"]
    for paper in papers:
        for fact in ("Toko Coba", "Jl. Merdeka 1", "Bandung", "0812 3456 7890", "tidak dapat ditukar"):
            assert fact in text_of(paper)
    live = admin.post("/shop/", {**TYPED, "name": ""}, headers={"HX-Request": "true"})
    assert "<form" not in live.content.decode()
    assert len(papers_of(live)) == 3, "a live preview is the papers alone"
    assert not Shop.objects.exists()
    assert not AuditEvent.objects.filter(subject="shop").exists()


def test_a_logo_that_was_shown_is_saved_without_choosing_it_again_unless_unticked(admin):
    """A browser loses a chosen file when the page comes again, after a preview or a fault in another field."""
    digest = hashlib.sha256(png()).hexdigest()
    for sent in ({"preview": "1"}, {"save": "1", "name": ""}):
        shown = admin.post("/shop/", {**TYPED, **sent, "logo": file_of(png())})
        assert current_shop().logo is None
        assert all(f'src="/shop/logo/{digest}/"' in paper for paper in papers_of(shown)), sent
        assert f'value="{digest}" checked' in shown.content.decode(), sent

    save(admin)
    assert current_shop().logo is None
    assert codes(save(admin, kept_logo=digest)) == {"shop_saved"}
    assert current_shop().logo_id == digest
    assert AuditEvent.objects.filter(subject="shop").latest("pk").after["logo"] == digest


def test_a_logo_is_served_as_what_it_is_and_runs_nothing(admin, cashier):
    save(admin, logo=file_of(jpeg(), name="logo.html"))

    logo = current_shop().logo
    answer = cashier.get(f"/shop/logo/{logo.digest}/")
    assert logo.digest == hashlib.sha256(jpeg()).hexdigest()
    assert answer.content == jpeg()
    assert answer.headers["Content-Type"] == "image/jpeg"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_a_logo_stays_until_it_is_replaced_or_taken_away(admin):
    save(admin, logo=file_of(png()))
    save(admin, name="Toko Jaya")
    assert current_shop().logo.content_type == "image/png"

    save(admin, logo=file_of(jpeg()))
    assert current_shop().logo.content_type == "image/jpeg"

    save(admin, without_logo="on")
    assert current_shop().logo is None
    assert Logo.objects.count() == 2


def test_the_database_refuses_a_logo_under_another_name():
    facts = {"content_type": "image/png", "width": 20, "height": 20}

    with pytest.raises(DatabaseError), transaction.atomic():
        Logo.objects.create(digest="0" * 64, content=png(), **facts)


def test_the_environment_names_the_shop_until_a_person_does(admin, settings):
    settings.SHOP_NAME = "Dari lingkungan"
    assert shop_name() == "Dari lingkungan"
    adopt_name()
    settings.SHOP_NAME = "Nama kedua"
    adopt_name()
    assert shop_name() == "Nama kedua"

    save(admin)
    adopt_name()
    assert shop_name() == "Toko Maju"


def test_the_settings_take_few_queries(admin, django_assert_max_num_queries):
    save(admin, logo=file_of(png()))
    admin.get("/shop/")

    with django_assert_max_num_queries(6):
        admin.get("/shop/")
