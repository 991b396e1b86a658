"""The addresses of the list of work."""

from django.urls import path

from work import views

urlpatterns = [
    path("", views.work_list, name="work"),
    path("live/", views.work_live, name="work_live"),
    path("first/", views.work_first, name="work_first"),
    path("<slug:kind>/<int:key>/take/", views.work_take, name="work_take"),
]
