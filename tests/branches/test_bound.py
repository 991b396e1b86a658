"""A person who is bound to a branch sees nothing of another branch on any page, or in any file, number or figure."""

import re
from functools import cache

import pytest
from django.db.models import Sum
from django.template.backends.django import Template
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from alerts.models import Alert
from approvals.errors import ApprovalRefused
from approvals.models import Approval
from approvals.services import approve
from backoffice.own_branch import CLOSED, OF_KEYS, OF_VALUES
from backoffice.own_day import OwnDay
from branches.models import FIRST
from branches.seeing import seen_in_branch_of
from credit.models import CreditEntry
from drawers.errors import DrawerRefused
from drawers.models import Drawer
from drawers.services import expected_cash, open_shift, take_credit_payment
from earnings.services.listed import figures_of_list
from exports.models import Export, ExportState
from exports.tasks import write_list
from purchases.errors import ActionRefused
from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS
from purchases.services.actions import Action, require
from reconciliation.services import propose_adjustment
from staff.errors import NotAllowed
from staff.models import User
from staff.services import deactivate
from testing.factories import make_check
from testing.people import Browser, make_person, signed_in
from tests.approvals.helpers import factor_of
from tests.branches.helpers import make_branch
from tests.branches.two_branches import AMOUNT, NUMBER, TwoBranches, make_two_branches
from tests.core.helpers import codes
from tests.credit.helpers import account_of, give_credit, sell_to
from tests.drawers.helpers import pieces_of
from tests.reconciliation.helpers import make_difference
from tests.roles.helpers import opened_by, routes
from tests.tills.helpers import give_pin, till_browser

pytestmark = pytest.mark.django_db

# With these values the lists and files show all their rows and columns.
MORE = [
    "/orders/?columns=product,number,status,price,cashier,branch,payment",
    f"/orders/?q={NUMBER}",
    "/orders/?cashier=Zebra-1",
    "/orders/?status=attention",
    "/orders/sums/?days=today",
    "/orders/file/?format=csv",
    "/bills/file/?format=csv",
    "/complaints/?state=all",
    "/complaints/file/?format=csv&state=all",
    "/refunds/?state=all",
    "/work/?whose=shop",
    "/work/?whose=others",
    f"/find/?q={NUMBER}",
    f"/find/?q={NUMBER[-6:]}",
    "/find/?q=zebra",
    "/find/?q=zebra&kind=staff",
    "/find/?q=zebra&kind=drawers",
    f"/arrived/?q={NUMBER}",
    "/staff/?q=zebra",
    *(f"/earnings/?days=month&by={by}" for by in ("brand", "category", "product", "person", "method", "day")),
    *(f"/?days=month&by={by}" for by in ("brand", "product", "person", "method")),
    "/earnings/csv/?by=person",
    "/approvals/?state=asked",
    "/balance/alerts/?state=open",
]
# These name people of the reader's branch; an owner sees people of both branches.
SAY = [
    *("/orders/", "/refunds/", "/work/?whose=shop", "/shifts/", "/staff/", "/approvals/", "/complaints/"),
    *(
        "/?by=person",
        "/earnings/?by=person",
        "/earnings/csv/?by=person",
        "/balance/alerts/mine/",
        "/orders/file/?format=csv",
    ),
]
# Addresses whose rows belong to no branch.
OF_NO_BRANCH = {
    "alert_snooze": "finds only what concerns the reader",
    "work_take": "finds only the reader's list",
    "export_download": "an own file, made since the reader is bound",
    "guide": "the guide",
    **dict.fromkeys(
        [
            "order_view_delete",
            "bill_view_delete",
            "complaint_view_delete",
            "difference_view_delete",
            "customer_view_delete",
            "batch_row_view_delete",
        ],
        "an own view",
    ),
    **dict.fromkeys(
        ["customer_detail", "customer_edit", "customer_delete", "number_add", "number_edit", "number_delete"],
        "customers as such",
    ),
    **dict.fromkeys(
        [
            "credit_account",
            "credit_terms",
            "credit_brought",
            "credit_paid",
            "credit_paid_out",
            "credit_undo",
            "credit_receipt",
        ],
        "a customer's account",
    ),
    **dict.fromkeys(["customer_merge", "counter_batch_start"], "customers as such"),
    **dict.fromkeys(["due_follow", "due_decide"], "a saved number"),
    **dict.fromkeys(["kind_edit", "role_detail"], "the whole shop's"),
    **dict.fromkeys(["drawer_day", "drawer_day_csv", "drawer_day_sign"], "a day: its shifts are narrowed"),
    **dict.fromkeys(["closing", "topup_cancel", "run_detail"], "the provider's account"),
    **dict.fromkeys(["difference_detail", "difference_acknowledge", "adjustment_propose"], "a right of the whole shop"),
    **dict.fromkeys(["exchange_detail", "callback_detail", "callback_process"], "a right of the whole shop"),
    **dict.fromkeys(["bank_file_back", "bank_row", "bank_decide"], "a right of the whole shop"),
    **dict.fromkeys(["shop_branch", "shop_branch_close", "shop_logo"], "a right of the whole shop"),
    "alert_way_remove": "a right of the whole shop",
    "factor_remove": "an own factor",
}


