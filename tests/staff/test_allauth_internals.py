"""The internals of allauth that we use have not changed: a release that changes them fails here first, not on the
pages."""

import inspect

from staff import allauth_internals as internals


def test_what_we_call_takes_what_we_give():
    for used, parameters in (
        (internals.WebAuthn.add, ["user", "name", "credential"]),
        (internals.RecoveryCodes.activate, ["user"]),
        (internals.RecoveryCodes.validate_code, ["self", "code"]),
        (internals.RecoveryCodes.get_unused_codes, ["self"]),
        (internals.TOTP.activate, ["user", "secret"]),
        (internals.login_stage_required, ["stage", "redirect_urlname"]),
        (internals.perform_login, ["request", "login"]),
        (internals.statekit.unstash_state, ["request", "provider_id", "state_id"]),
    ):
        assert set(parameters) - set(inspect.signature(used).parameters) <= {"self", "cls"}, used


def test_a_code_of_an_authenticator_app_is_that_of_its_standard():
    # RFC 4226, appendix D: the secret "12345678901234567890"
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

    codes = [internals.format_hotp_value(internals.hotp_value(secret, counter)) for counter in range(3)]

    assert codes == ["755224", "287082", "359152"]
    assert len(internals.generate_totp_secret()) >= 32
