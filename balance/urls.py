"""The addresses of the balance: what there is, the statement, the closing, comparisons, differences, alerts."""

from django.urls import path

from balance import views_alerts, views_balance, views_differences, views_runs, views_statement

urlpatterns = [
    path("", views_balance.balance_home, name="balance"),
    path("live/", views_balance.balance_live, name="balance_live"),
    path("read/", views_balance.balance_read, name="balance_read"),
    path("topups/", views_balance.topup_announce, name="topup_announce"),
    path("topups/<int:pk>/cancel/", views_balance.topup_cancel, name="topup_cancel"),
    path("statement/", views_statement.statement, name="statement"),
    path("statement/csv/", views_statement.statement_csv, name="statement_csv"),
    path("statement/xlsx/", views_statement.statement_xlsx, name="statement_xlsx"),
    path("closing/", views_statement.closing_today, name="closing_today"),
    path("closing/<str:day>/", views_statement.closing, name="closing"),
    path("runs/", views_runs.run_list, name="run_list"),
    path("runs/<int:pk>/", views_runs.run_detail, name="run_detail"),
    path("differences/", views_differences.difference_list, name="difference_list"),
    path("differences/<int:pk>/", views_differences.difference_detail, name="difference_detail"),
    path("differences/<int:pk>/acknowledge/", views_differences.difference_acknowledge, name="difference_acknowledge"),
    path("differences/<int:pk>/adjust/", views_differences.adjustment_propose, name="adjustment_propose"),
    path("adjustments/<int:pk>/approve/", views_differences.adjustment_approve, name="adjustment_approve"),
    path("adjustments/<int:pk>/decline/", views_differences.adjustment_decline, name="adjustment_decline"),
    path("alerts/", views_alerts.alert_list, name="alert_list"),
    path("alerts/now/", views_alerts.alerts_now, name="alerts_now"),
]
