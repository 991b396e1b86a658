"""The ageing list, and customers' accounts. Payments are taken at `drawers.urls`."""

from django.urls import path

from credit.views import accounts, ageing

urlpatterns = [
    path("credit/", ageing.credit_list, name="credit_list"),
    path("credit/csv/", ageing.credit_csv, name="credit_csv"),
    path("customers/<int:pk>/credit/", accounts.credit_account, name="credit_account"),
    path("customers/<int:pk>/credit/terms/", accounts.credit_terms, name="credit_terms"),
    path("customers/<int:pk>/credit/brought/", accounts.credit_brought, name="credit_brought"),
]
