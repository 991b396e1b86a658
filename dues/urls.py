"""The addresses of bills due."""

from django.urls import path

from dues import views

urlpatterns = [
    path("", views.due_list, name="due_list"),
    path("<int:pk>/", views.due_follow, name="due_follow"),
    path("<int:pk>/decide/", views.due_decide, name="due_decide"),
]
