"""A change of a price rule: previewed, kept as an event, and below cost only with a second person."""

from typing import Any

import pytest

from alerts.models import Alert
from alerts.services import evaluate_alerts
from approvals.models import Approval
from approvals.services import ask
from audit.models import AuditEvent
from catalogue.errors import RuleRefused
from catalogue.models import Category, PriceRule, Product
from catalogue.services import change_rule, preview, rules_above
from catalogue.services.targets import Target
from catalogue.services.terms import Terms
from staff.models import User
from testing.database import statements
from testing.factories import make_biller, make_product
from testing.people import browser_of, code_of, make_person, signed_in
from tests.approvals.helpers import approve, approver
from tests.core.helpers import codes, has_id, hidden, words, words_at

pytestmark = pytest.mark.django_db

URL = "/products/prices/rule/"


def _of(product: Product) -> Target:
    return Target(type=product.type, product=product)


def _set(target: Target, terms: Terms | None, **facts: Any) -> None:
    actor = facts.pop("actor", None) or User.objects.filter(username="changer").first()
    change_rule(target, terms, actor=actor or make_person("administrator", username="changer"), **facts)


def test_a_change_reprices_and_is_an_event_with_before_and_after():
    product, biller = make_product(price=10_000), make_biller()
    _set(_of(product), Terms("plus", 1_000))

    _set(_of(product), Terms("percent", 2_500, 500))

    product.refresh_from_db()
    assert product.selling_price == 12_500
    event = AuditEvent.objects.filter(kind="price_rule_changed").latest("pk")
    assert event.before["terms"] == {"kind": "plus", "value": 1_000, "round_to": 1}
    assert event.after["terms"] == {"kind": "percent", "value": 2_500, "round_to": 500}
    rule = PriceRule.objects.get()
    assert [row.value for row in rule.history.order_by("pgh_id")] == [1_000, 2_500]

    # an ended rule gives way to the broader one
    _set(Target(type="prepaid"), Terms("plus", 500))
    _set(_of(product), None)
    product.refresh_from_db()
    assert product.selling_price == 10_500
    assert PriceRule.objects.filter(ended_at=None).count() == 1

    # a fee of bills is never below cost
    _set(_of(biller), Terms("plus", 2_500))
    biller.refresh_from_db()
    assert (biller.fee, biller.selling_price) == (2_500, None)


def test_a_product_is_named_in_words_and_several_are_offered():
    ten = make_product(name="Telkomsel 10.000", code="TSEL10", price=10_250)
    make_product(name="Telkomsel 20.000", code="TSEL20", price=20_275)
    browser = browser_of("administrator")

    one = browser.get(URL, {"product": "telkomsel 10"})
    assert one.context["target"].product == ten

    several = browser.get(URL, {"product": "telkomsel"})
    assert has_id(several, "rule-candidates")
    assert {product.code for product in several.context["which"].candidates} == {"TSEL10", "TSEL20"}


def test_a_least_amount_is_kept_shown_and_taken_away_again():
    product = make_product(price=10_000)
    terms = Terms("percent", 250, 500, 600)
    seen = preview(_of(product), terms, count=1)
    assert [(row.before, row.after) for row in seen.rows] == [(10_000, 11_000)]
    _set(_of(product), terms, seen=seen.hash)

    with pytest.raises(RuleRefused) as refusal:
        _set(_of(product), terms)
    assert refusal.value.reason == "same"
    _set(_of(product), Terms("percent", 250, 500))

    product.refresh_from_db()
    assert product.selling_price == 10_500
    events = AuditEvent.objects.filter(kind="price_rule_changed").order_by("pk")
    assert [event.after["terms"].get("at_least") for event in events] == [600, None]
    rule = PriceRule.objects.get()
    assert [row.at_least for row in rule.history.order_by("pgh_id")] == [600, None]


