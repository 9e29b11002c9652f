"""Programs that fail, by name: each is the text of `main.py`, or of several files.

They are texts and no modules, so that no formatter changes how their statements are laid out.
"""

from __future__ import annotations

GROUPS = """
import sys
if sys.version_info < (3, 11):
    from exceptiongroup import ExceptionGroup, BaseExceptionGroup
"""

PROGRAMS: dict[str, str | dict[str, str]] = {
    "plain": """
def inner(value):
    return 1 / value

def outer():
    inner(0)

outer()
""",
    "cause": """
def read():
    raise KeyError("root")

try:
    read()
except KeyError as error:
    raise ValueError("outer") from error
""",
    "context": """
try:
    {}["missing"]
except KeyError:
    [].pop()
""",
    "from-none": """
try:
    {}["missing"]
except KeyError:
    raise ValueError("public") from None
""",
    "long-chain": """
def step(n):
    try:
        if n == 0:
            raise ValueError(n)
        step(n - 1)
    except Exception as error:
        raise ValueError(n) from error

step(4)
""",
    "never-raised-cause": """
raise ValueError("outer") from TypeError("made, not raised")
""",
    "empty-message": """
class Silent(Exception):
    pass

raise Silent
""",
    "many-lines": '''
raise ValueError("""first
  second

third""")
''',
    "qualified-name": """
class Outer:
    class Inner(Exception):
        pass

def make():
    class Local(Outer.Inner):
        pass
    return Local("x")

raise make()
""",
    "key-error": """
{"a": 1}["b\\n"]
""",
    "os-error": """
open("/no/such/file")
""",
    "assertion": """
assert (
    1
    == 2
), "not equal"
""",
    "statement-of-several-lines": """
def call(*args, **kwargs):
    raise ValueError(
        "in call",
        args,
    )

value = call(
    1,
    2,

    three=[
        3,
        4,
    ],
)
""",
    "method-chain": """
text = (
    "a"
    .upper()
    .lower()
    .index("b")
)
""",
    "operators": """
x, y, z = 1, 2, 0
result = (x + y) * (x
                    / z)
""",
    "lambda-and-comprehension": """
print([(lambda n: 1 / n)(n) for n in (2, 1, 0)])
""",
    "class-body": """
class Broken:
    field = 1 / 0
""",
    "decorator": """
import functools

def wrapped(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner

@wrapped
def failing(n):
    return 1 // n

failing(0)
""",
    "generator": """
def numbers():
    yield 1
    raise ValueError("in the generator")

def consume():
    return list(numbers())

consume()
""",
    "thrown-into-a-generator": """
def numbers():
    yield 1

numbers().throw(ValueError("thrown"))
""",
    "context-manager": """
import contextlib

@contextlib.contextmanager
def managed():
    try:
        yield
    finally:
        print("cleaned")

with managed():
    raise ValueError("inside")
""",
    "asyncio": """
import asyncio

async def inner():
    await asyncio.sleep(0)
    raise ValueError("in a task")

async def main():
    await asyncio.gather(inner(), inner())

asyncio.run(main())
""",
    "library-frames": """
import json

json.loads('{"a": }')
""",
    "recursion": """
def down(n):
    down(n + 1)

down(0)
""",
    "recursion-of-several-lines": """
def down(n):
    if n == 0:
        raise ValueError("bottom")
    return down(
        n - 1
    )

down(50)
""",
    "mutual-recursion": """
def even(n):
    if n == 0:
        raise ValueError("bottom")
    odd(n - 1)

def odd(n):
    even(n - 1)

even(16)
""",
    "exec": """
exec("def generated():\\n    return 1 / 0\\n\\ngenerated()\\n", {})
""",
    "eval": """
eval("[n / 0 for n in (1,)]", {})
""",
    "compile-with-a-name": """
exec(compile("x = 1\\n\\nraise ValueError('x')", "generated-by-a-tool.py", "exec"))
""",
    "syntax-error": """
def broken(:
    pass
""",
    "syntax-error-unclosed": """
values = [1, 2
print(values)
""",
    "indentation-error": """
def f():
return 1
""",
    "tab-error": """
if True:
        x = 1
\ty = 2
""",
    "syntax-error-in-a-module": {
        "main.py": "import broken\n",
        "broken.py": "def f():\n    return 1 +\n",
    },
    "syntax-error-in-exec": """
exec("x = = 1")
""",
    "syntax-error-by-hand": """
raise SyntaxError("by hand", ("config.ini", 3, 5, "  key = = value\\n"))
""",
    "import-fails": {
        "main.py": "import one\n",
        "one.py": "import two\n",
        "two.py": "value = 1 / 0\n",
    },
    "module-is-missing": """
import xml.no_such_module_of_xml
""",
    "import-machinery": """
import importlib

importlib.import_module("no_such_package_at_all.sub")
""",
    "deleted-source": """
import os

def failing():
    raise ValueError("gone")

os.remove(__file__)
failing()
""",
    "unicode": """
# -*- coding: utf-8 -*-
größe = "äöü 😀"
raise ValueError(größe)
""",
    "latin-1": "# -*- coding: latin-1 -*-\nraise ValueError('é')\n",
    "form-feed-and-tabs": """
if True:
\tif True:
\t\traise ValueError("tabs\\tand \\x0c feeds")
""",
    "exit-code-text": """
class Odd(BaseException):
    pass

raise Odd("base")
""",
    "group": GROUPS
    + """
raise ExceptionGroup("group", [ValueError("one"), TypeError("two")])
""",
    "group-of-groups": GROUPS
    + """
def fail(error):
    raise error

def collect(*makers):
    errors = []
    for make in makers:
        try:
            make()
        except Exception as error:
            errors.append(error)
    raise ExceptionGroup("collected", errors)

collect(
    lambda: fail(ValueError("a")),
    lambda: collect(lambda: fail(KeyError("b")), lambda: fail(OSError(2, "c"))),
    lambda: fail(ValueError("d")),
)
""",
    "group-as-cause": GROUPS
    + """
try:
    raise ExceptionGroup("inner", [ValueError("a"), ValueError("b")])
except Exception as error:
    raise RuntimeError("outer") from error
""",
    "group-with-causes": GROUPS
    + """
a, b = ValueError("a"), ValueError("b")
a.__cause__ = KeyError("cause of a")
b.__context__ = ExceptionGroup("context of b", [TypeError("t")])
raise BaseExceptionGroup("group", [a, b, KeyboardInterrupt("k")])
""",
    "wide-group": GROUPS
    + """
raise ExceptionGroup("wide", [ValueError(n) for n in range(20)])
""",
    "deep-group": GROUPS
    + """
error = ValueError("innermost")
for level in range(12):
    error = ExceptionGroup(f"level {level}", [error])
raise error
""",
}

NOTES: dict[str, str] = {
    "notes": """
error = ValueError("x")
error.add_note("first")
error.add_note("second\\nof two lines")
error.add_note("")
raise error
""",
    "notes-in-a-group": """
inner = ValueError("inner")
inner.add_note("of the inner one")
error = ExceptionGroup("g", [inner, inner])
error.add_note("of the group")
raise error
""",
    "task-group": """
import asyncio

async def fail(error):
    raise error

async def main():
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(fail(ValueError("one")))
        tasks.create_task(fail(KeyError("two")))

asyncio.run(main())
""",
    "except-star": """
try:
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError:
        raise KeyError("while handling")
except* OSError:
    pass
""",
}
"""Programs for Python 3.11 and later."""
