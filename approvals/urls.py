"""The addresses of approvals."""

from django.urls import path

from approvals import views

urlpatterns = [
    path("", views.approval_list, name="approval_list"),
    path("live/", views.approval_list_live, name="approval_list_live"),
    path("<int:pk>/", views.approval_detail, name="approval_detail"),
    path("<int:pk>/live/", views.approval_live, name="approval_live"),
    path("<int:pk>/approve/", views.approval_approve, name="approval_approve"),
    path("<int:pk>/refuse/", views.approval_refuse, name="approval_refuse"),
    path("<int:pk>/withdraw/", views.approval_withdraw, name="approval_withdraw"),
]
