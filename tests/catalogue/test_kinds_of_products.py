"""A product keeps the kind of its numbers under every name, until the shop sets another kind."""

from typing import Any

import pytest

from alerts.kinds import KINDS as ALERTS
from alerts.kinds.kind import Now
from audit.models import AuditEvent
from catalogue.destinations import CUSTOMER, METER, PHONE
from catalogue.models import KindCorrection, Product
from catalogue.services.kinds import Corrections, correct_kind, settle_kind
from catalogue.services.targets import Target
from testing.factories import make_product
from testing.people import make_person

pytestmark = pytest.mark.django_db


def sync_again(product: Product, **names: str) -> Product:
    """The product after a sync in which its category has this name."""
    product.refresh_from_db()
    for name, value in names.items():
        setattr(product.category, name, value)
    product.category.save()
    settle_kind(product, Corrections.read())
    product.save()
    return product


def asking() -> list[Any]:
    return [reason.facts["names"] for reason in ALERTS["number_kind_unknown"].reasons(Now())]


def test_given_a_renamed_category_its_products_keep_their_kind_and_the_shop_is_asked():
    product = make_product()
    assert not asking()

    sync_again(product, code="isi-ulang", name="Isi Ulang")

    assert (product.kind, product.kind_source) == (PHONE, "kept")
    assert asking() == [["Isi Ulang"]]


def test_given_a_name_of_another_kind_a_known_product_keeps_its_own():
    product = make_product()

    for _ in range(2):
        sync_again(product, code="token", name="Token")

    assert (product.kind, product.kind_source) == (PHONE, "kept")


def test_given_an_unknown_category_the_general_kind_counts_until_names_say_more():
    product = make_product()
    product.category.code, product.category.name = "baru", "Baru"
    settle_kind(product, Corrections({}, {}), is_new=True)
    product.category.save()
    product.save()

    assert (product.kind, product.is_kind_known) == (CUSTOMER, False)
    assert asking() == [["Baru"]]
    assert sync_again(product, name="Token PLN").kind is METER


def test_what_the_shop_has_said_survives_every_sync_and_ends_the_alert():
    product, person = make_product(), make_person("owner")
    sync_again(product, code="isi-ulang", name="Isi Ulang")

    correct_kind(Target(type="prepaid", category=product.category), PHONE, actor=person)

    assert sync_again(product, name="Token").kind_source == "shop"
    assert product.kind is PHONE
    assert not asking()
    assert AuditEvent.objects.get(kind="number_kind_changed").after["number_kind"] == "phone"


def test_what_is_set_for_a_product_counts_more_than_for_its_category():
    product, person = make_product(), make_person("owner")
    correct_kind(Target(type="prepaid", category=product.category), METER, actor=person)

    correct_kind(Target(type="prepaid", product=product), CUSTOMER, actor=person)

    product.refresh_from_db()
    assert (product.kind, product.kind_source) == (CUSTOMER, "shop")


def test_the_page_corrects_a_category_and_takes_it_back(admin):
    product = make_product()
    address = f"/products/kinds/category:{product.category_id}/"

    assert product.category.name in admin.get("/products/kinds/").content.decode()
    admin.post(address, {"kind": "meter"})
    product.refresh_from_db()
    assert product.kind is METER
    assert f"/products/kinds/product:{product.pk}/".split("kinds/")[1] in admin.get(address).content.decode()
    admin.post(address, {"kind": ""})

    product.refresh_from_db()
    assert (product.kind, product.kind_source) == (PHONE, "names")
    assert not KindCorrection.objects.exists()
