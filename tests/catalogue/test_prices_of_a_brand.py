"""A brand in all its categories: one form, one preview and one transaction for the rules of several brands."""

from typing import Any

import pytest
from django.utils import timezone

from approvals.models import Approval
from audit.models import AuditEvent
from catalogue.errors import NeedsSecondPerson, RuleRefused
from catalogue.forms import typed_terms
from catalogue.models import Brand, Category, PriceRule, Product
from catalogue.services import change_rule, in_several_categories, narrower_targets, preview
from catalogue.services.targets import Target
from catalogue.services.terms import AsNow, Terms
from core.money import rupiah
from core.rights import Role
from staff.models import User
from testing.database import statements
from testing.factories import make_biller, make_product
from testing.people import browser_of, make_person
from tests.approvals.helpers import approve, approver
from tests.catalogue.helpers import URL, everywhere, filled_in, products_of_a_brand
from tests.core.helpers import codes, has_id, hidden, words, words_at

pytestmark = pytest.mark.django_db

LEAST = Terms("percent", 300, 1, 500)


@pytest.fixture
def owner() -> User:
    return make_person("administrator", username="changer")


@pytest.fixture
def products() -> list[Product]:
    return products_of_a_brand()


def _prices() -> dict[str, int | None]:
    return dict(Product.objects.values_list("code", "selling_price"))


def test_only_a_brand_that_several_categories_of_one_type_list_is_offered(products):
    biller = make_biller()
    Brand.objects.filter(pk=biller.brand_id).update(name="XL")  # of another type
    assert [brand.category.code for brand in everywhere().brands] == ["pulsa", "data", "sms"]
    keys = {Target.find(f"brands:{product.brand_id}").key for product in products[:3]}
    assert keys == {f"brands:{products[0].brand_id}"}, "each of its brands names the same target"
    assert Target.find(f"brands:{products[3].brand_id}") is None

    Brand.objects.filter(category__code="sms").update(is_listed=False)
    assert [brand.category.code for brand in everywhere().brands] == ["pulsa", "data"]
    Brand.objects.filter(category__code="data").update(is_listed=False)
    assert in_several_categories() == []
    assert Target.find(f"brands:{products[0].brand_id}") is None


def test_one_change_gives_each_brand_its_rule_and_is_one_event(products, owner):
    change_rule(Target(type="prepaid", brand=products[1].brand), Terms("percent", 500), actor=owner)
    target = everywhere()
    seen = preview(target, LEAST, count=10)
    assert [(row.code, row.before, row.after) for row in seen.rows] == [
        ("DATA", 52_500, 51_500),  # falling prices come first
        ("SMS", 3_000, 3_500),
        ("PULSA", 10_000, 10_500),
    ]

    change_rule(target, LEAST, actor=owner, seen=seen.hash)

    assert _prices() == {"SMS": 3_500, "PULSA": 10_500, "DATA": 51_500, "XL": None}
    rules = PriceRule.objects.filter(ended_at=None).order_by("brand__pk")
    assert [(rule.brand_id, Terms.of(rule)) for rule in rules] == [(brand.pk, LEAST) for brand in target.brands]
    event = AuditEvent.objects.filter(kind="price_rule_changed").latest("pk")
    assert (event.subject, event.facts["affected"]) == ("Pulsa, Data, SMS · Telkomsel", 3)
    assert [rule["terms"] for rule in event.before["terms"]] == [
        None,
        {"kind": "percent", "value": 500, "round_to": 1},
        None,
    ]
    assert event.after["terms"] == {"kind": "percent", "value": 300, "round_to": 1, "at_least": 500}
    assert "Data · Telkomsel: cost + 5%" in words(browser_of("auditor").get("/audit/"))


def test_what_stays_as_now_only_gets_a_least_amount():
    for held, then in [
        (None, Terms("plus", 500)),
        (Terms("percent", 300, 100), Terms("percent", 300, 100, 500)),
        (Terms("percent", 300, 100, 400), Terms("percent", 300, 100, 500)),
        (Terms("percent", 300, 100, 500), Terms("percent", 300, 100, 500)),
        (Terms("percent", 300, 100, 600), Terms("percent", 300, 100, 600)),
        (Terms("plus", 499, 500), Terms("plus", 500, 500)),
        (Terms("plus", 1_500, 500), Terms("plus", 1_500, 500)),
        (Terms("fixed", 12_000), Terms("fixed", 12_000)),
    ]:
        assert AsNow(500).instead_of(held) == then


