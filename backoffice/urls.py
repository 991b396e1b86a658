"""Every address of the backoffice."""

from django.urls import include, path

from backoffice import dashboard
from callbacks.api import UpstreamCallback

urlpatterns = [
    path("callbacks/upstream/", UpstreamCallback.as_view(), name="upstream_callback"),
    path("", dashboard.overview, name="overview"),
    path("overview/live/", dashboard.overview_live, name="overview_live"),
    path("overview/balance/", dashboard.balance_refresh, name="balance_refresh"),
    path("overview/catalogue/", dashboard.catalogue_sync, name="catalogue_sync"),
    path("balance/", include("balance.urls")),
    path("bills/", include("bills.urls")),
    path("", include("purchases.urls")),
    path("callbacks/", include("callbacks.urls")),
    path("", include("staff.urls")),
]
