"""Our account at the upstream: the one door for every request, and the state of the account."""

from gateway.services.account import (
    WrongUpstream,
    bind_to_upstream,
    denied_balance,
    hold_restored,
    latest_reading,
    may_be_lost,
    note_unwritten,
    note_written,
    open_restored,
    sending_is_stopped,
    upstream_account,
)
from gateway.services.calling import (
    LimitUse,
    call,
    first_request_at,
    give_back,
    limit_use,
    next_number,
    read_balance,
    request_balance_reading,
    reserve,
)
from gateway.services.recording import forget_exchanges
