"""Checks a value against a JSON schema: the keywords that doc/json.schema.json uses, and no more."""

import json
import re
from pathlib import Path

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "doc" / "json.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
NOTES = {"$schema", "$defs", "title", "description"}


def is_of(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check_type(value, names, _):
    names = [names] if isinstance(names, str) else names
    if not any(is_of(value, name) for name in names):
        yield f"is no {' or '.join(names)}"


def check_const(value, constant, _):
    if value != constant or isinstance(value, bool) != isinstance(constant, bool):
        yield f"is not {constant!r}"


def check_enum(value, allowed, _):
    if value not in allowed:
        yield f"is none of {allowed}"


def check_pattern(value, pattern, _):
    if isinstance(value, str) and not re.search(pattern, value):
        yield f"does not match {pattern}"


def check_least_length(value, least, _):
    if isinstance(value, str) and len(value) < least:
        yield f"is shorter than {least}"


def check_minimum(value, least, _):
    if is_of(value, "integer") and value < least:
        yield f"is below {least}"


def check_maximum(value, most, _):
    if is_of(value, "integer") and value > most:
        yield f"is above {most}"


def check_required(value, keys, _):
    if isinstance(value, dict):
        yield from (f"lacks {key}" for key in keys if key not in value)


def check_properties(value, properties, schema):
    if not isinstance(value, dict):
        return
    for key, its in properties.items():
        if key in value:
            yield from (f".{key}: {what}" for what in wrong(value[key], its))
    if schema.get("additionalProperties") is False:
        yield from (f"has an unknown {key}" for key in value if key not in properties)


def check_items(value, its, _):
    for index, item in enumerate(value if isinstance(value, list) else []):
        yield from (f"[{index}]: {what}" for what in wrong(item, its))


def check_any(value, schemas, _):
    complaints = [list(wrong(value, its)) for its in schemas]
    if all(complaints):
        yield f"is nothing known; nearest: {min(complaints, key=len)}"


def check_reference(value, reference, _):
    yield from wrong(value, SCHEMA["$defs"][reference.removeprefix("#/$defs/")])


CHECKS = {"type": check_type, "const": check_const, "enum": check_enum, "pattern": check_pattern,
          "minLength": check_least_length, "minimum": check_minimum, "maximum": check_maximum,
          "required": check_required, "properties": check_properties, "items": check_items,
          "anyOf": check_any, "$ref": check_reference, "additionalProperties": lambda *_: ()}


def wrong(value, schema):
    """The faults of the value, in sentences."""
    for keyword, argument in schema.items():
        if keyword not in NOTES:
            yield from CHECKS[keyword](value, argument, schema)


def check(value, kind=None):
    """Returns the value; AssertionError if it is not of that kind ("event", "held"), or of any."""
    complaints = list(wrong(value, SCHEMA["$defs"][kind] if kind else SCHEMA))
    if complaints:
        raise AssertionError(f"not as doc/json.schema.json has it: {complaints}: {value}")
    return value
