"""Signing in and out, and a person's own settings. No sign-up, no reset by mail: an admin makes accounts."""

from allauth.account import views as account
from django.urls import path
from django.views.i18n import set_language

from staff import views

urlpatterns = [
    path("accounts/login/", account.login, name="account_login"),
    path("accounts/logout/", account.logout, name="account_logout"),
    path("accounts/inactive/", account.account_inactive, name="account_inactive"),
    path("accounts/password/change/", account.password_change, name="account_change_password"),
    path("me/", views.preferences, name="preferences"),
    path("me/language/", set_language, name="set_language"),
]
