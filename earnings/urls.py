"""The addresses of the shop's earnings."""

from django.urls import path

from earnings import journal_views, views

urlpatterns = [
    path("", views.earnings, name="earnings"),
    path("today/", views.earnings_today, name="earnings_today"),
    path("beside/<int:pk>/", views.earnings_beside, name="earnings_beside"),
    path("csv/", views.earnings_csv, name="earnings_csv"),
    path("xlsx/", views.earnings_xlsx, name="earnings_xlsx"),
    path("journal/", journal_views.journal, name="journal"),
    path("journal/csv/", journal_views.journal_csv, name="journal_csv"),
    path("journal/beancount/", journal_views.journal_beancount, name="journal_beancount"),
    path("journal/accounts/", journal_views.journal_accounts, name="journal_accounts"),
]
