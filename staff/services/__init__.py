"""The services of people's accounts."""

from staff.services.factors import has_factor, needs_factor
from staff.services.first_owner import awaits_owner, is_first_key, make_first_owner
from staff.services.guards import (
    has_owner,
    holders_of_any,
    lock_for_change,
    may_manage,
    names_of_holders,
    names_of_owners,
    sees_more,
)
from staff.services.limit_changes import change_limits, lock_limit_change
from staff.services.limits import (
    Limits,
    limits_of,
    limits_of_roles,
    lock_person,
    names_of_helpers,
    own_limits_of,
    read_role_limits,
)
from staff.services.links import (
    VALID_HOURS,
    accept_link,
    add_person,
    invite,
    link_path,
    lock_for_link,
    lock_invitation,
    make_link,
    read_link,
    refuse_invitation,
    withdraw_link,
)
from staff.services.names import namesakes_of, proposed_user_name
from staff.services.people import (
    bind,
    change_role,
    deactivate,
    end_sessions,
    lock_binding,
    lock_move,
    lock_reactivation,
    lock_role_change,
    lock_switching_off,
    lock_switching_on,
    move,
    open_sessions,
    reactivate,
)
from staff.services.roles import change_role_rights, lock_role, lock_role_edit
