"""The addresses of the catalogue."""

from django.urls import path

from catalogue import views

urlpatterns = [
    path("", views.catalogue, name="catalogue"),
    path("price-changes/", views.price_changes, name="price_changes"),
]
