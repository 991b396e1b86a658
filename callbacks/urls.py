"""The addresses of the pages about callbacks."""

from django.urls import path

from callbacks import pages

urlpatterns = [
    path("", pages.receipt_list, name="receipt_list"),
    path("<int:pk>/", pages.receipt_detail, name="receipt_detail"),
    path("<int:pk>/process/", pages.receipt_process, name="receipt_process"),
]