def test_a_preview_is_what_the_change_then_does():
    product, other = make_product(price=10_000, name="A"), make_product(price=20_000, name="B")
    make_product(price=5_000, is_listed=False)
    _set(_of(other), Terms("fixed", 25_000))
    target, terms = Target(type="prepaid", category=product.category), Terms("percent", 1_000, 1_000)

    seen = preview(target, terms, count=10)

    assert [(row.code, row.before, row.after, row.margin) for row in seen.rows] == [
        (product.code, 10_000, 11_000, 1_000)
    ]
    assert (seen.affected, seen.falling, seen.below_cost, seen.largest_loss) == (1, 0, 0, 0)
    assert (seen.least_margin, seen.most_margin) == (1_000, 1_000)
    product.refresh_from_db()
    assert product.selling_price is None
    _set(target, terms, seen=seen.hash)
    product.refresh_from_db()
    assert product.selling_price == 11_000


def test_a_preview_says_what_a_sale_earns_and_lists_amounts_as_numbers():
    for price in (100_000, 5_000, 10_000):
        make_product(price=price, name=f"Pulsa {price:,}".replace(",", "."))

    seen = preview(Target(type="prepaid"), Terms("percent", 1_000), count=10)

    assert [row.cost for row in seen.rows] == [5_000, 10_000, 100_000]
    assert (seen.least_margin, seen.most_margin) == (500, 10_000)


def test_a_second_person_approves_a_rule_below_cost_on_the_page():
    product = make_product(price=10_000)
    person = make_person("administrator")
    browser, code = signed_in(person), code_of(person)
    typed = {"target": f"product:{product.pk}", "kind": "fixed", "value": "9.000", "round_to": "1"}
    page = browser.get(URL, typed)
    assert has_id(page, "below-cost")
    typed |= {**hidden(page), "factor_code": code}  # a refusal does not use it up

    assert codes(browser.post(URL, {**typed, "reason": " "})) == {"RuleRefused:no_reason"}
    assert not Approval.objects.exists()
    browser.post(URL, {**typed, "reason": "promo"})
    approval = Approval.objects.get()
    assert (approval.act, approval.facts["below_cost"], approval.facts["largest_loss"]) == ("price_rule", 1, 1_000)
    before = words(browser.get(approval.get_absolute_url())).partition("Rule now")[2]
    assert before.strip().startswith("No rule of its own")
    product.refresh_from_db()
    assert (product.selling_price, PriceRule.objects.exists()) == (None, False)
    assert approve(approval, approver()).state == "approved"

    product.refresh_from_db()
    assert product.selling_price == 9_000


def test_a_rule_that_was_asked_for_before_there_was_a_least_amount_is_still_approved():
    # given the content of such a release: it has no least amount, also in its digest
    product = make_product(price=10_000)
    asker = make_person("administrator")
    _set(_of(product), Terms("percent", 250, 500), actor=asker)
    content = {
        "target": f"product:{product.pk}",
        "name": f"Telkomsel 10.000 ({product.code})",
        "before": {"kind": "percent", "value": 250, "round_to": 500},
        "after": {"kind": "fixed", "value": 9_000, "round_to": 1},
        "affected": 1,
        "below_cost": 1,
        "largest_loss": 1_000,
        "prices": preview(_of(product), Terms("fixed", 9_000)).digest,
    }
    approval = ask("price_rule", subject=content["target"], content=content, actor=asker, reason="promo")
    assert "cost + 2,5%, rounded up to Rp500" in words(browser_of("auditor").get(approval.get_absolute_url()))

    # when it is approved
    approved = approve(approval, approver())
    assert (approved.state, approved.changes) == ("approved", {})

    # then the price is the asked price
    product.refresh_from_db()
    assert product.selling_price == 9_000


def test_on_the_page_a_rule_is_shown_saved_and_listed():
    product = make_product(price=10_000)
    browser = browser_of("administrator")
    assert has_id(browser.get("/products/prices/"), "none-yet")
    assert browser.get(URL, {"target": "", "product": product.code.lower()}).status_code == 200

    typed = {"target": f"brand:{product.brand_id}", "kind": "percent", "value": "2,5", "round_to": "500"}
    page = browser.get(URL, typed)
    assert has_id(page, f"price-{product.code}")
    sent = {**typed, **hidden(page)}
    refused = browser.post(URL, sent)
    assert 'data-code="FactorRefused:missing"' in refused.content.decode()
    assert not PriceRule.objects.exists()
    answer = browser.confirm(URL, sent, follow=True)

    product.refresh_from_db()
    assert product.selling_price == 10_500
    assert "2,5%" in words(answer)


