"""The own drawer, the shop's drawers and shifts, and the closings of days."""

from django.urls import path

from drawers.views import credit, days, drawers, here, merging, refunds, shifts

urlpatterns = [
    path("drawer/", here.drawer_here, name="drawer"),
    path("drawer/open/", here.drawer_open, name="drawer_open"),
    path("drawer/paid/", here.drawer_paid, name="drawer_paid"),
    path("drawer/sales/<str:ref_id>/paid/", here.sale_paid, name="sale_paid"),
    path("drawer/sales/<str:ref_id>/given-back/", here.sale_given_back, name="sale_given_back"),
    path("customers/<int:pk>/credit/paid/", credit.credit_paid, name="credit_paid"),
    path("customers/<int:pk>/credit/paid-out/", credit.credit_paid_out, name="credit_paid_out"),
    path("customers/<int:pk>/merge/", merging.customer_merge, name="customer_merge"),
    path("credit/payments/<int:pk>/undo/", credit.credit_undo, name="credit_undo"),
    path("drawers/", drawers.drawer_list, name="drawer_list"),
    path("drawers/<int:pk>/", drawers.drawer_change, name="drawer_change"),
    path("staff/<int:pk>/drawer/", drawers.staff_drawer, name="staff_drawer"),
    path("refunds/", refunds.refund_list, name="refund_list"),
    path("shifts/", shifts.shift_list, name="shift_list"),
    path("shifts/<int:pk>/", shifts.shift_detail, name="shift_detail"),
    path("shifts/<int:pk>/close/", shifts.shift_close, name="shift_close"),
    path("shifts/<int:pk>/correct/", shifts.shift_correct, name="shift_correct"),
    path("shifts/<int:pk>/explain/", shifts.shift_explain, name="shift_explain"),
    path("shifts/<int:pk>/csv/", shifts.shift_csv, name="shift_csv"),
    path("shifts/days/", days.drawer_day_today, name="drawer_day_today"),
    path("shifts/days/<str:day>/", days.drawer_day, name="drawer_day"),
    path("shifts/days/<str:day>/csv/", days.drawer_day_csv, name="drawer_day_csv"),
    path("shifts/days/<str:day>/sign/", days.drawer_day_sign, name="drawer_day_sign"),
]
