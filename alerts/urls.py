"""The addresses of the alerts."""

from django.urls import path

from alerts import views

urlpatterns = [
    path("", views.alert_list, name="alert_list"),
    path("now/", views.alerts_now, name="alerts_now"),
]
