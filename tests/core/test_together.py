"""Several questions in one statement give the rows that each would give by itself."""

import datetime as dt

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.db.models import BinaryField, DecimalField, Value
from django.db.models.functions import Cast, TruncDay

from core.together import Given, Together, read_together
from purchases.models import Order, OrderEvent
from purchases.states import Status
from testing.factories import make_order, make_product

pytestmark = pytest.mark.django_db


def test_given_questions_then_rows_come_as_from_each_itself(django_assert_num_queries):
    product = make_product(cut_off_start=dt.time(23, 30), cut_off_end=dt.time(0, 30))
    orders = [make_order(Status.SUCCESS, product=product, message=text) for text in ("", "“a”, 'b' %s", "c\nd")]
    for order in orders:
        OrderEvent.objects.create(order=order, to_status=Status.SUCCESS, source="poll", facts={"n": [1, None, "x"]})
    newest_first = Order.objects.for_table().select_related("payment").order_by("-pk")[:2]
    names, pairs = Group.objects.order_by("name").values_list("name"), Order.objects.values_list("price", "ref_id")

    with django_assert_num_queries(1):
        answers = read_together(newest_first, OrderEvent.objects.order_by("pk"), names, pairs.filter(pk__in=[]))
        assert [order.product.cut_off_end for order in answers[0]] == [dt.time(0, 30)] * 2
        assert [order.payment.ref_id for order in answers[0]] == [order.ref_id for order in orders[:0:-1]]

    asked = [newest_first, OrderEvent.objects.order_by("pk"), names, []]
    for rows, itself in zip(answers, asked, strict=True):
        assert list(map(facts, rows)) == list(map(facts, itself))


def test_given_a_statement_that_is_asked_often_then_its_plan_is_kept():
    orders = [make_order(Status.SUCCESS, message=text) for text in ("50 %(n)s", "50 %", "x")]
    like = Order.objects.filter(message__contains="0 %", pk__gte=Given("least")).order_by("pk").values_list("ref_id")
    often = Together(like)

    answers = [often.read(least=order.pk, more=1)[0] for order in orders]

    assert answers == [[(orders[0].ref_id,), (orders[1].ref_id,)], [(orders[1].ref_id,)], []]
    with connection.cursor() as cursor:
        cursor.execute("SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement ~ '0 ..%'")
        assert cursor.fetchall() == [(3,)]


def test_given_what_json_does_not_keep_then_it_is_refused():
    amount = Cast("price", DecimalField(max_digits=30, decimal_places=2))
    for value in (amount, TruncDay("created_at"), Value(b"", BinaryField())):
        with pytest.raises(TypeError):
            read_together(Order.objects.annotate(value=value))


def facts(row):
    return row if isinstance(row, tuple) else {field.name: field.value_from_object(row) for field in row._meta.fields}
