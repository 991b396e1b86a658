"""The addresses of the alerts."""

from django.urls import path

from alerts import views

urlpatterns = [
    path("", views.alert_list, name="alert_list"),
    path("mine/", views.alerts_mine, name="alerts_mine"),
    path("<int:pk>/snooze/", views.alert_snooze, name="alert_snooze"),
    path("ways/", views.alert_ways, name="alert_ways"),
    path("ways/<int:pk>/remove/", views.alert_way_remove, name="alert_way_remove"),
    path("test/", views.ways_test, name="ways_test"),
    path("results/", views.results_choose, name="results_choose"),
    path("results/test/", views.results_test, name="results_test"),
    path("now/", views.alerts_now, name="alerts_now"),
]
