"""python verify_proof.py proof.json PUBLIC_KEY: does it hold? Needs `cryptography`. Never take the file's own key."""

import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

proof, key = json.load(open(sys.argv[1], encoding="utf-8")), base64.b64decode(sys.argv[2])
(text, signature), subject = proof["note"].rsplit("\n\n", 1), proof["subject"]
name, size, root = text.split("\n")[:3]


def up(leaf, place, count, path):
    """The root that the path of RFC 9162 2.1.3.1 leads to."""
    if count == 1:
        return leaf if place == 0 and not path else b""
    half, last = 1 << (count - 1).bit_length() - 1, bytes.fromhex(path[-1])
    if place < half:
        return hashlib.sha256(b"\1" + up(leaf, place, half, path[:-1]) + last).digest()
    return hashlib.sha256(b"\1" + last + up(leaf, place - half, count - half, path[:-1])).digest()


leaves = [json.loads(row["leaf"]) for row in proof["rows"]]
ids = {leaf["table"]: leaf["row"].get("pgh_obj_id") for leaf in leaves if leaf["row"].get("ref_id") == subject}
mine = [("ref_id", subject), ("subject", subject), ("order_id", subject)]
mine += [("order_id", ids.get("purchases_orderhistory")), ("bill_check_id", ids.get("bills_billcheckhistory"))]
for row, leaf in zip(proof["rows"], leaves, strict=True):
    hashed = hashlib.sha256(b"\0" + row["leaf"].encode()).digest()
    if up(hashed, row["place"], int(size), row["path"]) != base64.b64decode(root):
        sys.exit(f"WRONG: not in the tree: {row['leaf']}")
    if not any(leaf["row"].get(column, "") == value for column, value in mine):
        sys.exit(f"WRONG: not about {subject}: {row['leaf']}")
known = hashlib.sha256(f"{name}\n\1".encode() + key).digest()[:4]
if not leaves or base64.b64decode(signature.split()[-1], validate=True)[:4] != known:
    sys.exit("WRONG: no rows, or another key")
Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature.split()[-1])[4:], (text + "\n").encode())
print(f"{len(leaves)} rows of {subject} stand in the tree of {size} rows, signed by {name}")
