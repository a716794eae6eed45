"""Help pages of commands whose options are the fields of a config.

A config may arrange its options in panels by a class variable `PANELS`: `--help` then shows the everyday options, and
`--help-all` shows the rest too.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.core import TyperCommand

# Title of a panel -> names of its everyday options, and of its other options, each with spaces between them. Options of
# the command itself, such as resume, count as well.
Panels: TypeAlias = Mapping[str, tuple[str, str]]

# Function of the words of a command line, by option. It returns a sentence that names the origin of the defaults, and
# defaults by field that replace the declared ones.
Defaults: TypeAlias = Callable[[Mapping[str, str]], tuple[str, Mapping[str, Any]]]

_WORDS, _ALL = "trickformer.words", "trickformer.all"  # keys of a context's meta


def declared_defaults(words: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
    """Keep the defaults that the fields declare.

    Args:
        words: As in `Defaults`; ignored.
    """
    return "", {}


_SENTENCE_END = re.compile(r"\.(?= [A-Z0-9])")
_LARGEST_COUNT = 10_000_000  # larger defaults are seeds, such as a date


def panels_of(model: type[BaseModel]) -> Panels:
    """Return the panels that a config declares; none by default.

    Args:
        model: The config.
    """
    return getattr(model, "PANELS", {})


def has_pages(model: type[BaseModel]) -> bool:
    """Return whether some options are shown by `--help-all` only.

    Args:
        model: The config.
    """
    return any(rest for _, rest in panels_of(model).values())


def with_default(field: FieldInfo, default: Any) -> str:
    """Return a field's help text with its default at the end of the first sentence.

    Args:
        field: The field.
        default: Its default. None, empty texts and empty lists are not shown, nor one that the text names itself.
    """
    text = field.description or ""
    if default in (None, "", [], PydanticUndefined) or "(default:" in text:
        return text
    end = match.start() if (match := _SENTENCE_END.search(text)) else len(text.removesuffix("."))
    return f"{text[:end]} (default: {_in_words(default)}){text[end:]}"


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}" if value < _LARGEST_COUNT else str(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(f"{n} x {item}" if n > 1 else str(item) for item, n in Counter[Any](value).items())
    return str(value)


def _show_all(context: typer.Context, value: bool | None) -> None:
    if value:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool | None,
    typer.Option(
        "--help-all",
        is_eager=True,
        show_default=False,
        callback=_show_all,
        help="Show all options and exit.",
    ),
]


def command_class(model: type[BaseModel], defaults: Defaults) -> type[TyperCommand]:
    """Make the class of a command whose help page fits 80 columns.

    Args:
        model: Config with the panels. Options that no panel lists are shown in a last one, Other.
        defaults: Function that returns the defaults of the page.
    """
    panels = panels_of(model)
    everyday = {name for names, _ in panels.values() for name in names.split()}
    panel_of = {name: title for title, names in panels.items() for name in " ".join(names).split()}
    order = {name: place for place, name in enumerate(panel_of)}

    class ConfigCommand(TyperCommand):
        panel_titles: Mapping[str, str] = panel_of  # by option; tools/reference_pages.py reads them

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            words = self.make_parser(ctx).parse_args(list(args))[0]
            ctx.meta[_WORDS] = {name: word for name, word in words.items() if isinstance(word, str)}
            return super().parse_args(ctx, args)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            note, values = defaults(ctx.meta[_WORDS])
            page = copy.copy(self)
            page.help = "\n\n".join(filter(None, [self.help, note]))
            params: list[Any] = [arrange(param, values, ctx.meta.get(_ALL, False)) for param in self.get_params(ctx)]
            page.params = sorted(params, key=lambda param: order.get(param.name, len(order)))
            page.add_help_option = False  # the parameters hold it
            super(ConfigCommand, page).format_help(ctx, formatter)

    def arrange(param: Any, values: Mapping[str, Any], whole: bool) -> Any:
        param = copy.copy(param)
        field = model.model_fields.get(param.name)
        if field is not None:
            param.help = with_default(field, values.get(param.name, field.default))
        if param.param_type_name == "option":
            param.hidden |= bool(panels) and not whole and field is not None and param.name not in everyday
            param.rich_help_panel = panel_of.get(param.name, "Other" if panels else None)
            param.metavar = ""
            if param.secondary_opts:
                param.opts = [f"--[no-]{param.opts[0].removeprefix('--')}"]
                param.secondary_opts = []
        return param

    return ConfigCommand
