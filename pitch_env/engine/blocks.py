"""Whole arrays at a time: what the kernels that write views, observations and masks do with vector instructions.

A block is a contiguous array, or an array field of a record. All of it runs with ``NUMBA_DISABLE_JIT=1`` too.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.cgutils import raw_memcpy
from numba.core.errors import TypingError
from numba.extending import intrinsic

if numba.config.DISABLE_JIT:

    def bytes_of(target: Any) -> Any:
        """Returns where a block of bytes is, for :func:`spread`; the block must outlive it."""
        return target

    def spread(target: Any, start: int, bits: int) -> None:
        """Writes 64 bits as 64 bytes of zero or one; modifies the block at ``target`` from ``start`` on."""
        target[start : start + 64] = [int(bits) >> k & 1 for k in range(64)]

    def eight_of(source: Any, start: int) -> Any:
        """Returns eight numbers of a block of bytes from ``start`` on, the first in the lowest bits of the result."""
        return np.int64(int.from_bytes(source[start : start + 8].tobytes(), "little", signed=True))

    def copy(target: Any, source: Any) -> None:
        """Copies a block of the same type; modifies ``target``."""
        target[:] = source

    def turn(target: Any, source: Any, start: int, count: int, fill: int) -> None:
        """Writes the first ``count`` of 8 numbers, read round from number ``start`` on, then ``fill``.

        Modifies ``target``, of the same type. Around ``source``, 64 bytes of the same record must lie on both sides.
        """
        target[:] = [source[(start + k) % count] if k < count else fill for k in range(8)]

    def turn_counts(target: Any, sets: Any, more: Any, start: int, count: int) -> None:
        """Writes how many cards the first ``count`` of 8 pairs of sets have, as :func:`turn` reads them, then zeros."""
        sizes = [int(a).bit_count() + int(b).bit_count() for a, b in zip(sets, more, strict=True)]
        turn(target, sizes, start, count, 0)

    def turn_seats(target: Any, source: Any, viewer: int, players: int) -> None:
        """Writes 64 to 128 seats (+ 8, or -1 for none) as counted from a viewer's seat; modifies ``target``."""
        target[:] = [(int(x & 7) - viewer) % players | int(x & 8) if x >= 0 else x for x in source]

