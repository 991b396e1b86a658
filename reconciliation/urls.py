"""The addresses of the balance, the daily closing, comparisons and differences."""

from django.urls import include, path

from exports.list_views import addresses
from reconciliation.lists import DIFFERENCES
from reconciliation.views import balance, closing, differences

urlpatterns = [
    path("", balance.balance_home, name="balance"),
    path("live/", balance.balance_live, name="balance_live"),
    path("read/", balance.balance_read, name="balance_read"),
    path("reconcile/", balance.balance_reconcile, name="balance_reconcile"),
    path("topups/", balance.topup_announce, name="topup_announce"),
    path("topups/<int:pk>/cancel/", balance.topup_cancel, name="topup_cancel"),
    path("closing/", closing.closing_today, name="closing_today"),
    path("closing/<str:day>/", closing.closing, name="closing"),
    path("runs/", differences.run_list, name="run_list"),
    path("runs/<int:pk>/", differences.run_detail, name="run_detail"),
    path("differences/", differences.difference_list, name="difference_list"),
    path("differences/", include(addresses(DIFFERENCES))),
    path("differences/<int:pk>/", differences.difference_detail, name="difference_detail"),
    path("differences/<int:pk>/acknowledge/", differences.difference_acknowledge, name="difference_acknowledge"),
    path("differences/<int:pk>/adjust/", differences.adjustment_propose, name="adjustment_propose"),
]
