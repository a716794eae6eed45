"""Help pages of commands whose options are the fields of a config.

A config may arrange its options in panels, titled boxes of the page, by a class variable `PANELS`. `--help` then shows
only the everyday options of each panel, and `--help-all` shows all options.
"""

from __future__ import annotations

import copy
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.core import TyperCommand

# Title of a panel -> (names of its everyday options, names of its other options), each separated by spaces. Names are
# fields of the config or parameters of the command itself, such as resume.
Panels: TypeAlias = Mapping[str, tuple[str, str]]

# Function of the values on the command line, by name of the option. It returns a sentence about the origin of the
# defaults, and defaults by field that replace the declared ones.
Defaults: TypeAlias = Callable[[Mapping[str, str]], tuple[str, Mapping[str, Any]]]

# Keys of click's `Context.meta`: the values on the command line, and whether the page shows all options.
_WORDS_KEY, _ALL_KEY = "trickformer.words", "trickformer.all"


def declared_defaults(words: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
    """Keep the defaults that the fields declare.

    Args:
        words: As in `Defaults`; ignored.
    """
    return "", {}


_SENTENCE_END = re.compile(r"\.(?= [A-Z0-9])")
_MAX_ITEMS = 6  # of a list that is shown whole
_MAX_COUNT = 10_000_000  # larger integers, such as a seed that is a date, have no thousands separators


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


def help_text(field: FieldInfo, default: Any, reads_file: bool) -> str:
    """Return a field's help text with its default at the end of the first sentence, or a note that it is required.

    Args:
        field: The field.
        default: Default of the field. It is not shown if it is None or "", or if the text itself names it.
        reads_file: Whether the command also reads its options from a file (`--config`).
    """
    text = field.description or ""
    if field.is_required():
        return f"{text} Required, here or in --config." if reads_file else f"{text} Required."
    if default in (None, "", PydanticUndefined) or "(default:" in text:
        return text
    end = match.start() if (match := _SENTENCE_END.search(text)) else len(text.removesuffix("."))
    return f"{text[:end]} (default: {_format_default(default)}){text[end:]}"


def _format_default(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}" if value < _MAX_COUNT else str(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        items = [shlex.quote(str(item)) for item in value]
        if len(items) <= _MAX_ITEMS:
            return " ".join(items) or "none"  # as the user types them
        return " and ".join(f"{n} times {item}" if n > 1 else item for item, n in Counter(items).items())
    return str(value)


def _show_all(context: typer.Context, value: bool | None) -> None:
    if value:
        context.meta[_ALL_KEY] = True
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
        model: Config with the panels. Options that no panel lists are shown in a last panel, Other.
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
            ctx.meta[_WORDS_KEY] = {name: word for name, word in words.items() if isinstance(word, str)}
            return super().parse_args(ctx, args)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            note, values = defaults(ctx.meta[_WORDS_KEY])
            page = copy.copy(self)
            page.help = "\n\n".join(filter(None, [self.help, note]))
            reads_file = any(param.name == "config" for param in self.params)
            params: list[Any] = [
                arrange(param, values, reads_file, ctx.meta.get(_ALL_KEY, False)) for param in self.get_params(ctx)
            ]
            page.params = sorted(params, key=lambda param: order.get(param.name, len(order)))
            page.add_help_option = False  # `page.params` already holds it
            super(ConfigCommand, page).format_help(ctx, formatter)

    def arrange(param: Any, values: Mapping[str, Any], reads_file: bool, show_all: bool) -> Any:
        """Copy a parameter with its default in the help text and its panel."""
        param = copy.copy(param)
        field = model.model_fields.get(param.name)
        if field is not None:
            param.help = help_text(field, values.get(param.name, field.default), reads_file)
        if param.param_type_name == "option":
            param.hidden |= bool(panels) and not show_all and field is not None and param.name not in everyday
            param.rich_help_panel = panel_of.get(param.name, "Other" if panels else None)
            param.metavar = ""
            if param.secondary_opts:
                param.opts = [f"--[no-]{param.opts[0].removeprefix('--')}"]
                param.secondary_opts = []
        return param

    return ConfigCommand
