"""Training configs as they are read from files, and text files as they are written."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from pitch_env.rules import Rules, RulesError, variant

Positive = Annotated[int, Field(ge=1)]
Fraction = Annotated[float, Field(ge=0, le=1)]
NonNegative = Annotated[float, Field(ge=0)]
C = TypeVar("C", bound=BaseModel)


class ConfigError(ValueError):
    """A training config that is malformed; the message names the file, the key and what was expected."""


def read_config(model: type[C], path: Path | str, seed: int | None = None) -> C:
    """Reads a config.

    Args:
        model: what its keys are.
        path: a TOML file.
        seed: over the file's.

    Raises:
        ConfigError: if there is no such file, it is not TOML, or a key or value is refused.
    """
    try:
        fields = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        return model(**fields if seed is None else {**fields, "seed": seed})
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc']))}={e['input']!r:.80}: {e['msg']}" for e in error.errors()]
        raise ConfigError(f"{path}: {'; '.join(lines)}") from None


def rules_of(given: str | dict[str, Any], path: Path | str) -> Rules:
    """Returns the rules that a config names: a variant, or a table with ``base`` and fields of ``Rules`` over it.

    Raises:
        ConfigError: if they are refused.
    """
    fields = {"base": given} if isinstance(given, str) else dict(given)
    try:
        return variant(fields.pop("base", "auction_pitch"), **fields)
    except (RulesError, TypeError) as error:
        raise ConfigError(f"{path}: {error}") from None


def write_text(path: Path, text: str) -> None:
    """Writes a text file to a temporary name and renames it."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file to a temporary name and renames it."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(data)
    temporary.replace(path)
