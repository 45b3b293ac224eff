"""How tightly a piece of an expression binds, from loosest to tightest: docs/language.md, Expressions."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    CONDITIONAL = 0  # if a then b else c
    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    SIGN = 7
    POWER = 8
    POSTFIX = 9  # u[x+1], v.x
    PRIMARY = 10
