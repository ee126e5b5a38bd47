"""The Python that templates are compiled to: joins of texts, without a call for each value.

A page has a thousand values. Jinja finds each by a call, escapes it by another one, and hands it
from generator to generator up to the page. Here an entity of the API, a dict, is read in place, a
text is escaped in C, and a template, a block or a macro is one join.
"""

from typing import Any

from django.utils.safestring import SafeString
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, optimizeconst
from jinja2.runtime import Context, Macro
from jinja2.utils import missing
from markupsafe import _escape_inner as escape_text  # type: ignore[attr-defined]

# The last line of each compiled template. `escape` replaces Jinja's.
USE_THESE = f"\nfrom {__name__} import SafeString, call, escape, escape_text\n"


def escape(value: Any) -> str:
    """What templates escape values with. HTML is left as it is.

    markupsafe makes a new object of a class of its own for each value, which takes much longer.
    """
    if type(value) is int:
        return str(value)
    return value.__html__() if hasattr(value, "__html__") else escape_text(str(value))


def call(context: Context, called: Any, *args: Any, **options: Any) -> Any:
    """What a template calls: a macro, which most often takes few arguments, or a method."""
    if type(called) is Macro:
        left = called.arguments[len(args) :]
        if options.keys() <= {*left} and not _takes_more(called):
            others = [options.get(name, missing) for name in left]
            return SafeString(called._func(*args, *others))  # nosec B703
    elif not hasattr(called, "jinja_pass_arg"):
        return called(*args, **options)
    return context.call(called, *args, **options)  # it has the words for what is wrong


def _takes_more(macro: Macro) -> bool:
    return macro.caller or macro.catch_kwargs or macro.catch_varargs


class PageContext(Context):
    """Jinja's, without a list of the names that all templates share, for each part of a page."""

    def __init__(self, *args: Any, globals: object = None) -> None:
        super().__init__(*args)


class JoinedCode(CodeGenerator):
    """Jinja's generator. A root and a block collect their texts as a macro does, and yield one.

    `v_` and `k_` are the value at hand and its type: names that no template can have.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._collecting: set[Frame] = set()

    def enter_frame(self, frame: Frame) -> None:
        super().enter_frame(frame)
        if frame.buffer is None:
            self.buffer(frame)
            self._collecting.add(frame)

    def leave_frame(self, frame: Frame, with_python_scope: bool = False) -> None:
        if frame in self._collecting:
            self.writeline(f"yield concat({frame.buffer})")
        super().leave_frame(frame, with_python_scope)

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:  # noqa: N802
        """A part without the context yields its texts by itself: those before it come first."""
        if not node.with_context:
            self.writeline(f"yield concat({frame.buffer})")
            self.writeline(f"{frame.buffer}.clear()")
        super().visit_Include(node, frame)

    @optimizeconst
    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802
        name = repr(node.attr)
        self.write(f"(v_[{name}] if type(v_ := ")
        self.visit(node.node, frame)
        self.write(f") is dict and {name} in v_ else environment.getattr(v_, {name}))")

    @optimizeconst
    def visit_Call(  # noqa: N802
        self, node: nodes.Call, frame: Frame, forward_caller: bool = False
    ) -> None:
        self.write("call(context, ")
        self.visit(node.node, frame)
        self.signature(node, frame, {"caller": "caller"} if forward_caller else None)
        self.write(")")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("(escape_text(v_) if (k_ := type(v_ := ")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")) is str else v_ if k_ is SafeString else escape(v_))")
