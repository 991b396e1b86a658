"""Signing in and out, a person's own settings, and the people of the shop. No sign-up, no reset by mail."""

from allauth.account import views as account
from django.urls import path
from django.views.i18n import set_language

from staff.views import links, own, people

urlpatterns = [
    path("accounts/login/", account.login, name="account_login"),
    path("accounts/logout/", account.logout, name="account_logout"),
    path("accounts/inactive/", account.account_inactive, name="account_inactive"),
    path("accounts/password/change/", account.password_change, name="account_change_password"),
    path("accounts/link/", links.access_link, name="access_link"),
    path("me/", own.preferences, name="preferences"),
    path("me/language/", set_language, name="set_language"),
    path("me/sign-out-elsewhere/", own.sign_out_elsewhere, name="sign_out_elsewhere"),
    path("staff/", people.staff_list, name="staff_list"),
    path("staff/invite/", people.staff_invite, name="staff_invite"),
    path("staff/<int:pk>/", people.staff_detail, name="staff_detail"),
    path("staff/<int:pk>/role/", people.staff_role, name="staff_role"),
    path("staff/<int:pk>/link/", people.staff_link, name="staff_link"),
    path("staff/<int:pk>/withdraw/", people.staff_withdraw, name="staff_withdraw"),
    path("staff/<int:pk>/deactivate/", people.staff_deactivate, name="staff_deactivate"),
    path("staff/<int:pk>/reactivate/", people.staff_reactivate, name="staff_reactivate"),
    path("staff/<int:pk>/sign-out/", people.staff_sign_out, name="staff_sign_out"),
]
