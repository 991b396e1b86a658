"""The services of the room audit."""

from audit.services.guarding import close_way_past_triggers
from audit.services.proofs import NotSealed, proof_of
from audit.services.publishing import publish_checkpoints, published_lines
from audit.services.recording import record
from audit.services.sealing import AT_ONCE, Restored, is_restored, seal
from audit.services.verifying import verify