def test_each_brand_keeps_what_holds_for_it_and_no_price_falls(products, owner):
    # given a rule in percent for a category, one for a brand, and one with enough rupiah on top
    for code, terms in (("pulsa", Terms("percent", 300, 100)), ("sms", Terms("plus", 1_500))):
        category = Category.objects.get(code=code)
        change_rule(Target(type="prepaid", category=category), terms, actor=owner)
    change_rule(Target(type="prepaid", brand=products[1].brand), Terms("percent", 50), actor=owner)
    target, before = everywhere(), _prices()
    seen = preview(target, AsNow(500), count=10)
    assert [(row.code, row.before, row.after) for row in seen.rows] == [
        ("PULSA", 10_300, 10_500),
        ("DATA", 50_250, 50_500),
    ]
    assert (seen.falling, seen.below_cost) == (0, 0)

    # when each rule stays as it is, with a least amount
    change_rule(target, AsNow(500), actor=owner, seen=seen.hash)

    # then only prices below it change, and no brand gets a rule that it does not need
    assert _prices() == {"PULSA": 10_500, "DATA": 50_500, "SMS": 4_500, "XL": None}
    assert all(price >= (before[code] or 0) for code, price in _prices().items() if price)
    rules = PriceRule.objects.filter(brand__isnull=False).order_by("brand_id")
    assert [(rule.brand_id, Terms.of(rule)) for rule in rules] == [
        (products[0].brand_id, Terms("percent", 300, 100, 500)),
        (products[1].brand_id, Terms("percent", 50, 1, 500)),
    ]
    event = AuditEvent.objects.filter(kind="price_rule_changed").latest("pk")
    assert [rule["terms"] and rule["terms"].get("at_least") for rule in event.after["terms"]] == [500, 500, None]
    assert "Data · Telkomsel: cost + 0,5%, at least Rp500" in words(browser_of("auditor").get("/audit/"))
    with pytest.raises(RuleRefused) as refusal:
        change_rule(target, AsNow(400), actor=owner)
    assert refusal.value.reason == "same"


def test_what_stays_as_now_is_seen_again_when_a_broader_rule_has_moved(products, owner):
    pulsa = Target(type="prepaid", category=Category.objects.get(code="pulsa"))
    change_rule(pulsa, Terms("percent", 300), actor=owner)
    browser = browser_of("administrator")
    typed = filled_in(kind="as_now", value="", at_least="500")
    fields = hidden(browser.get(URL, typed))
    change_rule(pulsa, Terms("percent", 200), actor=owner)

    assert codes(browser.confirm(URL, {**typed, **fields})) == {"RuleRefused:moved"}
    assert not PriceRule.objects.filter(brand__isnull=False).exists()

    browser.confirm(URL, {**typed, **hidden(browser.get(URL, typed))})
    assert _prices() == {"PULSA": 10_500, "DATA": 50_500, "SMS": 3_500, "XL": None}


def test_what_stays_as_now_needs_a_least_amount_and_several_brands(products):
    browser = browser_of("administrator")
    for amount in ("", "0", "-1", "1.000.000.001", "x"):
        page = browser.get(URL, filled_in(kind="as_now", at_least=amount))

        assert has_id(page, "id_at_least_error"), amount
        assert not has_id(page, "rule-save"), amount
    page = browser.get(URL, filled_in(target="all:prepaid", kind="as_now", at_least="500"))
    assert has_id(page, "id_kind_error")


def test_a_brand_that_has_these_terms_is_left_as_it_is_until_all_rules_end_at_once(products, owner):
    change_rule(Target(type="prepaid", brand=products[1].brand), LEAST, actor=owner)
    rule = PriceRule.objects.get()
    change_rule(Target.find("all:prepaid"), Terms("plus", 700), actor=owner)

    change_rule(everywhere(), LEAST, actor=owner)

    assert PriceRule.objects.get(pk=rule.pk).changed_at == rule.changed_at
    assert rule.history.count() == 1
    with pytest.raises(RuleRefused) as refusal:
        change_rule(everywhere(), LEAST, actor=owner)
    assert refusal.value.reason == "same"

    seen = preview(everywhere(), None)
    change_rule(everywhere(), None, actor=owner, seen=seen.hash)

    assert _prices() == {"SMS": 3_700, "PULSA": 10_700, "DATA": 50_700, "XL": 10_700}
    assert list(PriceRule.objects.filter(ended_at=None).values_list("brand", "category", "product")) == [(None,) * 3]


