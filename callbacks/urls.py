"""The addresses of the pages about callbacks."""

from django.urls import path

from callbacks import views

urlpatterns = [
    path("", views.callback_list, name="callback_list"),
    path("<int:pk>/", views.callback_detail, name="callback_detail"),
    path("<int:pk>/process/", views.callback_process, name="callback_process"),
]
