#!/usr/bin/env python3
"""Writes `.env` for compose.yaml, with new passwords that only its owner may read: `python3 deploy/new_env.py`.

It never changes an existing `.env`. Values that only you know (host name, upstream) stay empty.
"""

import base64
import os
import secrets
import sys
from pathlib import Path

GENERATED = ("SECRET_KEY", "POSTGRES_PASSWORD", "OWNER_PASSWORD", "APP_PASSWORD", "VALKEY_PASSWORD")
ASKED = ("SITE_HOST", "UPSTREAM_BASE_URL", "UPSTREAM_SECRET_ID", "UPSTREAM_SECRET_KEY")


def main(path: Path) -> int:
    """0 when the file was written, 1 when there is one already."""
    made = {name: secrets.token_hex(32) for name in GENERATED}
    made["AUDIT_KEY"] = base64.b64encode(secrets.token_bytes(32)).decode()
    lines = [f"{name}={value}" for name, value in made.items()] + [f"{name}=" for name in ASKED]
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        print(f"{path} is there already and was not changed.", file=sys.stderr)
        return 1
    print(f"{path} has new passwords. Fill in {', '.join(ASKED)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".env")))
