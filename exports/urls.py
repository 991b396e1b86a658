"""The addresses of files."""

from django.urls import path

from exports import views

urlpatterns = [
    path("files/", views.export_list, name="export_list"),
    path("files/live/", views.export_live, name="export_live"),
    path("files/<int:pk>/", views.export_download, name="export_download"),
]