else:
    _BYTE = ir.IntType(8)
    _WORD = ir.IntType(64)

    def _pointer(context: Any, builder: Any, kind: Any, block: Any) -> Any:
        """Returns where a block starts, as a pointer to its numbers."""
        return context.make_array(kind)(context, builder, block).data

    def _load(builder: Any, pointer: Any, place: Any, number: Any, length: int) -> Any:
        """Returns a vector of numbers from a place on, counted in numbers."""
        at = builder.gep(builder.bitcast(pointer, number.as_pointer()), [place])
        vector = builder.load(builder.bitcast(at, ir.VectorType(number, length).as_pointer()))
        vector.align = 1
        return vector

    def _store(builder: Any, vector: Any, pointer: Any, place: Any) -> None:
        """Writes a vector of numbers from a place on."""
        at = builder.gep(builder.bitcast(pointer, vector.type.element.as_pointer()), [place])
        builder.store(vector, builder.bitcast(at, vector.type.as_pointer())).align = 1

    def _repeat(builder: Any, number: Any, length: int) -> Any:
        """Returns a vector that has a number in all lanes."""
        lanes = ir.VectorType(number.type, length)
        vector = builder.insert_element(ir.Constant(lanes, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        order = ir.Constant(ir.VectorType(ir.IntType(32), length), [0] * length)
        return builder.shuffle_vector(vector, ir.Constant(lanes, ir.Undefined), order)

    def _round(context: Any, builder: Any, dtype: Any, origin: Any, begin: Any, number: Any) -> tuple[Any, ...]:
        """Returns 8 numbers from one on, the same ``number`` earlier, and which of either are the first ``number``."""
        kind = context.get_value_type(dtype)
        ahead = _load(builder, origin, begin, kind, 8)
        around = _load(builder, origin, builder.sub(begin, number), kind, 8)
        lane = ir.Constant(ir.VectorType(_WORD, 8), list(range(8)))
        is_ahead = builder.icmp_signed("<", lane, _repeat(builder, builder.sub(number, begin), 8))
        return ahead, around, is_ahead, builder.icmp_signed("<", lane, _repeat(builder, number, 8))

    @intrinsic
    def bytes_of(typingctx: Any, target: Any) -> Any:
        """Returns where a block of bytes is, for :func:`spread`; the block must outlive it.

        A plain number, since Numba would count references wherever an array is passed on.
        """
        if not isinstance(target, types.Array) or target.layout != "C" or target.dtype.bitwidth != 8:
            raise TypingError(f"{target} is not a block of bytes")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ptrtoint(_pointer(context, builder, target, args[0]), _WORD)

        return types.int64(target), codegen

    @intrinsic
    def spread(typingctx: Any, target: Any, start: Any, bits: Any) -> Any:
        """Writes 64 bits as 64 bytes of zero or one; modifies the block at ``target`` from ``start`` on."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            flags = builder.bitcast(args[2], ir.VectorType(ir.IntType(1), 64))
            ones = builder.zext(flags, ir.VectorType(_BYTE, 64))
            _store(builder, ones, builder.inttoptr(args[0], _BYTE.as_pointer()), args[1])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), codegen

    @intrinsic
    def eight_of(typingctx: Any, source: Any, start: Any) -> Any:
        """Returns eight numbers of a block of bytes from ``start`` on, the first in the lowest bits of the result."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at = builder.gep(_pointer(context, builder, source, args[0]), [args[1]])
            word = builder.load(builder.bitcast(at, _WORD.as_pointer()))
            word.align = 1
            return word

        return types.int64(source, types.int64), codegen

    @intrinsic
    def copy(typingctx: Any, target: Any, source: Any) -> Any:
        """Copies a block of the same type; modifies ``target``."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            to, origin = (_pointer(context, builder, target, block) for block in args)
            raw_memcpy(builder, to, origin, context.get_constant(types.intp, target.nitems * target.size), 1)
            return context.get_dummy_value()

        return types.void(target, target), codegen

    @intrinsic
    def turn(typingctx: Any, target: Any, source: Any, start: Any, count: Any, fill: Any) -> Any:
        """Writes the first ``count`` of 8 numbers, read round from number ``start`` on, then ``fill``.

        Modifies ``target``, of the same type. Around ``source``, 64 bytes of the same record must lie on both sides.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            to, origin = (_pointer(context, builder, target, block) for block in args[:2])
            begin, number, behind = args[2:]
            ahead, around, is_ahead, is_inside = _round(context, builder, target.dtype, origin, begin, number)
            rest = _repeat(builder, context.cast(builder, behind, types.int64, target.dtype), 8)
            turned = builder.select(is_inside, builder.select(is_ahead, ahead, around), rest)
            _store(builder, turned, to, ir.Constant(_WORD, 0))
            return context.get_dummy_value()

        return types.void(target, target, types.int64, types.int64, types.int64), codegen

    @intrinsic
    def turn_counts(typingctx: Any, target: Any, sets: Any, more: Any, start: Any, count: Any) -> Any:
        """Writes how many cards the first ``count`` of 8 pairs of sets have, as :func:`turn` reads them, then zeros."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            begin, number = args[3:]
            words = ir.VectorType(_WORD, 8)
            popcount = builder.module.declare_intrinsic("llvm.ctpop.v8i64", (), ir.FunctionType(words, (words,)))
            sizes = []
            for block, kind in ((args[1], sets), (args[2], more)):
                origin = _pointer(context, builder, kind, block)
                ahead, around, is_ahead, is_inside = _round(context, builder, kind.dtype, origin, begin, number)
                sizes.append(builder.call(popcount, [builder.select(is_ahead, ahead, around)]))
            both = builder.add(*sizes)
            none = ir.Constant(both.type, [0] * 8)
            lanes = ir.VectorType(context.get_value_type(target.dtype), 8)
            counts = builder.trunc(builder.select(is_inside, both, none), lanes)
            _store(builder, counts, _pointer(context, builder, target, args[0]), ir.Constant(_WORD, 0))
            return context.get_dummy_value()

        return types.void(target, sets, more, types.int64, types.int64), codegen

    @intrinsic
    def turn_seats(typingctx: Any, target: Any, source: Any, viewer: Any, players: Any) -> Any:
        """Writes 64 to 128 seats (+ 8, or -1 for none) as counted from a viewer's seat; modifies ``target``."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            to, origin = (_pointer(context, builder, target, block) for block in args[:2])
            first, size = (_repeat(builder, builder.trunc(arg, _BYTE), 64) for arg in args[2:])
            lanes = ir.VectorType(_BYTE, 64)
            zero, seat, blind = (ir.Constant(lanes, [number] * 64) for number in (0, 7, 8))
            places = [ir.Constant(_WORD, place) for place in (0, target.nitems - 64)]
            for place, seats in [(place, _load(builder, origin, place, _BYTE, 64)) for place in places]:
                left = builder.sub(builder.and_(seats, seat), first)
                round_ = builder.select(builder.icmp_signed("<", left, zero), builder.add(left, size), left)
                seen = builder.or_(round_, builder.and_(seats, blind))
                is_none = builder.icmp_signed("<", seats, zero)
                _store(builder, builder.select(is_none, seats, seen), to, place)
            return context.get_dummy_value()

        return types.void(target, target, types.int64, types.int64), codegen
