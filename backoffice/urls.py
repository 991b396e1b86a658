"""Every address of the backoffice, except those that middleware answers: health and the upstream's callbacks."""

from typing import NoReturn

from django.http import Http404, HttpRequest
from django.urls import include, path, re_path

from backoffice import dashboard, first_steps, shop_page, tips
from backoffice.backups_page import backups_page, open_shop
from backoffice.find_pages import KINDS
from backoffice.guide import guide
from backoffice.health_page import health_page
from backoffice.installed import manifest, offline
from catalogue.views.price_list import public_prices
from counter.views.first_tiles import till_tiles
from find.views import find


def nowhere(_request: HttpRequest) -> NoReturn:
    """No row has a key like this."""
    raise Http404


handler400 = "backoffice.faults.bad_request"
handler403 = "backoffice.faults.forbidden"
handler404 = "backoffice.faults.not_found"
handler500 = "backoffice.faults.fault"

urlpatterns = [
    # in any part of a path: PostgreSQL refuses a NUL as a value to compare with
    re_path("\x00", nowhere),
    path("", dashboard.overview, name="overview"),
    path("overview/live/", dashboard.overview_live, name="overview_live"),
    path("overview/balance/", dashboard.balance_refresh, name="balance_refresh"),
    path("overview/catalogue/", dashboard.catalogue_sync, name="catalogue_sync"),
    path("first-steps/", first_steps.first_steps, name="first_steps"),
    path("first-steps/live/", first_steps.first_steps_live, name="first_steps_live"),
    path("first-steps/close/", first_steps.first_steps_close, name="first_steps_close"),
    path("find/", find, {"kinds": KINDS}, name="find"),
    path("tips/away/", tips.put_away, name="tips_away"),
    path("health/", health_page, name="health"),
    path("backups/", backups_page, name="backups"),
    path("backups/open/", open_shop, name="open_shop"),
    path("manifest.webmanifest", manifest, name="manifest"),
    path("offline/", offline, name="offline"),
    path("guide/", guide, {"reader": "cashier"}, name="guide"),
    path("guide/owner/", guide, {"reader": "owner"}, name="owner_guide"),
    path("balance/", include("reconciliation.urls")),
    path("balance/", include("ledger.urls")),
    path("balance/alerts/", include("alerts.urls")),
    path("approvals/", include("approvals.urls")),
    path("work/", include("work.urls")),
    path("bills/", include("bills.urls")),
    path("due/", include("dues.urls")),
    path("earnings/", include("earnings.urls")),
    path("bank/", include("bank.urls")),
    path("counter/", include("counter.urls")),
    path("batches/", include("batches.urls")),
    path("products/", include("catalogue.urls")),
    path("prices/", public_prices, name="public_prices"),
    path("", include("customers.urls")),
    path("", include("workbench.urls")),
    path("", include("purchases.urls")),
    path("callbacks/", include("callbacks.urls")),
    path("", include("exports.urls")),
    path("", include("staff.urls")),
    path("", include("tills.urls")),
    path("tills/<int:pk>/tiles/", till_tiles, name="till_tiles"),
    path("", include("credit.urls")),
    path("", include("drawers.urls")),
    path("", include("complaints.urls")),
    path("", include("shop.urls")),
    path("shop/", shop_page.shop_settings, name="shop_settings"),
    path("shop/test-print/", shop_page.shop_test_print, name="shop_test_print"),
    path("shop/logo/<str:digest>/", shop_page.shop_logo, name="shop_logo"),
]
