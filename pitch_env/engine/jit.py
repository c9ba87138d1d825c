"""How kernels are compiled, and the bit and random primitives that they share.

All kernels run with ``NUMBA_DISABLE_JIT=1`` too, with the same results.
"""

import ast
import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

ONE = np.int64(1)
"""A one that stays an int64 when it is shifted, in every mode."""
_WORD = 0xFFFF_FFFF_FFFF_FFFF


OURS = ("pitch_env", "agents", "training", "tests")
"""Packages whose modules may hold kernels and the constants that are compiled into them."""


@cache
def sources_of(source: Path) -> frozenset[Path]:
    """Returns a file and all of ours that it imports at its top level, directly or not, once they are loaded."""
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        found.add(path)
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            modules = [sys.modules.get(name) for name in names if name.partition(".")[0] in OURS]
            files = [Path(module.__file__) for module in modules if module is not None and module.__file__]
            waiting += [file for file in files if file not in found]
    return frozenset(found)


def _cache_folder(source: Path) -> Path:
    """Returns the cache folder of the kernels of one source file.

    Numba's cache looks at the file of a kernel only, and would keep code that inlines an older version of an
    imported kernel. So the folder's name is a hash of the file and of all of ours that it imports.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(sources_of(source)):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    root = os.environ.get("NUMBA_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(root) / "pitch_env" / digest.hexdigest()[:16]


def kernel(function: F) -> F:
    """Compiles a function with Numba on its first call, cached on disk; for use as a decorator."""
    return _compiled(function)  # type: ignore[no-any-return]


def inlined_kernel(function: F) -> F:
    """The same for a function that is called in many places and must cost no call in any."""
    return _compiled(function, forceinline=True)  # type: ignore[no-any-return]


def parallel_kernel(function: F) -> F:
    """The same for a function whose outer loop is a ``numba.prange``."""
    return _compiled(function, parallel=True)  # type: ignore[no-any-return]


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    if numba.config.DISABLE_JIT:
        return function
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_cache_folder(Path(function.__code__.co_filename)))
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        numba.config.CACHE_DIR = before


if numba.config.DISABLE_JIT:

    def num_cards(cards: int) -> int:
        """Counts the cards in a set."""
        return int(cards).bit_count()

    def first_card(cards: int) -> int:
        """Returns the lowest card of a set that is not empty."""
        return (int(cards) & -int(cards)).bit_length() - 1

    def mix(key: int, count: int) -> int:
        """Returns 62 random bits, a function of a key and a count (two rounds of SplitMix64's finaliser)."""
        word = (int(key) + (int(count) + 1) * 0x9E3779B97F4A7C15) & _WORD
        for _ in range(2):
            word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & _WORD
            word = ((word ^ word >> 27) * 0x94D049BB133111EB) & _WORD
            word ^= word >> 31
        return np.int64(word >> 2)  # type: ignore[return-value]

    def nth_card(cards: int, n: int) -> int:
        """Returns the *n*-th lowest card of a set, from 0."""
        for _ in range(n):
            cards = cards & (cards - 1)
        return first_card(cards)

else:

    @intrinsic
    def num_cards(typingctx: Any, cards: Any) -> Any:
        """Counts the cards in a set."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(context.cast(builder, args[0], signature.args[0], types.int64))

        return types.int64(cards), codegen

    @intrinsic
    def first_card(typingctx: Any, cards: Any) -> Any:
        """Returns the lowest card of a set that is not empty."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = context.cast(builder, args[0], signature.args[0], types.int64)
            return builder.cttz(word, context.get_constant(types.boolean, True))

        return types.int64(cards), codegen

    @intrinsic
    def _deposit(typingctx: Any, bits: Any, cards: Any) -> Any:
        """Moves the lowest bits to the places of a set's cards: one instruction of x86 with BMI2."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = ir.IntType(64)
            kind = ir.FunctionType(word, (word, word))
            return builder.call(builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind), args)

        return types.int64(types.int64, types.int64), codegen

    if binding.get_host_cpu_features().get("bmi2"):

        @kernel
        def nth_card(cards, n):  # type: ignore[misc]
            """Returns the *n*-th lowest card of a set, from 0."""
            return first_card(_deposit(ONE << n, cards))

    else:

        @kernel
        def nth_card(cards, n):  # type: ignore[misc]
            """Returns the *n*-th lowest card of a set, from 0."""
            for _ in range(n):
                cards = cards & (cards - 1)
            return first_card(cards)

    @kernel
    def mix(key, count):  # type: ignore[misc]
        """Returns 62 random bits, a function of a key and a count (two rounds of SplitMix64's finaliser)."""
        word = np.uint64(key) + np.uint64(count + 1) * np.uint64(0x9E3779B97F4A7C15)
        for _ in range(2):
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = word ^ (word >> np.uint64(31))
        return np.int64(word >> np.uint64(2))


@kernel
def below(bits, bound):
    """Returns a number in 0 … bound − 1 from 31 random bits."""
    return ((bits & np.int64(0x7FFF_FFFF)) * np.int64(bound)) >> 31
