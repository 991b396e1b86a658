"""The addresses of the bills."""

from django.urls import path

from bills import views_batch, views_bills, views_check

urlpatterns = [
    path("", views_bills.bill_list, name="bill_list"),
    path("check/", views_check.biller_list, name="biller_list"),
    path("check/<str:code>/", views_check.bill_check, name="bill_check"),
    path("batch/customer/<int:pk>/", views_batch.batch_start, name="bill_batch_start"),
    path("batch/<uuid:batch>/", views_batch.batch_detail, name="bill_batch"),
    path("batch/<uuid:batch>/live/", views_batch.batch_live, name="bill_batch_live"),
    path("batch/<uuid:batch>/review/", views_batch.batch_review, name="bill_batch_review"),
    path("batch/<uuid:batch>/pay/", views_batch.batch_pay, name="bill_batch_pay"),
    path("<str:ref_id>/", views_bills.bill_detail, name="bill_detail"),
    path("<str:ref_id>/live/", views_bills.bill_live, name="bill_live"),
    path("<str:ref_id>/pay/", views_bills.bill_pay, name="bill_pay"),
    path("<str:ref_id>/ask/", views_bills.bill_ask, name="bill_ask"),
    path("<str:ref_id>/again/", views_bills.bill_again, name="bill_again"),
]
