"""Every address of the backoffice."""

from django.urls import include, path

from backoffice import health
from callbacks.api import UpstreamCallback

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("callbacks/upstream/", UpstreamCallback.as_view(), name="upstream_callback"),
    path("accounts/", include("allauth.account.urls")),
]
