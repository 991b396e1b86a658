"""The bill of materials names each package that an installation runs, as its locks pin it."""

import json
import re

from cyclonedx.model.bom import Bom

from checks import sbom
from checks.locks import ROOT, RUNTIME, pins


def test_the_bill_names_each_locked_package_with_its_hashes():
    bill = sbom.bill()
    read = Bom.from_json(bill)  # type: ignore[attr-defined] # the library adds it

    components = {(component.name, component.version) for component in read.components}
    npm = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    shown = {
        (path.removeprefix("node_modules/"), package["version"])
        for path, package in npm.items()
        if path and not package.get("dev")
    }
    assert components == set(pins(ROOT / RUNTIME).items()) | shown
    assert all(component.hashes and component.purl for component in read.components)
    hashes = re.findall(r"--hash=sha256:", (ROOT / RUNTIME).read_text())
    assert sum(len(component["hashes"]) for component in bill["components"]) == len(hashes) + len(shown)
