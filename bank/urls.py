"""The bank beside the books."""

from django.urls import path

from bank import views

urlpatterns = [
    path("", views.bank, name="bank"),
    path("csv/", views.bank_csv, name="bank_csv"),
    path("match/", views.bank_match, name="bank_match"),
    path("read/", views.bank_read, name="bank_read"),
    path("files/<int:pk>/back/", views.bank_file_back, name="bank_file_back"),
    path("rows/<int:pk>/", views.bank_row, name="bank_row"),
    path("rows/<int:pk>/decide/", views.bank_decide, name="bank_decide"),
]
