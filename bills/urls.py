"""The addresses of the bills."""

from django.urls import path

from bills.views import batch, bills, inquiry, receipts

urlpatterns = [
    path("", bills.bill_list, name="bill_list"),
    path("live/", bills.bill_list_live, name="bill_list_live"),
    path("check/", inquiry.biller_list, name="biller_list"),
    path("check/<str:code>/", inquiry.bill_check, name="bill_check"),
    path("batch/customer/<int:pk>/", batch.batch_start, name="bill_batch_start"),
    path("batch/<uuid:batch>/", batch.batch_detail, name="bill_batch"),
    path("batch/<uuid:batch>/live/", batch.batch_live, name="bill_batch_live"),
    path("batch/<uuid:batch>/review/", batch.batch_review, name="bill_batch_review"),
    path("batch/<uuid:batch>/pay/", batch.batch_pay, name="bill_batch_pay"),
    path("batch/<uuid:batch>/receipt/", receipts.batch_receipt, name="bill_batch_receipt"),
    path("<str:ref_id>/", bills.bill_detail, name="bill_detail"),
    path("<str:ref_id>/live/", bills.bill_live, name="bill_live"),
    path("<str:ref_id>/number/", bills.bill_number, name="bill_number"),
    path("<str:ref_id>/pay/", bills.bill_pay, name="bill_pay"),
    path("<str:ref_id>/ask/", bills.bill_ask, name="bill_ask"),
    path("<str:ref_id>/again/", bills.bill_again, name="bill_again"),
]
