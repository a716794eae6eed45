"""Rewriting of command lines whose options take several values, and descriptions of bad values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

_NUMBERS = {"int_parsing": "a whole number", "int_from_float": "a whole number", "float_parsing": "a number"}
# Type of a pydantic error -> the end of our message. Braces are filled from the error's context.
_FAULTS = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have {max_length} characters at most",
    "too_short": "must have {min_length} values at least",
    "too_long": "must have {max_length} values at most",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "path_type": "must be a path",
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
} | {kind: f"must be {number}" for kind, number in _NUMBERS.items()}


def explain(label: str, error: Mapping[str, Any]) -> str:
    """Describe the fault of a value.

    Args:
        label: Name of the value, or name=value. It begins the message and may be empty.
        error: Entry of `pydantic.ValidationError.errors`.
    """
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        message = str(context["error"]).partition("\n")[0]
        return f"{label}: {message}" if label else message
    if kind == "string_pattern_mismatch" and re.fullmatch(r"\^\([\w|]+\)\$", context["pattern"]):
        return f"{label} must be {context['pattern'].strip('^$()').replace('|', ' or ')}".strip()
    return f"{label} {_FAULTS.get(kind, 'is not valid').format(**context)}".strip()


# Beginning of a message of typer or click about the value of an option -> our message. {} stands for the option.
_USAGE = (
    (r"(?:Value error, )?'(?P<value>.*?)' is not one of (?P<choices>.+)", "{} {value}: choose from {choices}"),
    (r"Input should be a valid integer|'.*' is not a valid integer", "{} must be a whole number"),
    (r"Input should be a valid number|'.*' is not a valid float", "{} must be a number"),
    (r"Input should be greater than or equal to (?P<least>\S+)", "{} must be {least} or more"),
    (r"Input should be less than or equal to (?P<most>\S+)", "{} must be {most} or less"),
)


def usage_fault(error: Any) -> str:
    """Describe a usage error in one line.

    Args:
        error: A UsageError of click, which typer may bundle.
    """
    message = " ".join(error.format_message().split()).rstrip(".")
    path = getattr(getattr(error, "ctx", None), "command_path", None) or "trickformer"
    if match := re.match(r"Invalid value for '(?P<option>[^']+?)(?: / .*?)?': (?P<fault>.*)", message):
        option, fault = match.groups()
        message = f"{option}: {fault.removeprefix('Value error, ')}"
        for pattern, text in _USAGE:
            if details := re.match(pattern, fault):
                parts = {name: part.replace("'", "") for name, part in details.groupdict().items()}
                message = text.format(option, **parts)
                break
    elif match := re.match(r"Option '(\S+)' requires an argument$", message):
        message = f"{match[1]} needs a value"
    elif match := re.match(r"No such option:? '?(\S+?)'?(?: \(Possible options: (.*)\))?$", message):
        option, similar = match.groups()
        message = f"there is no option {option}" + (f"; similar: {similar}" if similar else "")
    return f"{message}; see {path} --help"


def list_options(command: Any, arguments: Sequence[str]) -> set[str]:
    """Find the options that may be given more than once.

    Args:
        command: The program as a click command.
        arguments: Words of its command line, which name a command of it.
    """
    for word in arguments:
        if word.startswith("-"):
            continue
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    return {flag for option in command.params if getattr(option, "multiple", False) for flag in option.opts}


def spread(arguments: Sequence[str], lists: Collection[str], joined: Collection[str] = ()) -> list[str]:
    """Rewrite a command line so that an option takes every word up to the next option.

    Args:
        arguments: Words of a command line, such as `--players a b`.
        lists: Options that the parser needs before each value: `--players a --players b`.
        joined: Options whose values the parser needs as one word with commas: `--option a,b`.
    """
    words: list[str] = []
    option, has_value = None, False
    for word, following in zip(arguments, [*arguments[1:], "-"]):
        if (word in lists or word in joined) and not following.startswith("-"):
            option, has_value = word, False
            continue
        if word.startswith("-"):
            option = None
        if option in joined and has_value:
            words[-1] += "," + word
        else:
            words += [option, word] if option else [word]
        has_value = True
    return words
