"""Every address of the backoffice."""

from django.urls import include, path

from backoffice import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("accounts/", include("allauth.account.urls")),
]
