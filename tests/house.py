"""The package as a graph of imports, and what else of its order can be counted.

``python tests/house.py`` prints the figures.
"""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import kernel_learn

ROOT = Path(kernel_learn.__file__).parent


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules():
    """Each module's name with its tree."""
    return {
        module_name(path): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }


def is_later(node):
    """Whether what is in it is not run, or not at import."""
    is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    return is_for_types or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def imports_of(node, *, lazily):
    """The modules of ours that are imported at import, or also later and for types."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                yield whole if whole in modules() else child.module
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif lazily or not is_later(child):
            yield from imports_of(child, lazily=lazily)


@cache
def import_graph(*, lazily):
    """The modules that each module imports; the front door, which names them all, is left out."""
    return {
        name: {one for one in imports_of(tree, lazily=lazily) if one in modules()} - {name}
        for name, tree in modules().items()
        if name != "kernel_learn"
    }


def find_cycle(*, lazily):
    """Modules that import each other; None if there are none."""
    try:
        TopologicalSorter(import_graph(lazily=lazily)).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def longest_path():
    """The longest chain of modules that import one another."""
    graph = import_graph(lazily=False)

    @cache
    def longest_from(name):
        tails = [longest_from(one) for one in sorted(graph[name]) if one in graph]
        return (name, *max(tails, key=len, default=()))

    return max(map(longest_from, sorted(graph)), key=len)


def names_in_several_modules():
    """Functions and classes of one name with the modules that define them."""
    homes = defaultdict(list)
    for module, tree in modules().items():
        for node in tree.body:
            is_named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if is_named and not node.name.startswith("__"):  # but for what the language calls
                homes[node.name].append(module)
    return {name: places for name, places in homes.items() if len(places) > 1}


def lines():
    return [line for path in ROOT.rglob("*.py") for line in path.read_text("utf-8").splitlines()]


def any_per_thousand():
    """Lines that say ``Any``, of a thousand."""
    return 1000 * sum(bool(re.search(r"\bAny\b", line)) for line in lines()) / len(lines())


def files_per_folder():
    return Counter(str(path.parent.relative_to(ROOT)) for path in ROOT.rglob("*.py"))


if __name__ == "__main__":
    path = longest_path()
    edges = sum(map(len, import_graph(lazily=False).values()))
    print(f"{len(modules())} modules, {edges} imports, {len(lines())} lines")
    print(f"cycles: {find_cycle(lazily=False)}, with lazy imports {find_cycle(lazily=True)}")
    print(f"longest path {len(path)}: {' -> '.join(path)}")
    print(f"names in several modules: {names_in_several_modules()}")
    print(f"lines with Any: {any_per_thousand():.1f} of a thousand")
    print(f"files in a folder: {files_per_folder().most_common(5)}")
