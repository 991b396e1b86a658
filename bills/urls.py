"""The addresses of the bills: pages that only show. Checking and paying a bill is at the counter."""

from django.urls import path

from bills.lists import BILLS
from bills.views import bills, receipts
from exports.list_views import addresses

urlpatterns = [
    path("", bills.bill_list, name="bill_list"),
    *addresses(BILLS),
    path("live/", bills.bill_list_live, name="bill_list_live"),
    path("batch/<uuid:batch>/receipt/", receipts.batch_receipt, name="bill_batch_receipt"),
    path("<str:ref_id>/", bills.bill_detail, name="bill_detail"),
    path("<str:ref_id>/live/", bills.bill_live, name="bill_live"),
    path("<str:ref_id>/number/", bills.bill_number, name="bill_number"),
]
