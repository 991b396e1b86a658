"""The ageing list, and customers' accounts. Payments are taken at `drawers.urls`."""

from django.urls import path

from credit import views

urlpatterns = [
    path("credit/", views.credit_list, name="credit_list"),
    path("credit/csv/", views.credit_csv, name="credit_csv"),
    path("customers/<int:pk>/credit/", views.credit_account, name="credit_account"),
    path("customers/<int:pk>/credit/terms/", views.credit_terms, name="credit_terms"),
    path("customers/<int:pk>/credit/brought/", views.credit_brought, name="credit_brought"),
]
