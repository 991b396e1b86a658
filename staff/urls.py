"""Signing in and out, a person's own settings, and the people of the shop. No sign-up, no reset by mail."""

from allauth.account import views as account
from django.urls import path
from django.views.i18n import set_language

from staff.views import outside, own, people, roles, signing_in

urlpatterns = [
    path("accounts/login/", account.login, name="account_login"),
    path("accounts/logout/", account.logout, name="account_logout"),
    path("accounts/inactive/", account.account_inactive, name="account_inactive"),
    path("accounts/password/change/", signing_in.own_password, name="account_change_password"),
    path("accounts/second-step/", signing_in.second_step, name="second_step"),
    path("accounts/second-step/options/", signing_in.second_step_options, name="second_step_options"),
    path("accounts/passkey/", signing_in.passkey_sign_in, name="passkey_sign_in"),
    path("accounts/passkey/options/", signing_in.passkey_options, name="passkey_options"),
    path("accounts/oidc/", outside.oidc_sign_in, name="oidc_sign_in"),
    path("accounts/oidc/callback/", outside.oidc_callback, name="oidc_callback"),
    path("first/", signing_in.first_owner, name="first_owner"),
    path("accounts/link/", signing_in.access_link, name="access_link"),
    path("me/", own.preferences, name="preferences"),
    path("me/language/", set_language, name="set_language"),
    path("me/sign-out-elsewhere/", own.sign_out_elsewhere, name="sign_out_elsewhere"),
    path("me/factors/", own.own_factors_page, name="own_factors"),
    path("me/factors/app/", own.factor_app, name="factor_app"),
    path("me/factors/passkey/", own.factor_passkey, name="factor_passkey"),
    path("me/factors/passkey/options/", own.factor_passkey_options, name="factor_passkey_options"),
    path("me/factors/options/", own.factor_options, name="factor_options"),
    path("me/factors/codes/", own.factor_codes, name="factor_codes"),
    path("me/factors/<int:pk>/remove/", own.factor_remove, name="factor_remove"),
    path("staff/", people.staff_list, name="staff_list"),
    path("staff/invite/", people.staff_invite, name="staff_invite"),
    path("staff/roles/", roles.role_list, name="role_list"),
    path("staff/roles/<str:name>/", roles.role_detail, name="role_detail"),
    path("staff/<int:pk>/", people.staff_detail, name="staff_detail"),
    path("staff/<int:pk>/branch/", people.staff_move, name="staff_move"),
    path("staff/<int:pk>/bind/", people.staff_bind, name="staff_bind"),
    path("staff/<int:pk>/role/", people.staff_role, name="staff_role"),
    path("staff/<int:pk>/limits/", people.staff_limits, name="staff_limits"),
    path("staff/<int:pk>/link/", people.staff_link, name="staff_link"),
    path("staff/<int:pk>/withdraw/", people.staff_withdraw, name="staff_withdraw"),
    path("staff/<int:pk>/deactivate/", people.staff_deactivate, name="staff_deactivate"),
    path("staff/<int:pk>/reactivate/", people.staff_reactivate, name="staff_reactivate"),
    path("staff/<int:pk>/reset-factors/", people.staff_reset_factors, name="staff_reset_factors"),
    path("staff/<int:pk>/sign-out/", people.staff_sign_out, name="staff_sign_out"),
]
