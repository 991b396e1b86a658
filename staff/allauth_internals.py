"""The parts of allauth that we use although allauth does not promise to keep them: only this file names them.

`tests/staff/test_allauth_internals.py` fails when a release changes one of them.
"""

from allauth.account.internal.decorators import login_stage_required
from allauth.account.internal.flows.login import perform_login
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from allauth.mfa.webauthn.internal.auth import WebAuthn
from allauth.socialaccount.internal import statekit

__all__ = [
    "TOTP",
    "RecoveryCodes",
    "WebAuthn",
    "format_hotp_value",
    "generate_totp_secret",
    "hotp_value",
    "login_stage_required",
    "perform_login",
    "statekit",
]
