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


def test_given_a_renamed_category_its_products_keep_their_kind_until_the_shop_says_it():
    product, person = make_product(), make_person("owner")
    assert not asking()
    for _ in range(2):
        sync_again(product, code="token", name="Token")  # the name of another kind
    assert (product.kind, product.kind_source) == (PHONE, "kept")

    sync_again(product, code="isi-ulang", name="Isi Ulang")
    assert (product.kind, product.kind_source) == (PHONE, "kept")
    assert asking() == [["Isi Ulang"]]

    # what the shop has said survives every sync and ends the alert
    correct_kind(Target(type="prepaid", category=product.category), PHONE, actor=person)

    assert sync_again(product, name="Token").kind_source == "shop"
    assert product.kind is PHONE
    assert not asking()
    assert AuditEvent.objects.get(kind="number_kind_changed").after["number_kind"] == "phone"


def test_given_an_unknown_category_the_general_kind_counts_until_names_say_more():
    product = make_product()
    product.category.code, product.category.name = "baru", "Baru"
    settle_kind(product, Corrections({}, {}), is_new=True)
    product.category.save()
    product.save()

    assert (product.kind, product.is_kind_known) == (CUSTOMER, False)
    assert asking() == [["Baru"]]
    assert sync_again(product, name="Token PLN").kind is METER


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
