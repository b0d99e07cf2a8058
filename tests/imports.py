"""The imports between the modules of the package, and the floors that follow."""

import ast
import functools
import graphlib
from pathlib import Path

ROOT = Path(__file__).parents[1]


@functools.cache
def imports():
    """The modules of the package that each module imports, at its top or in a function."""
    modules = {}
    for path in (ROOT / "pnorm").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    used = {}
    for module, path in modules.items():
        used[module] = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in modules else node.module for name in names]
            else:
                continue
            used[module] |= {name for name in names if name.split(".")[0] == "pnorm"} - {module}
    return used


def room(module):
    """The folder, or the file of the package's own folder, that a module belongs to."""
    return "pnorm._command" if module == "pnorm.__main__" else ".".join(module.split(".")[:2])


def rooms():
    """The rooms that each room imports."""
    found = {}
    for module, others in imports().items():
        found.setdefault(room(module), set()).update({room(other) for other in others} - {room(module)})
    return found


def floors(of_rooms):
    """The floor of every room: one above the highest that it imports."""
    floor = {}
    for name in graphlib.TopologicalSorter(of_rooms).static_order():
        floor[name] = 1 + max((floor[other] for other in of_rooms.get(name, ())), default=0)
    return floor
