"""Notes and tags on orders: the people who may write them, the search for them; the order does not change."""

import pytest
from django.db import DatabaseError, transaction

from audit.models import AuditEvent
from purchases import services
from purchases.models import OrderNote, Tag
from purchases.services.notes import MOST_TAGS
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of, make_person
from tests.purchases.helpers import listed

pytestmark = pytest.mark.django_db


@pytest.fixture
def order():
    return make_order(Status.SUCCESS, destination="081234567802")


def post(browser, order, **fields):
    return browser.post(f"/orders/{order.ref_id}/notes/", fields)


def events():
    kinds = ("order_noted", "order_tagged", "order_tag_removed")
    return list(AuditEvent.objects.filter(kind__in=kinds).order_by("pk").values_list("kind", "subject", "facts"))


def test_a_note_says_who_and_when_and_stays(cashier, order):
    answer = post(cashier, order, text=" Customer came back \n")

    note = OrderNote.objects.get()
    assert answer["Location"] == f"/orders/{order.ref_id}/"
    assert (note.order, note.author.username, note.text) == (order, "cashier", "Customer came back")
    assert "Customer came back" in cashier.get(f"/orders/{order.ref_id}/").content.decode()
    assert events() == [("order_noted", order.ref_id, None)]
    for change in (note.delete, note.save):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()

    # the panel takes a note in its place
    part = cashier.post(f"/orders/{order.ref_id}/notes/", {"text": "Here"}, headers={"HX-Request": "true"})
    assert part.content.decode().lstrip().startswith('<div class="panel-body order-notes"')
    assert "Here" in part.content.decode()
    panel = cashier.get(f"/orders/{order.ref_id}/panel/", headers={"HX-Request": "true"})
    assert "Here" in panel.content.decode()


def test_a_tag_is_put_once_shown_in_the_list_and_taken_off(cashier, order):
    post(cashier, order, tag="  Sengketa  BANK ")
    post(cashier, order, tag="sengketa bank")

    assert order.tags.get().name == "sengketa bank"
    assert '<span class="tag">sengketa bank</span>' in cashier.get("/orders/").content.decode()

    post(cashier, order, remove="sengketa bank")

    assert not order.tags.exists()
    facts = {"tag": "sengketa bank"}
    assert events() == [("order_tagged", order.ref_id, facts), ("order_tag_removed", order.ref_id, facts)]


def test_a_note_without_words_and_an_odd_tag_are_refused_and_only_a_refused_tag_stays_typed(cashier, order):
    def answer(fields):
        return cashier.post(f"/orders/{order.ref_id}/notes/", fields, headers={"HX-Request": "true"})

    def typed(tag):
        return answer({"tag": tag}).content.decode().partition('id="note-tag"')[2].partition(">")[0]

    tags = [{"tag": tag} for tag in ("50", "a" * 21, "a<b", "wa 0812-3456-7802")]
    for fields in ({"text": "  "}, {}, *tags):
        assert answer(fields).context["refusal"], fields
    assert 'value="50 rb"' in typed("50 rb")
    assert not OrderNote.objects.exists()
    assert not Tag.objects.exists()
    assert "value=" not in typed("bank")


def test_with_all_tags_taken_people_choose_from_them(cashier, order):
    Tag.objects.bulk_create(Tag(name=f"tag {n}") for n in range(MOST_TAGS))

    post(cashier, order, tag="one more")
    post(cashier, order, tag="tag 7")

    assert [tag.name for tag in order.tags.all()] == ["tag 7"]


def test_orders_are_found_by_tag_by_note_and_by_the_words_of_a_note(cashier, order):
    other, actor = make_order(Status.FAILED), make_person()
    services.put_tag(order, "sengketa", actor=actor)
    services.write_note(other, actor=actor, text="Pembeli telepon lagi")

    assert listed(cashier.get("/orders/?tag=sengketa")) == [order.ref_id]
    assert listed(cashier.get("/orders/?has=note")) == [other.ref_id]
    assert listed(cashier.get("/orders/?q=telep")) == [other.ref_id]
    assert cashier.get("/orders/?q=sengketa hari ini")["Location"] == "/orders/?tag=sengketa&days=today"
    assert listed(browser_of("auditor").get("/orders/?q=telep")) == []  # a note may hold a masked number


def test_who_may_only_look_writes_nothing_and_reads_a_masked_number(cashier, order):
    post(cashier, order, text="call 081234567802")
    auditor = browser_of("auditor")

    page = auditor.get(f"/orders/{order.ref_id}/").content.decode()

    assert "call " in page
    assert "081234567802" not in page
    assert post(auditor, order, text="No").status_code == 403
    assert 'id="add-note"' not in page