@pytest.fixture
def two() -> TwoBranches:
    return make_two_branches()


def text_of(answer) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return content.decode(errors="replace")


def named_values(patterns: list[URLPattern | URLResolver], before: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """The name of each address → the names of the values in it."""
    found = {}
    for pattern in patterns:
        values = (*before, *pattern.pattern.converters)
        if isinstance(pattern, URLResolver):
            found |= named_values(pattern.url_patterns, values)
        elif pattern.name:
            found[pattern.name] = values
    return found


def test_no_page_says_anything_of_another_branch(two):
    two.sell_before_moving("success", price=AMOUNT - 1_000)
    two.sell_before_moving("needs_action", action_reason="balance_short")
    opened = opened_by("supervisor")
    routed = [(name, address) for name, address in routes(get_resolver().url_patterns) if name in opened]
    plain = [address for name, address in routed if not named_values_of()[name]]
    browser, said, seen = two.bound(), {}, set()
    for address in [*(address for address in plain if "logout" not in address and address != "/\x00"), *MORE]:
        answer = browser.get(address)
        text = text_of(answer)
        seen.add(answer.status_code)
        if marks := [mark for mark in two.said(text) if mark not in address.lower()]:  # pages repeat the typed text
            said[address] = marks

    assert said == {}
    assert 200 in seen

    # a moved person's sales of before are not counted
    strip = text_of(two.bound().get("/counter/"))
    with seen_in_branch_of(lambda: two.supervisor):
        assert not OwnDay.read(two.supervisor).is_used
    assert 'data-moving="0"' in strip
    assert 'data-sold="0"' in strip


def test_the_own_branch_is_seen_and_an_owner_sees_both(two):
    browser, owner = two.bound(), signed_in(two.owner)
    of_no_branch = make_check(customer_name="Nobody's")  # nobody has paid it

    assert [address for address in SAY if "melati" not in text_of(browser.get(address)).lower()] == []
    assert [address for address in SAY if not two.said(text_of(owner.get(address)))] == []
    for address in (
        f"/orders/{two.own.order.ref_id}/",
        f"/shifts/{two.own.shift.pk}/",
        f"/approvals/{two.own.approval.pk}/",
        f"/staff/{two.own.person.pk}/",
        f"/tills/{two.own.till.pk}/",
        f"/bills/{two.own.bill.ref_id}/",
        f"/bills/{of_no_branch.ref_id}/",
    ):
        assert browser.get(address).status_code == 200

    # each page names the branch of a bound person
    named = f'id="own-branch">{two.own.branch.name}<'
    for address in ("/", "/orders/", "/earnings/", "/balance/"):
        assert named in text_of(browser.get(address))
        assert 'id="own-branch"' not in text_of(owner.get(address))
    day = text_of(browser.get(f"/shifts/days/{timezone.localdate()}/"))
    assert f'<span class="aside">{two.own.branch.name}</span>' in day


@cache
def named_values_of() -> dict[str, tuple[str, ...]]:
    return named_values(get_resolver().url_patterns)


def test_each_address_that_names_a_row_has_a_door_or_says_why_not():
    without = {
        name
        for name, values in named_values_of().items()
        if values and not OF_VALUES.keys() & set(values) and name not in OF_KEYS
    }

    assert without - OF_NO_BRANCH.keys() == set()
    assert OF_KEYS.keys() | CLOSED <= named_values_of().keys()


def test_what_belongs_to_another_branch_does_not_exist(two, monkeypatch):
    monkeypatch.setattr(Template, "render", lambda *_context, **__context: "")  # only the status is looked at
    browser, other = two.bound(), two.other
    rows = (other.shift, other.drawer, other.till, other.approval, other.complaint, other.batch)
    of_models = {row._meta.model: row for row in rows}
    of_models[User] = other.person
    values = {"ref_id": other.order.ref_id, "batch": other.bill.batch, "sheet": other.receipt.sheet}
    opened = {}
    for name, named in named_values_of().items():
        given = dict.fromkeys(named, 1) | {key: value for key, value in values.items() if key in named}
        given |= {key: "cancel" for key in named if key == "action"}
        if name in OF_KEYS:
            given["pk"] = of_models[OF_KEYS[name].model].pk
        elif not OF_VALUES.keys() & given.keys():
            continue
        address = reverse(name, kwargs=given)
        opened |= {
            f"{method} {name}": status
            for method in ("get", "post")
            if (status := getattr(browser, method)(address).status_code) != 404
        }

    assert opened == {}


def test_forms_live_parts_and_services_refuse_what_belongs_to_another_branch(two):
    browser, order = two.bound(), two.other.stuck
    bulk = browser.post("/orders/bulk/", {"act": "release", "order": [order.ref_id], "confirmed": "on"}, follow=True)
    live = browser.get(f"/orders/live/?row-{order.pk}=x&seen=row-{order.pk}:x")
    again = [browser.get(f"/counter/review/?again={side.order.ref_id}").status_code for side in (two.own, two.other)]
    assert codes(bulk) == {"none_ticked"}
    assert two.said(live.content.decode()) == []
    assert again == [200, 404]

    with pytest.raises(ApprovalRefused) as undecided:
        approve(two.other.approval, actor=two.supervisor, factor=factor_of(two.supervisor))
    with pytest.raises(ActionRefused):
        require(Action.CANCEL, order, two.supervisor)
    with pytest.raises(NotAllowed) as refused:
        deactivate(two.other.person, actor=two.supervisor)
    cashier = make_person("cashier", username="rina", bound_since=timezone.now())
    with pytest.raises(DrawerRefused) as not_opened:
        open_shift(Drawer.objects.create(name="Second", branch=two.other.branch), pieces=pieces_of(0), actor=cashier)

    require(Action.CANCEL, two.own.stuck, two.supervisor)
    two.other.approval.refresh_from_db()
    order.refresh_from_db()
    assert undecided.value.reason == "no_right"
    assert two.other.approval.is_open
    assert order.status == "needs_action"
    assert (refused.value.reason, not_opened.value.reason) == ("other_branch", "other_branch")


def test_a_request_of_the_whole_shop_is_for_people_who_may_ask_or_approve(two):
    # given: two adjustments wait; the bound supervisor asked for one of them, before an owner bound them
    User.objects.filter(pk=two.supervisor.pk).update(bound_since=None)
    asker = User.objects.get(pk=two.supervisor.pk)
    own, other = (
        propose_adjustment(make_difference(-amount), actor=actor, reason="missing").approval
        for amount, actor in ((5_000, asker), (6_000, make_person("administrator")))
    )
    User.objects.filter(pk=two.supervisor.pk).update(bound_since=timezone.now())
    bound, free = two.bound(), signed_in(make_person("supervisor", username="free"))

    def seen(browser: Browser) -> list[list[Approval]]:
        pages = [
            text_of(browser.get(page)) for page in ("/approvals/", "/approvals/?act=adjustment", "/work/?whose=shop")
        ]
        return [[row for row in (own, other) if f'"{row.get_absolute_url()}"' in page] for page in pages]

    assert seen(free) == [[own, other]] * 3
    assert seen(bound) == [[own]] * 3
    for browser, statuses in ((free, [200, 200]), (bound, [200, 404])):
        assert [browser.get(row.get_absolute_url()).status_code for row in (own, other)] == statuses
        assert [browser.get(f"{row.get_absolute_url()}live/").status_code for row in (own, other)] == statuses
    assert bound.post(f"{other.get_absolute_url()}refuse/", {"reason": "No"}).status_code == 404
    assert codes(bound.post(f"{own.get_absolute_url()}withdraw/", follow=True)) == {"withdrawn"}


def test_who_manages_the_drawers_of_one_branch_undoes_no_payment_in_another(two):
    customer, manager = give_credit(), make_person("administrator", bound_since="2026-01-01T00:00Z")
    paid = {}
    for side in (two.other, two.own):
        sell_to(customer, 10_000, by=side.person)
        paid[side] = take_credit_payment(account_of(customer), amount=10_000, method="cash", actor=side.person)
    browser, cash = signed_in(manager), expected_cash(two.other.shift)

    for payment in paid.values():
        browser.post(f"/credit/payments/{payment.pk}/undo/", {"reason": "another customer"})

    undone = CreditEntry.objects.filter(undoes__isnull=False).values_list("undoes", flat=True)
    assert list(undone) == [paid[two.own].pk]
    assert expected_cash(two.other.shift) == cash


def test_counts_sums_and_alerts_are_of_the_own_branch_alone(two):
    own = Order.objects.filter(payment__branch=FIRST)
    arrived = own.filter(status="success").aggregate(sum=Sum(CUSTOMER_PAYS))["sum"]
    browser = two.bound()

    overview, today = browser.get("/").context, browser.get("/earnings/today/").context["report"]
    report, foot = browser.get("/earnings/?days=today").context["report"], browser.get("/orders/sums/?days=today")

    assert own.count() < Order.objects.count()
    assert overview["today_count"] == own.count()
    assert (today.now.placed, report.now.placed) == (own.count(), own.count())
    assert foot.context["sums"].count == own.count()
    assert foot.context["sums"].arrived == report.now.sold == own.filter(status="success").count()
    assert foot.context["sums"].price == report.now.sales == arrived

    # a person who sees one branch gets no sums of days
    assert figures_of_list({}) is not None
    with seen_in_branch_of(lambda: two.supervisor):
        assert figures_of_list({}) is None

    # the number in the menu counts the person's own rows
    page = browser.get("/work/").content.decode()
    rows = re.findall(r'<tr id="row-(\w+)-\d+"', page)
    counted = page.split('id="count-work"')[1].split(">")[1].split("<")[0]

    assert int(counted) == len(rows)
    assert set(rows) >= {"order", "refund", "incident", "complaint", "approval"}
    assert not two.said(page)

    # alerts
    kinds = set(Alert.objects.open().values_list("kind", flat=True))
    shown = browser.get("/balance/alerts/mine/").content.decode()

    assert {"order_unknown", "complaint_overdue"} <= kinds
    assert not two.said(shown)
    assert "Melati" in shown


def test_files_and_shared_views_are_of_the_own_branch_alone(two):
    facts = {"owner": two.supervisor, "list_name": "orders", "file_format": "csv", "next_try_at": timezone.now()}
    facts |= {"task": "exports.tasks.write_list", "permission": "purchases.view_order catalogue.view_cost"}
    export = Export.objects.create(**facts)
    before = Export.objects.create(**facts, state=ExportState.READY, created_at="2025-12-31T00:00Z")
    browser = two.bound()

    write_list(export.pk)

    text = text_of(browser.get(f"/files/{export.pk}/"))
    assert two.own.order.ref_id in text
    assert not two.said(text)
    assert browser.get(f"/files/{before.pk}/").status_code == 404, "made before the person was bound"
    assert f'href="/files/{before.pk}/"' not in browser.get("/files/").content.decode()

    for side, name in ((two.other, "Zebra's"), (two.own, "Melati's")):
        person = make_person("supervisor", username=name, first_name=name, branch=side.branch)
        answer = signed_in(person).post("/orders/views/save/?status=success", {"name": name, "is_shared": "1"})
        assert answer.status_code == 302
    views = browser.get("/orders/views/")
    assert [view.name for view in views.context["views"]][1:] == ["Melati's"]
    assert two.said(text_of(views)) == []


def test_a_till_of_another_branch_takes_nobody_who_is_bound():
    tebet = make_branch()
    browser = till_browser()
    person = give_pin(make_person("cashier", username="rina", branch=tebet, bound_since=timezone.now()))

    assert "rina" not in browser.get("/till/").content.decode()
    answer = browser.post("/till/", {"person": person.pk, "pin": "824605"})

    assert 'data-code="TillElsewhere"' in answer.content.decode()
    assert "_auth_user_id" not in browser.session
