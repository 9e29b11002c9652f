"""The layout's rules, held by walking the imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import errorsink

CORE = Path(errorsink.__file__).parent
EXPORTERS = {
    name: Path(__import__(name).__file__).parent  # type: ignore[arg-type]
    for name in ("errorsink_otel", "errorsink_datadog")
}
CORE_FILES = sorted(CORE.rglob("*.py"))
EXPORTER_FILES = sorted(path for folder in EXPORTERS.values() for path in folder.rglob("*.py"))
LEAVES: dict[str, set[str]] = {
    "model.py": {"errorsink._limits", "errorsink._receipt"},
    "errors.py": set(),
    "sinks.py": {"errorsink.model"},
    "_settings.py": {"errorsink.errors", "errorsink._typing"},
    "_limits.py": set(),
    "_typing.py": set(),
    "_receipt.py": {"errorsink._typing"},
}
HOT_PATH = (
    "_gates.py", "_capture.py", "_chain.py", "_ring.py", "_context.py", "_normalize.py", "_values.py", "_containers.py",
    "_attributes.py", "_classify.py", "_trace.py",
)  # fmt: skip
COLD = {"errorsink._frames", "errorsink._redact", "errorsink._render", "errorsink._stack", "errorsink._delivery"}
LAZY = "lazy:"


def imported(path: Path) -> set[str]:
    """The modules that a file imports for its work, those for type checkers alone left aside."""
    found: set[str] = set()
    for node in ast.walk(_without_type_checking(ast.parse(path.read_text("utf-8")))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _without_type_checking(tree: ast.Module) -> ast.Module:
    def is_guard(node: ast.stmt) -> bool:
        return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)

    tree.body = [node for node in tree.body if not is_guard(node)]
    return tree


def modules(names: set[str]) -> set[str]:
    """Of these names, those of errorsink's own modules."""
    return {name for name in names if (CORE.parent / Path(*name.split("."))).with_suffix(".py").exists()}


@pytest.mark.parametrize("path", [path for path in CORE_FILES if "cli" not in path.parts], ids=str)
def test_the_core_imports_the_standard_library_alone(path: Path) -> None:
    tops = {name.partition(".")[0] for name in imported(path)}
    assert tops <= set(sys.stdlib_module_names) | {"errorsink"}


@pytest.mark.parametrize("path", EXPORTER_FILES, ids=str)
def test_exporters_know_the_contract_alone(path: Path) -> None:
    """No underscore module of the core, and no other exporter."""
    own = next(name for name, folder in EXPORTERS.items() if path.is_relative_to(folder))
    names = imported(path)
    core = {name for name in names if name == "errorsink" or name.startswith("errorsink.")}
    contract = ("errorsink.model", "errorsink.sinks", "errorsink.errors")
    assert {name for name in core if not name.startswith(contract)} == set()
    assert not {other for other in EXPORTERS if other != own} & {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(("name", "allowed"), LEAVES.items())
def test_leaves_import_no_sibling(name: str, allowed: set[str]) -> None:
    assert modules(imported(CORE / name)) <= allowed


@pytest.mark.parametrize("name", HOT_PATH)
def test_the_hot_path_imports_nothing_of_the_cold_one(name: str) -> None:
    assert not modules(imported(CORE / name)) & COLD


@pytest.mark.parametrize("path", [*CORE_FILES, *EXPORTER_FILES], ids=str)
def test_the_environment_is_read_in_one_place(path: Path) -> None:
    """`os.environ` and `os.getenv` appear in the settings module alone; a child process's environment is the CLI's."""
    if path.name == "_settings.py" or "cli" in path.parts:
        return
    reads = [
        node
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        and node.attr in ("environ", "environb", "getenv", "getenvb")
    ]
    assert reads == []


@pytest.mark.parametrize("path", CORE_FILES, ids=str)
def test_an_import_inside_a_function_says_why(path: Path) -> None:
    """Only named lazy imports: each carries a comment that says what it saves."""
    if "cli" in path.parts:
        return
    lines = path.read_text("utf-8").splitlines()
    bare = [
        f"{path.name}:{node.lineno}"
        for function in ast.walk(ast.parse("\n".join(lines)))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and LAZY not in lines[node.lineno - 1]
    ]
    assert bare == []


HEAVY = (
    *("typing", "re", "errorsink.model", "errorsink.sinks"),
    *("logging", "json", "asyncio", "importlib.metadata", "sqlite3", "traceback", "inspect", "dataclasses", "random"),
    *("hashlib", "uuid", "opentelemetry", "httpx", "datadog_api_client", "grpc", "requests"),
)


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("module", HEAVY)
def test_importing_errorsink_leaves_heavy_modules_out(module: str, loaded_by_import: set[str]) -> None:
    assert module not in loaded_by_import


@pytest.fixture(scope="module")
def loaded_by_import() -> set[str]:
    """The modules that `import errorsink` adds to a bare interpreter's."""
    before = "import sys; before = set(sys.modules); "
    return set(run(f"{before}import errorsink; print(*(set(sys.modules) - before))").split())


def test_importing_errorsink_starts_no_thread() -> None:
    assert run("import errorsink, threading; print(threading.active_count())").strip() == "1"


def test_the_public_names_are_pinned() -> None:
    """A name that comes or goes is a decision, not an accident."""
    assert errorsink.__all__ == [
        "Account",
        "Cause",
        "ConfigurationError",
        "ErrorRecord",
        "Frame",
        "HarnessError",
        "Item",
        "Outcome",
        "Receipt",
        "Sink",
        "SinkConfig",
        "SinkUnavailable",
        "Stats",
        "configure",
        "context",
        "flush",
        "install_hooks",
        "recent_errors",
        "report_error",
        "shutdown",
        "stats",
    ]
    assert all(hasattr(errorsink, name) for name in errorsink.__all__)
