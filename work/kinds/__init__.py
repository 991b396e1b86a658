"""Every kind of work that waits for a person, one file each: to add one, add its file."""

from importlib import import_module
from pkgutil import iter_modules

from work.kinds.kind import WorkKind

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

KINDS: dict[str, WorkKind] = {kind.code: kind() for kind in WorkKind.__subclasses__()}
