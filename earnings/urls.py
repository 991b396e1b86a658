"""What the shop earns."""

from django.urls import path

from earnings import views

urlpatterns = [
    path("", views.earnings, name="earnings"),
    path("today/", views.earnings_today, name="earnings_today"),
    path("beside/<int:pk>/", views.earnings_beside, name="earnings_beside"),
    path("csv/", views.earnings_csv, name="earnings_csv"),
    path("xlsx/", views.earnings_xlsx, name="earnings_xlsx"),
]
