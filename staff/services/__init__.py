"""What is done with people's accounts."""

from staff.services.guards import may_manage
from staff.services.links import VALID_HOURS, accept_link, invite, link_path, make_link, read_link, withdraw_link
from staff.services.people import change_role, deactivate, end_sessions, open_sessions, reactivate
