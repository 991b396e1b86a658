"""Released rows that the shop never sold: they are named, and are work until their money went back."""

import re

from audit.models import AuditEvent
from batches.services import cancel
from catalogue.models import Product
from core.money import rupiah
from drawers.models import DrawerEntry
from testing.people import signed_in
from tests.batches.helpers import released, rows_of, send_all, supervisor
from tests.conftest import Upstream

THREE = "081290000001;10;Sari\n081290000004;10;Budi\n081290000102;20;Ani\n"


def test_what_was_released_and_never_ordered_is_named_at_the_end(upstream: Upstream):
    browser = signed_in(supervisor())
    batch = released(THREE + "0812;10;Edo\n")
    Product.objects.filter(code="TSEL20").update(price=90_000, selling_price=91_000)
    assert 'id="never-ordered"' not in browser.get(f"/batches/{batch.pk}/").content.decode()

    send_all(batch)

    third = rows_of(batch)[2]
    assert (batch.state, third.state) == ("ended", "refused")
    for address in (f"/batches/{batch.pk}/", f"/batches/rows/?batch={batch.pk}"):
        page = browser.get(address).content.decode()
        assert re.search(rf'id="never-ordered" data-rows="1"\s+data-amount="{third.selling_price}"', page)
        assert "Refunds due" in page.split('id="never-ordered"')[1]


def test_money_of_rows_that_are_never_sold_is_work_until_a_person_notes_that_it_went_back(upstream: Upstream):
    boss = signed_in(supervisor())
    batch = released(THREE + "0812;10;Edo\n")
    pays = batch.rows.totals()["pays"]
    address, press = f"/batches/{batch.pk}/", f"/batches/{batch.pk}/step/"
    boss.post(press, {"step": "settle"})  # nothing is owed while it runs
    cancel(batch, actor=supervisor())
    assert rupiah(pays) in boss.get("/work/?kind=batch").content.decode()
    for page in (address, f"/batches/rows/?batch={batch.pk}"):
        assert 'id="settle-form"' in boss.get(page).content.decode()
    named = rf'id="never-ordered" data-rows="3"\s+data-amount="{pays}"'
    assert re.search(named, boss.get(address).content.decode())

    for _press in range(2):
        boss.post(press, {"step": "settle"})

    batch.refresh_from_db()
    assert (batch.owes_back, batch.settled_by) == (False, supervisor())
    assert 'id="settle-form"' not in boss.get(address).content.decode()
    assert address not in boss.get("/work/?kind=batch").content.decode()
    [event] = AuditEvent.objects.filter(kind="batch_settled")
    assert event.facts == {"rows": 3, "amount": pays}
    assert not DrawerEntry.objects.exists()


def test_a_batch_whose_rows_all_became_orders_owes_nothing(upstream: Upstream):
    batch = released("081290000001;10\n081290000004;10\n")

    send_all(batch)

    assert (batch.state, batch.owes_back) == ("ended", False)
