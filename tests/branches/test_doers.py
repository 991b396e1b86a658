"""The people who are named for waiting work see its branch and hold the right there."""

import pytest
from django.utils import timezone

from branches.models import Branch
from branches.seeing import seen_in_branch_of
from catalogue.models import Product
from core.rights import Right
from drawers.templatetags.drawers import who_gives_back
from purchases.errors import ActionRefused
from purchases.services import cancel_order
from staff.models import BREAK_GLASS, AccessLink, User
from staff.services import holders_of_any, names_of_holders
from testing.factories import make_order
from testing.people import make_person, signed_in
from tests.approvals.helpers import ask_purchase
from tests.branches.helpers import make_branch
from tests.core.helpers import words_at

pytestmark = pytest.mark.django_db


def bound_person(role, name, branch=None):
    """A person who sees only the first branch, or only this branch."""
    more = {"branch": branch} if branch else {}
    return make_person(role, username=name, first_name=name, bound_since="2026-01-01T00:00Z", **more)


@pytest.fixture
def shop():
    """A bound leader in each branch, and a bound cashier of the first branch, who is returned."""
    other = make_branch("Tebet")
    bound_person("supervisor", "Anggrek", other)
    bound_person("supervisor", "Melati")
    return bound_person("cashier", "Sari")


def test_work_about_an_order_names_people_of_its_branch(shop):
    # also for readers who see all branches
    viewer, seller = make_person("viewer", username="viona"), make_person("cashier", username="vino")
    for sent_at in ("2026-01-01T00:00Z", timezone.now()):
        order = make_order("unknown", placed_by=shop, sent_at=sent_at)
        for reader in (shop, viewer):
            page = signed_in(reader).get(order.get_absolute_url()).content.decode()
            assert ("Melati" in page, "Anggrek" in page) == (True, False), (sent_at, reader)

    # an order whose cost has risen above its price
    order = make_order("needs_action", placed_by=shop, action_reason="price_changed", selling_price=12_000)
    Product.objects.filter(pk=order.product_id).update(price=13_000)
    names = words_at(signed_in(seller).get(order.get_absolute_url()), 'id="who-confirms"')
    assert ("Melati" in names, "Anggrek" in names) == (True, False)

    names = who_gives_back(make_order("reversed", placed_by=shop, selling_price=20_000).payment)
    assert ("Melati" in names, "Anggrek" in names) == (True, False)


def test_a_bound_leader_ends_an_order_of_the_own_branch_alone(shop):
    own, other = User.objects.get(username="Melati"), User.objects.get(username="Anggrek")
    order = make_order("needs_action", placed_by=shop, action_reason="balance_short")

    with pytest.raises(ActionRefused):
        cancel_order(order, actor=other)
    assert cancel_order(order, actor=own).status == "cancelled"


def test_a_request_names_those_of_its_branch_who_did_not_ask(shop):
    User.objects.filter(pk=shop.pk).update(own_approval_above=10_000)
    approval = ask_purchase(User.objects.get(pk=shop.pk), "081234567890")

    browser = signed_in(shop)
    for address in ("/work/?whose=others", approval.get_absolute_url()):
        page = browser.get(address).content.decode()

        assert ("Melati" in page, "Anggrek" in page) == (True, False), address


def test_a_request_of_a_leader_names_another_one_of_its_branch(shop):
    melati = User.objects.get(username="Melati")
    User.objects.filter(pk=melati.pk).update(own_approval_above=10_000)
    bound_person("supervisor", "Wulan")
    approval = ask_purchase(User.objects.get(pk=melati.pk), "081234567890")

    for reader in (make_person("auditor"), melati):
        doers = signed_in(reader).get(approval.get_absolute_url()).context["doers"]
        assert doers == ["Wulan"]


def test_the_list_of_work_names_others_of_the_branch_of_a_row(shop):
    # given: an order in doubt, and a request of one of two leaders of the branch
    make_order("unknown", placed_by=shop, sent_at="2026-01-01T00:00Z")
    melati = User.objects.get(username="Melati")
    User.objects.filter(pk=melati.pk).update(own_approval_above=10_000)
    ask_purchase(User.objects.get(pk=melati.pk), "081234567890")
    bound_person("supervisor", "Wulan")

    # then: a reader of all branches sees the people of this branch, and nobody sees their own name
    assert named_in_work(make_person("auditor"), "order") == ["Melati, Sari, Wulan"]
    assert named_in_work(melati, "approval") == ["Wulan"]