def test_on_the_page_a_percentage_has_a_least_amount():
    product = make_product(price=10_000)
    browser = browser_of("administrator")
    typed = {"target": f"product:{product.pk}", "kind": "percent", "value": "2,5", "at_least": "500", "round_to": "1"}
    page = browser.get(URL, typed)

    browser.confirm(URL, {**typed, **hidden(page)})

    product.refresh_from_db()
    assert product.selling_price == 10_500
    assert has_id(browser.get(URL, {"target": typed["target"]}), "id_at_least")
    assert "cost + 2,5%, at least Rp500" in words(browser.get("/products/prices/"))
    assert "cost + 2,5%, at least Rp500" in words(browser_of("auditor").get("/audit/"))

    # another kind has no least amount, whatever its field holds
    typed |= {"kind": "plus", "value": "700", "at_least": "nonsense"}
    browser.confirm(URL, {**typed, **hidden(browser.get(URL, typed))})
    product.refresh_from_db()
    assert product.selling_price == 10_700
    assert PriceRule.objects.get(ended_at=None).at_least is None


def test_the_preview_says_that_rounding_makes_more_of_the_least_amount():
    product = make_product(price=10_250)
    browser = browser_of("administrator", language="en")
    typed = {"target": f"product:{product.pk}", "kind": "percent", "value": "1", "at_least": "500", "round_to": "500"}

    more = words_at(browser.get(URL, typed), 'id="by-rounding"')
    exact = words_at(browser.get(URL, typed | {"at_least": "750"}), 'id="by-rounding"')

    assert more.strip() == "Rounding up to Rp500 makes the least profit Rp750 instead of Rp500."
    assert "may earn more than the Rp750" in exact
    assert not has_id(browser.get(URL, typed | {"round_to": "1"}), "by-rounding")


def test_without_a_rule_of_its_own_the_page_names_the_rule_that_holds_and_begins_with_its_rounding():
    product = make_product(price=10_000)
    brand = {"target": f"brand:{product.brand_id}"}
    browser = browser_of("administrator")
    assert words_at(browser.get(URL, brand), 'id="rule-now"').strip() == "Rule now: No rule"
    _set(Target.find("all:prepaid"), Terms("plus", 700, 100))
    _set(Target.find(f"category:{product.category_id}"), Terms("percent", 300, 500))

    page = browser.get(URL, brand)

    held = f"No rule of its own; {product.category.name}: cost + 3%, rounded up to Rp500"
    assert words_at(page, 'id="rule-now"').strip() == f"Rule now: {held}"
    assert '<option value="500" selected>' in page.content.decode()
    seen = browser.get(URL, {**brand, "kind": "plus", "value": "900", "round_to": "1"})
    assert words_at(seen, 'id="rules-then"').strip() == f"{held} → + Rp900"
    assert [rule.category for rule in rules_above(_of(product))] == [product.category]


def test_a_rule_without_sense_is_refused_beside_its_field():
    browser = browser_of("administrator")
    for typed, field in (
        ({"target": "all:prepaid", "kind": "fixed", "value": "0"}, "id_value_error"),
        ({"target": "all:prepaid", "kind": "percent", "value": "1000,01"}, "id_value_error"),
        ({"target": "all:prepaid", "kind": "percent", "value": "x"}, "id_value_error"),
        ({"target": "all:prepaid", "kind": "plus", "value": ""}, "id_value_error"),
        ({"target": "all:prepaid", "kind": "percent", "value": "1", "at_least": "1.000.000.001"}, "id_at_least_error"),
        ({"target": "all:prepaid", "kind": "percent", "value": "1", "at_least": "-1"}, "id_at_least_error"),
        ({"target": "all:prepaid", "kind": "percent", "value": "1", "at_least": "0,5"}, "id_at_least_error"),
        ({"target": "all:postpaid", "kind": "percent", "value": "1"}, "id_kind_error"),
        ({"target": "all:nothing"}, "id_target_error"),
        ({"target": "brand:999999999999999999999"}, "id_target_error"),
        ({"product": "NOSUCH"}, "id_product_error"),
    ):
        page = browser.get(URL, typed)

        assert has_id(page, field), typed
        assert not has_id(page, "rule-save"), typed