def test_a_single_product_keeps_its_own_rule_and_the_page_names_it(products, owner):
    own = Target(type="prepaid", product=products[2])
    change_rule(own, Terms("fixed", 9_900), actor=owner)

    page = browser_of("administrator").get(URL, filled_in(at_least="500"))

    assert [part.key for part in narrower_targets(everywhere())] == [own.key]
    assert has_id(page, "narrower")
    change_rule(everywhere(), LEAST, actor=owner)
    assert _prices()["SMS"] == 9_900


def test_nothing_is_saved_when_anything_has_moved_since_it_was_seen(products, owner):
    def cost() -> None:
        Product.objects.filter(code="DATA").update(price=50_100)

    def rule() -> None:
        change_rule(Target(type="prepaid", brand=products[2].brand), Terms("plus", 100), actor=owner)

    def category() -> None:
        Category.objects.create(code="games", name="Games", type="prepaid")
        make_product(category="games", price=1_000)

    browser, typed = browser_of("administrator"), filled_in(at_least="500")
    for move in (cost, rule, category):
        fields = hidden(browser.get(URL, typed))
        move()
        rules, prices = list(PriceRule.objects.values()), _prices()

        assert codes(browser.confirm(URL, {**typed, **fields})) == {"RuleRefused:moved"}, move

        assert list(PriceRule.objects.values()) == rules
        assert _prices() == prices


def test_if_one_of_the_rules_cannot_be_written_none_is(products, owner, monkeypatch):
    save, saved = PriceRule.save, []

    def fail_at_the_third(rule: PriceRule, *args: Any, **kwargs: Any) -> None:
        saved.append(rule)
        if len(saved) == 3:
            raise ConnectionError
        save(rule, *args, **kwargs)

    monkeypatch.setattr(PriceRule, "save", fail_at_the_third)
    with pytest.raises(ConnectionError):
        change_rule(everywhere(), LEAST, actor=owner)

    assert not PriceRule.objects.exists()
    assert set(_prices().values()) == {None}
    assert not AuditEvent.objects.filter(kind="price_rule_changed").exists()


def test_below_cost_one_approval_holds_all_of_it(products, owner):
    target, low = everywhere(), Terms("fixed", 9_000)
    with pytest.raises(NeedsSecondPerson):
        change_rule(target, low, actor=owner)
    assert not PriceRule.objects.exists()
    browser = browser_of("administrator")
    typed = {"target": target.key, "kind": "fixed", "value": "9.000", "round_to": "1"}

    browser.confirm(URL, {**typed, **hidden(browser.get(URL, typed)), "reason": "promo"})

    approval = Approval.objects.get()
    assert (approval.subject, approval.facts["below_cost"], approval.facts["largest_loss"]) == (target.key, 2, 41_000)
    assert [rule["target"] for rule in approval.facts["before"]] == [part.key for part in target.parts]
    page = browser_of("auditor").get(approval.get_absolute_url())
    assert "Data · Telkomsel: No rule of its own" in words(page)
    assert has_id(browser.get(URL, {"target": target.key}), "rule-waits")
    assert not PriceRule.objects.exists()
    assert approve(approval, approver()).state == "approved"
    assert _prices() == {"SMS": 9_000, "PULSA": 9_000, "DATA": 9_000, "XL": None}


def test_an_approval_is_void_when_the_brand_came_into_another_category(products, owner):
    browser = browser_of("administrator")
    typed = {"target": everywhere().key, "kind": "fixed", "value": "9.000", "round_to": "1"}
    browser.confirm(URL, {**typed, **hidden(browser.get(URL, typed)), "reason": "promo"})
    Category.objects.create(code="games", name="Games", type="prepaid")
    make_product(category="games", price=1_000)

    assert approve(Approval.objects.get(), approver()).state == "void"
    assert not PriceRule.objects.exists()


def test_a_fee_of_bills_is_set_in_all_categories_too(owner):
    billers = []
    for code in ("pdam", "tv"):
        category = Category.objects.create(code=code, name=code, type="postpaid")
        brand = Brand.objects.create(category=category, code=f"{code}-x", name="Biznet")
        billers.append(make_biller(code=code))
        Product.objects.filter(code=code).update(category=category, brand=brand)

    change_rule(everywhere(), Terms("plus", 2_500), actor=owner)

    assert list(Product.objects.filter(code__in=["pdam", "tv"]).values_list("fee", flat=True)) == [2_500, 2_500]