@pytest.mark.parametrize("why", ["asked", "limit", "held"])
def test_for_a_request_only_people_are_named_who_may_approve_it(shop, why):
    # given: Melati asked for it, may not spend so much, or could sign in as the person who asked
    wulan, melati = bound_person("supervisor", "Wulan"), User.objects.get(username="Melati")
    asker = melati if why == "asked" else shop
    User.objects.filter(pk=asker.pk).update(own_approval_above=10_000)
    if why == "limit":
        User.objects.filter(pk=melati.pk).update(own_per_order=10_000)
    elif why == "held":
        hold_account(shop, by=melati)
    approval = ask_purchase(User.objects.get(pk=asker.pk), "081234567890")

    for reader in (asker, make_person("auditor")):
        assert named_in_work(reader, "approval") == ["Wulan"]
        assert signed_in(reader).get(approval.get_absolute_url()).context["doers"] == ["Wulan"]

    # when: nobody else is left
    User.objects.filter(pk=wulan.pk).update(is_active=False)
    assert named_in_work(asker, "approval") == [""]


@pytest.mark.parametrize("names", [["Adi"], ["Adi", "Beni", "Citra", "Dewi", "Eka"]])
def test_an_owner_who_made_the_asker_is_named_only_without_others(names):
    # given: the first owner invited the cashier who asks
    owners = [make_person("admin", username=name, first_name=name) for name in names]
    sari = make_person("cashier", username="sari", own_approval_above=10_000)
    hold_account(sari, by=owners[0])
    ask_purchase(sari, "081234567890")

    assert named_in_work(sari, "approval") == [", ".join(names[1:4] or names)]


def test_the_only_owner_is_not_named_for_the_own_request():
    owner = make_person("admin", own_approval_above=10_000)
    ask_purchase(owner, "081234567890")

    assert named_in_work(owner, "approval") == [""]


def hold_account(person, *, by):
    """Let another person have made the link of this person's account."""
    now = timezone.now()
    AccessLink.objects.create(person=person, made_by=by, purpose="invite", used_at=now, made_at=now, expires_at=now)


def named_in_work(reader, kind):
    """The people who can do each row of this kind, as the reader's list of work names them."""
    table = signed_in(reader).get("/work/?whose=shop").context["table"]
    return [task.doers for task in table.rows if task.item.kind == kind]


def test_nobody_bound_to_a_branch_is_named_for_what_is_of_the_shop_or_another_branch(shop):
    bound_person("administrator", "Bima", Branch.objects.get(name="Tebet"))
    make_person("administrator", username="Citra", first_name="Citra")
    assert names_of_holders(Right.CHANGE_PRICES) == ["Citra"]

    User.objects.filter(username="Citra").update(is_active=False)
    with seen_in_branch_of(lambda: shop):
        names = names_of_holders(Right.PROPOSE_VERDICTS)
        others = [person.username for person in holders_of_any([Right.PROPOSE_VERDICTS])]
    assert (names, others) == (["Melati"], ["Melati"])


def test_nobody_is_named_who_has_an_open_invitation_only():
    people = [make_person("supervisor", username=name, first_name=name) for name in ("Ayu", "Budi", BREAK_GLASS)]
    people[0].set_unusable_password()
    people[0].save(update_fields=["password"])

    assert names_of_holders(Right.PROPOSE_VERDICTS) == ["Budi"]
    assert [person.username for person in holders_of_any([Right.PROPOSE_VERDICTS])] == ["Budi"]


def test_at_most_three_are_named_and_owners_last():
    make_person("admin", username="Adi", first_name="Adi")
    names = ["Beni", "Citra", "Dewi", "Eka"]
    for name in names:
        make_person("supervisor", username=name, first_name=name)

    assert names_of_holders(Right.PROPOSE_VERDICTS) == names[:3]
    assert [person.username for person in holders_of_any([Right.PROPOSE_VERDICTS])] == [*names, "Adi"]


def test_several_rights_are_held_together_or_one_of_them():
    for role, name in (("cashier", "Ayu"), ("supervisor", "Budi")):
        make_person(role, username=name, first_name=name)
    rights = (Right.BUY, Right.PROPOSE_VERDICTS)

    assert names_of_holders(*rights) == ["Budi"]
    assert [person.username for person in holders_of_any(rights)] == ["Ayu", "Budi"]
