"""A branch can close when no person and no thing belongs to it; a closed branch gets no new ones."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from approvals.models import Approval
from approvals.services import refuse
from audit.models import AuditEvent
from batches.models import Batch
from batches.services import again, cancel, place_rows, release, seal_of
from branches.errors import BranchRefused
from branches.models import FIRST, Branch
from branches.services import close_branch, first_open, forget
from core import clock
from core.rights import Role
from credit.methods import CASH
from drawers.models import Drawer
from drawers.services import PaymentFacts, add_drawer, change_drawer, take_in_payment
from purchases.models import Order
from staff.models import User
from staff.services import deactivate, invite, make_link, move, reactivate, withdraw_link
from testing.factories import make_product
from testing.orders import Meanwhile, place
from testing.people import make_person
from tests.approvals.helpers import ask_order
from tests.batches.helpers import checked
from tests.branches.helpers import make_branch
from tests.core.helpers import codes
from tests.ledger.helpers import open_books
from tests.staff.oidc_provider import signed_in
from tests.tills.helpers import make_till
from tills.errors import CodeRefused
from tills.services.enrolling import change_till, enrol, make_code

pytestmark = pytest.mark.django_db


@pytest.fixture
def tebet() -> Branch:
    return make_branch()


@pytest.fixture
def owner() -> User:
    return make_person("admin", username="boss")


def test_a_branch_is_closed_once_nothing_belongs_to_it_or_waits_in_it(admin, owner, tebet):
    def close() -> set[str]:
        return codes(admin.post(f"/shop/branches/{tebet.pk}/close/", follow=True))

    drawer = Drawer.objects.create(name="Depan", branch=tebet)
    assert close() == {"BranchRefused:in_use"}
    drawer.is_active = False
    drawer.save()

    seller = make_person("cashier", own_approval_above=10_000, branch=tebet)
    approval = ask_order(make_product(price=12_000), seller)
    move(seller, branch=FIRST, actor=owner)
    assert close() == {"BranchRefused:waits"}, "for the request"
    refuse(approval, actor=make_person("supervisor", username="second"), reason="Not today")
    batch = checked("081290000001;10\n", make_person("supervisor", branch=tebet))
    move(batch.created_by, branch=FIRST, actor=owner)
    assert close() == {"BranchRefused:waits"}, "for the open batch"
    cancel(batch, actor=batch.created_by)

    assert close() == {"branch_closed"}
    forget()
    tebet.refresh_from_db()
    assert tebet.closed_at is not None
    assert AuditEvent.objects.filter(kind="branch_closed", subject=str(tebet.pk)).count() == 1
    assert f'value="{tebet.pk}"' not in admin.get("/drawers/").content.decode()


def test_a_batch_of_a_closed_branch_is_tried_again_elsewhere(tebet, owner):
    open_books(1_000_000)
    make_product(price=12_000)
    person = make_person("supervisor", branch=tebet)
    batch = checked("081290000001;10\n", person)
    release(batch, actor=person, seal=seal_of(batch), payment=PaymentFacts())
    cancel(batch, actor=person, is_released=True)
    batch.refresh_from_db()
    move(person, branch=FIRST, actor=owner)
    close_branch(tebet, actor=owner)

    person = User.objects.get(pk=person.pk)
    other, _is_new = again(batch, actor=person)
    release(other, actor=person, seal=seal_of(other), payment=PaymentFacts())
    place_rows(other.pk)

    assert other.branch_id == FIRST
    assert Order.objects.get().payment.branch_id == FIRST


def test_nobody_and_nothing_comes_to_a_closed_branch(tebet, owner):
    left, other = make_person("cashier", branch=tebet), make_person("cashier", username="budi")
    till, drawer = make_till("Kasir 8"), Drawer.objects.create(name="Tebet", branch=tebet, is_active=False)
    code = make_code(name="Kasir 9", pin_limit=None, actor=owner, branch=tebet.pk)
    invited, _token = invite(username="sari", role=Role.CASHIER, actor=owner, branch=tebet.pk)
    withdraw_link(invited, actor=owner)
    deactivate(left, actor=owner)
    close_branch(tebet, actor=owner)

    for step in (
        lambda: reactivate(left, actor=owner),
        lambda: move(other, branch=tebet.pk, actor=owner),
        lambda: add_drawer("Belakang", actor=owner, branch=tebet.pk),
        lambda: change_drawer(drawer, name="Tebet", is_active=True, actor=owner),
        lambda: change_till(till, name="Kasir 8", pin_limit=None, actor=owner, branch=tebet.pk),
        lambda: make_link(invited, actor=owner),
    ):
        with pytest.raises(BranchRefused) as refusal:
            step()
        assert refusal.value.reason == "closed"
    with pytest.raises(CommandError, match="closed"):
        call_command("password_link", "sari")
    with pytest.raises(CodeRefused) as refused:
        enrol(code, address="127.0.0.1")
    assert refused.value.reason == "expired"
    assert not tebet.people.filter(is_active=True).exists()
    assert not tebet.drawers.filter(is_active=True).exists()
    assert not tebet.tills.filter(switched_off_at=None).exists()

    move(left, branch=FIRST, actor=owner)
    reactivate(left, actor=owner)
    left.refresh_from_db()
    assert (left.branch_id, left.is_active) == (FIRST, True), "moved first, a person is switched on"


def test_where_nobody_names_a_branch_the_oldest_open_one_counts(tebet, owner, tmp_path):
    """When the first branch is closed, commands and their sales go on in the next one."""
    make_product(price=12_000)
    open_books(1_000_000)
    User.objects.update(branch=tebet)
    close_branch(Branch.objects.get(pk=FIRST), actor=User.objects.get(pk=owner.pk))
    table = tmp_path / "table.csv"
    table.write_text("081290000001;10\n")

    with pytest.raises(SystemExit):
        call_command("batch", str(table), stdout=StringIO(), stderr=StringIO())
    call_command("add_staff", "sari", role="cashier", stdout=StringIO(), stderr=StringIO())
    order = place()

    assert Batch.objects.get().branch == tebet
    assert User.objects.get(username="sari").branch == tebet
    assert order.payment.branch == tebet


def test_given_a_branch_another_process_just_closed_then_none_comes_to_it(tebet, owner, provider):
    def close_elsewhere() -> None:
        Branch.objects.filter(pk=FIRST).update(closed_at=None)
        forget()
        assert first_open() == FIRST
        Branch.objects.filter(pk=FIRST).update(closed_at=clock.now())

    User.objects.update(branch=tebet)
    open_books(1_000_000)
    close_elsewhere()
    assert signed_in(provider).branch == tebet

    close_elsewhere()
    assert place(make_product(price=12_000)).payment.branch == tebet

    close_elsewhere()
    sold = dict.fromkeys(("shift", "customer", "cash_given"), None) | {"branch": 99, "method": CASH}
    sold |= {"amount": 12_000, "reference": ""}
    taken = take_in_payment("ORD1", destination="081290000001", seller=None, at=clock.now(), sold=sold)
    assert taken[0].branch == tebet, "a sale that is restored"


def test_given_a_page_from_before_the_closing_then_a_move_is_refused_in_words(admin, tebet):
    person, kemang = make_person("cashier"), make_branch("Kemang")
    close_branch(tebet, actor=make_person("admin", username="boss"))
    forget()

    answer = admin.confirm(f"/staff/{person.pk}/branch/", {"branch": tebet.pk}, follow=True)

    assert codes(answer) == {"BranchRefused:closed"}
    assert kemang.closed_at is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("asked", ["order", "batch"])
def test_a_branch_is_not_closed_while_something_is_asked_for_in_it(asked, tebet, owner):
    product = make_product(price=12_000)
    seller = make_person("supervisor", own_approval_above=10_000, branch=tebet)
    stale = User.objects.get(pk=seller.pk)  # the request of the seller has begun
    move(seller, branch=FIRST, actor=owner)

    with transaction.atomic():
        if asked == "order":
            ask_order(product, stale)
        else:
            checked("081290000001;10\n", stale)
        closing = Meanwhile(lambda: close_branch(tebet, actor=owner))
        assert closing.is_blocked_by_us()

    with pytest.raises(BranchRefused) as refusal:
        closing.end()
    assert refusal.value.reason == "waits"
    tebet.refresh_from_db()
    assert tebet.closed_at is None


@pytest.mark.django_db(transaction=True)
def test_nothing_is_asked_for_in_a_branch_that_was_closed_meanwhile(tebet, owner):
    product = make_product(price=12_000)
    seller = make_person("supervisor", own_approval_above=10_000, branch=tebet)
    stale = User.objects.get(pk=seller.pk)
    move(seller, branch=FIRST, actor=owner)

    with transaction.atomic():
        close_branch(tebet, actor=owner)
        asking = Meanwhile(lambda: ask_order(product, stale))
        assert asking.is_blocked_by_us()

    with pytest.raises(BranchRefused) as refusal:
        asking.end()
    assert refusal.value.reason == "closed"
    with pytest.raises(BranchRefused):
        checked("081290000001;10\n", stale)
    assert not Approval.objects.exists()
    assert not Batch.objects.exists()