def test_a_broad_rule_names_the_rules_that_come_before_it():
    product, other = make_product(price=10_000), make_product(price=20_000, category="data")
    category, brand = (
        Target(type="prepaid", category=product.category),
        Target(type="prepaid", brand=product.brand),
    )
    for target in (category, brand, _of(product)):
        _set(target, Terms("plus", 500))
    browser = browser_of("administrator")

    def named(target: str) -> list[str]:
        page = browser.get(URL, {"target": target, "kind": "plus", "value": "1.500", "round_to": "1"})
        return [part.key for part in page.context["narrower"]]

    assert named("all:prepaid") == [category.key, brand.key, _of(product).key]
    assert named(category.key) == [brand.key, _of(product).key]
    assert named(brand.key) == [_of(product).key]
    assert named(_of(product).key) == named(f"category:{other.category_id}") == []


def test_a_cost_that_moved_shows_the_prices_again_and_makes_an_asked_rule_void():
    product = make_product(price=10_000)
    browser = browser_of("administrator")
    typed = {"target": f"product:{product.pk}", "kind": "plus", "value": "500", "round_to": "1"}
    fields = hidden(browser.get(URL, typed))
    Product.objects.filter(pk=product.pk).update(price=10_100)
    assert codes(browser.confirm(URL, {**typed, **fields})) == {"RuleRefused:moved"}
    assert not PriceRule.objects.exists()

    typed |= {"kind": "fixed", "value": "9.000"}
    browser.confirm(URL, {**typed, **hidden(browser.get(URL, typed)), "reason": "promo"})
    Product.objects.filter(pk=product.pk).update(price=11_000)

    assert approve(Approval.objects.get(), approver()).state == "void"
    assert not PriceRule.objects.exists()


def test_the_pages_about_prices_ask_few_questions():
    browser = browser_of("administrator")
    for number in range(60):
        make_product(price=10_000 + number)
    shown = f"{URL}?target=all:prepaid&kind=plus&value=500&round_to=1&page=2"  # also with the products sold lately
    for address, most in (("/products/prices/", 10), (URL, 10), (shown, 13)):
        with statements() as sent:
            assert browser.get(address).status_code == 200
        assert len(sent) <= most, address


def test_a_cost_above_the_price_opens_an_alert_that_ends_by_itself(settings: Any):
    settings.POLICIES = {"alert_low_balance": 0, "alert_low_balance_hours": 0}
    product = make_product(price=10_000, selling_price=10_500)
    evaluate_alerts()
    assert not Alert.objects.filter(kind="below_cost").exists()

    Product.objects.filter(pk=product.pk).update(price=10_600)
    evaluate_alerts()
    alert = Alert.objects.get(kind="below_cost")
    assert (alert.closed_at, alert.facts["count"], alert.facts["largest_loss"]) == (None, 1, 100)

    Product.objects.filter(pk=product.pk).update(price=10_400)
    evaluate_alerts()
    alert.refresh_from_db()
    assert alert.closed_at is not None


def test_a_product_or_category_whose_type_has_changed_gets_a_rule_of_its_new_type():
    product, biller = make_product(price=10_000), make_biller()
    for changed, becomes in ((product, "postpaid"), (biller, "prepaid")):
        _set(_of(changed), Terms("plus", 1_000))
        Product.objects.filter(pk=changed.pk).update(type=becomes, selling_price=None, fee=0)
        changed.refresh_from_db()

        _set(_of(changed), Terms("plus", 2_500))

        changed.refresh_from_db()
        assert (changed.fee if becomes == "postpaid" else changed.selling_price - changed.price) == 2_500
        assert [rule.type for rule in PriceRule.objects.filter(ended_at=None, product=changed)] == [becomes]

    category = make_product(price=10_000, category="data").category
    _set(Target(type="prepaid", category=category), Terms("plus", 1_000))
    Category.objects.filter(pk=category.pk).update(type="postpaid")
    category.refresh_from_db()
    _set(Target(type="postpaid", category=category), Terms("plus", 2_500))
    rules = PriceRule.objects.filter(ended_at=None, category=category)
    assert [(rule.type, rule.value) for rule in rules] == [("postpaid", 2_500)]
