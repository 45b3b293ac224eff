"""What a simulation has by name besides fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, MutableMapping

from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._simulation import Simulation

__all__ = ["Params", "Reductions"]


class Params(MutableMapping[str, float]):
    """The parameters of a simulation, by name. What is set holds from the next step on; nothing is recompiled."""

    __slots__ = ("_simulation",)

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation

    def __getitem__(self, name: str) -> float:
        return self._simulation._open()._known("parameter", name).get(name)

    def __setitem__(self, name: str, value: float) -> None:
        core = self._simulation._open()._known("parameter", name)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ArgumentError(f"parameter '{name}' is a number, and this is {type(value).__name__}") from None
        core.set(name, number)
        self._simulation._places.clear()

    def __delitem__(self, name: str) -> None:
        raise ArgumentError(f"parameter '{name}' is the program's, and cannot be taken away")

    def __iter__(self) -> Iterator[str]:
        return iter(self._simulation.program.params)

    def __len__(self) -> int:
        return len(self._simulation.program.params)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: {value}" for name, value in self._known()) + "}"

    def _known(self) -> list[tuple[str, float | None]]:
        """All of them; None where there is neither a value nor a default."""
        return [(name, self._value_or_none(name)) for name in self]

    def _value_or_none(self, name: str) -> float | None:
        try:
            return self[name]
        except ArgumentError:  # it has no default, and was not given
            return None


class Reductions:
    """The reductions of the last step, by name. Looking at one waits for the device."""

    __slots__ = ("_simulation",)

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation

    def __getitem__(self, name: str) -> float:
        return self._simulation._open()._known("reduction", name).reduce(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._simulation.program.reductions)

    def __len__(self) -> int:
        return len(self._simulation.program.reductions)

    def __contains__(self, name: object) -> bool:
        return name in self._simulation.program.reductions

    def keys(self) -> tuple[str, ...]:
        return self._simulation.program.reductions

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: {self[name]}" for name in self) + "}"
