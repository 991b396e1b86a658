"""The addresses of the counter."""

from django.urls import path

from counter.views import approving, batch, bills, counter, sending

urlpatterns = [
    path("", counter.counter, name="counter"),
    path("live/", counter.counter_live, name="counter_live"),
    path("review/", sending.counter_review, name="counter_review"),
    path("send/", sending.counter_send, name="counter_send"),
    path("orders/<str:ref_id>/whatsapp/", counter.counter_message, name="counter_message"),
    path("orders/<str:ref_id>/give-back/", sending.counter_give_back, name="counter_give_back"),
    path("approvals/<int:pk>/approve/", approving.counter_approve, name="counter_approve"),
    path("check/", bills.counter_check, name="counter_check"),
    path("bills/<str:ref_id>/", bills.counter_bill, name="counter_bill"),
    path("bills/<str:ref_id>/now/", bills.counter_bill_now, name="counter_bill_now"),
    path("bills/<str:ref_id>/pay/", bills.counter_pay, name="counter_pay"),
    path("bills/<str:ref_id>/ask/", bills.counter_ask, name="counter_ask"),
    path("bills/<str:ref_id>/again/", bills.counter_again, name="counter_again"),
    path("batch/customer/<int:pk>/", batch.batch_start, name="counter_batch_start"),
    path("batch/due/", batch.batch_of_due, name="counter_batch_of_due"),
    path("batch/<uuid:batch>/", batch.batch_detail, name="counter_batch"),
    path("batch/<uuid:batch>/live/", batch.batch_live, name="counter_batch_live"),
    path("batch/<uuid:batch>/review/", batch.batch_review, name="counter_batch_review"),
    path("batch/<uuid:batch>/pay/", batch.batch_pay, name="counter_batch_pay"),
]
