"""The addresses of the books: the statement with its files."""

from django.urls import path

from ledger import views

urlpatterns = [
    path("statement/", views.statement, name="statement"),
    path("statement/csv/", views.statement_csv, name="statement_csv"),
    path("statement/xlsx/", views.statement_xlsx, name="statement_xlsx"),
]