def test_the_pages_lead_to_the_form_and_the_form_begins_with_what_holds(products, owner):
    for category, terms in (("pulsa", Terms("percent", 300, 500)), ("data", Terms("percent", 500, 500))):
        target = Target(type="prepaid", category=Category.objects.get(code=category))
        change_rule(target, terms, actor=owner)
    browser = browser_of("administrator")
    key = everywhere().key

    assert key in [now.target.key for now in browser.get("/products/prices/").context["everywhere"]]
    assert f'value="{key}"' in browser.get(URL).content.decode()
    assert has_id(browser.get(URL, {"target": f"brand:{products[1].brand_id}"}), "everywhere")

    # when: the least profit is typed beside the brand, the new prices come at once
    form = hidden(browser.get("/products/prices/"))
    assert form["target"] == key
    shown = browser.get(URL, {**form, "at_least": "500"})
    assert has_id(shown, "affected")
    page = browser.get(URL, {"target": key})
    assert page.context["form"].initial["kind"] == "as_now"
    for product, held in zip(products, ["cost + 3%", "cost + 5%", "No rule"], strict=False):
        assert held in words_at(page, f'id="now-{product.brand_id}"')
    with statements() as sent:
        browser.get(URL, filled_in(kind="as_now", at_least="500"))
    assert len(sent) <= 15

    change_rule(everywhere(), LEAST, actor=owner)
    assert browser.get(URL, {"target": key}).context["form"].initial == typed_terms(LEAST)


def test_the_brands_that_sold_most_come_first_then_by_name(products):
    for code, name in (("pulsa", "by.U"), ("data", "by.U"), ("pulsa", "AXIS"), ("data", "AXIS")):
        product = make_product(category=code, brand=name.casefold(), code=f"{name}-{code}")
        Brand.objects.filter(pk=product.brand_id).update(name=name)
    Product.objects.filter(code="SMS").update(bought=2)
    Product.objects.filter(code="by.U-data").update(bought=1)
    biller = make_biller()
    Brand.objects.filter(pk=biller.brand_id).update(name="Telkom")
    other = Category.objects.create(code="internet", name="Internet", type="postpaid")
    Brand.objects.create(category=other, code="telkom", name="Telkom")

    browser = browser_of("administrator")
    page = browser.get("/products/prices/")

    # then: brands of bills, which have fees, are not in the list of least profits
    assert [now.target.brand.name for now in page.context["everywhere"]] == ["Telkomsel", "by.U", "AXIS"]
    Product.objects.update(bought=0)
    page = browser.get("/products/prices/")
    assert [now.target.brand.name for now in page.context["everywhere"]] == ["AXIS", "by.U", "Telkomsel"]


def test_beside_a_brand_stands_the_least_profit_of_its_listed_products(products, owner):
    change_rule(Target(type="prepaid", product=products[0]), Terms("fixed", 10_550), actor=owner)
    change_rule(Target(type="prepaid"), Terms("plus", 700), actor=owner)
    make_product(category="data", code="OLD", price=50_000, is_listed=False)
    browser = browser_of("administrator", language="en")

    assert "Telkomsel now Rp550" in words(browser.get("/products/prices/"))

    Product.objects.filter(pk=products[1].pk).update(price=51_000)
    assert f"Telkomsel now {rupiah(-300)}" in words(browser.get("/products/prices/"))


def test_people_without_the_right_are_led_nowhere_and_change_nothing(products):
    typed = filled_in(at_least="500")
    for role in (Role.CASHIER, Role.SUPERVISOR, Role.AUDITOR):
        browser = browser_of(role)

        assert browser.get(URL, {"target": everywhere().key}).status_code == 403, role
        assert browser.confirm(URL, typed).status_code == 403
        page = browser.get("/products/prices/")
        assert page.status_code == 403 or not has_id(page, "everywhere")
    bound = browser_of("administrator", bound_since=timezone.now())  # to a branch
    assert [bound.get(URL, typed).status_code, bound.confirm(URL, typed).status_code] == [403, 403]
    assert not PriceRule.objects.exists()
