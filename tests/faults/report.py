"""What was tried, how often, and what failed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Part:
    """One kind of fault."""

    what: str
    where: str  # over what it was tried
    cases: int = 0
    failures: list[str] = field(default_factory=list)
    skipped: str = ""  # why nothing was tried

    def case(self) -> None:
        """Counts one."""
        self.cases += 1

    def check(self, good: bool, failure: str) -> None:
        """Notes a failure where something is not good."""
        if not good:
            self.failures.append(failure)


def table(parts: list[Part]) -> str:
    """The parts, in Markdown, and all failures."""
    lines = ["| fault | over | tried | failed |", "| --- | --- | ---: | ---: |"]
    for part in parts:
        tried = f"skipped: {part.skipped}" if part.skipped else f"{part.cases:,}"
        lines.append(f"| {part.what} | {part.where} | {tried} | {len(part.failures):,} |")
    return "\n".join([*lines, "", *(f"- {failure}" for part in parts for failure in part.failures)])
