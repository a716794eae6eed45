"""Records of our games: JSON lines of single games, and the records of a tournament.

    version   1
    rules     game with its options: "hearts(jd_bonus=True)"
    mission   number of the mission; null if the game has none
    names     [n] name of the player in each of the n seats
    history   [...] every action, chance included; it replays through OpenSpiel
    moves     [...] the history in words: "chance deal P5", "1 P5", "0 pass"
    scores    [n] score of each seat
    early_end how hanab.live ended a game of Hanabi before the rules do (see early_end.py); null if the rules end it
    tags      {"seed": "0", "deal": "3", "seating": "0 1 0"}

A game of Skat becomes a SkatRecord, which other programs can read (`skat.record`, `skat.iss`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from trickformer import _core, games
from trickformer.base import CHANCE, Game, TrickformerError, UnknownNameError, game_name, replay
from trickformer.games import skat
from trickformer.plumbing.folder import ABOUT, CONFIG
from trickformer.plumbing.text import Int64, from_toml, json_object, read_text
from trickformer.records import early_end
from trickformer.records.skat.check import result
from trickformer.records.skat.record import SkatRecord, contract
from trickformer.records.skat.replay import replay as replay_record
from trickformer.tournaments.store import HandRecord


class MissingGameError(TrickformerError):
    """The game of a record is not installed."""


def _load_game(rules: str) -> Game:
    """Load the game of a record. Raises MissingGameError if it is not installed."""
    try:
        return games.load(rules)
    except UnknownNameError as e:
        if e.kind != "game":  # an option of it
            raise
        raise MissingGameError(f"the game {game_name(rules)} is not installed; install its package") from None


class GameRecord(BaseModel):
    """Record of one game, from its first card to its end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    rules: str
    mission: Int64 | None = None
    names: tuple[str, ...]
    history: tuple[Int64, ...]
    moves: tuple[str, ...]
    scores: tuple[Int64, ...]
    early_end: str | None = None
    tags: dict[str, str] = {}

    @field_validator("early_end")
    @classmethod
    def _is_known_end(cls, end: str | None) -> str | None:
        if end is not None and not early_end.is_known(end):
            raise ValueError("unknown early end")
        return end

    def end(self) -> tuple[Game, Any]:
        """Return the game and the state at its end.

        Raises:
            MissingGameError: The game is not installed.
            TrickformerError: The record contradicts the rules.
        """
        game = _load_game(self.rules)
        return game, _replay_to_end(game, self.history, self.scores, self.early_end)

    def fault(self) -> str | None:
        """Return the first difference from a replay by the rules; None if there is none.

        Raises:
            MissingGameError: The game is not installed.
        """
        try:
            game, state = self.end()
        except MissingGameError:
            raise
        except TrickformerError as e:
            return str(e)
        if self.mission != game.mission(state):
            return f"mission {self.mission} in the record, {game.mission(state)} by its history"
        words = describe_moves(state)
        if list(self.moves) == words:
            return None
        shorter = min(len(self.moves), len(words))
        n_equal = next((n for n in range(shorter) if self.moves[n] != words[n]), shorter)
        return f"move {n_equal + 1} does not match the history"


AnyRecord: TypeAlias = SkatRecord | GameRecord

# Function that parses one game of a file. If the game is damaged it raises TrickformerError, which names the game.
GameParser: TypeAlias = Callable[[], AnyRecord]


def _replay_to_end(game: Game, history: tuple[int, ...], scores: tuple[int, ...], early: str | None = None) -> Any:
    """Return the state after a history. Raises TrickformerError if history, scores and early end do not agree."""
    state = replay(game.spiel, history)
    if state is None:
        raise TrickformerError(f"its history is not legal in {game.spiel}")
    if early is None and not state.is_terminal():
        raise TrickformerError("its history stops before the end of the game")
    if early is not None and state.is_terminal():
        raise TrickformerError(f"its history ends the game by the rules, but the record names an early end ({early})")
    if early is not None and (fault := early_end.fault(game, state, early)):
        raise TrickformerError(fault)
    computed = game.scores(state) if early is None else early_end.scores(game, state, early)
    if computed != scores:
        raise TrickformerError(f"scores {_join_numbers(scores)} in the record, {_join_numbers(computed)} by the rules")
    return state


def validation_fault(error: ValidationError) -> str:
    """Describe the first error of a failed validation in one line: the place in the text and the message.

    Args:
        error: Error of pydantic.
    """
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"key {where!r} is missing"
    fault = " ".join(first["msg"].removeprefix("Value error, ").split())
    return f"{where}: {fault}" if where else fault


def describe_moves(end: Any) -> list[str]:
    """Describe the moves that lead to a state.

    Args:
        end: State of OpenSpiel.

    Returns:
        One text for each action, chance included, such as "1 P5".
    """
    state, moves = end.get_game().new_initial_state(), []
    for step in end.full_history():
        who = "chance" if step.player == CHANCE else str(step.player)
        moves.append(f"{who} {state.action_to_string(step.player, step.action)}")
        state.apply_action(step.action)
    return moves


def _join_numbers(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


class RunHeader:
    """Game, players and seed of a tournament, from its run folder."""

    def __init__(self, folder: Path | None):
        """Read a run folder. Raises TrickformerError if it is None, or does not name game and players."""
        try:
            if folder is None:
                raise ValueError
            config = from_toml(read_text(folder / CONFIG))
            about = json_object(read_text(folder / ABOUT))
            rules, specs = about.get("game", config.get("game")), about["players"]
            if not isinstance(specs, list) or not all(isinstance(spec, str) for spec in specs):
                raise ValueError
        except (OSError, ValueError, KeyError):
            where = f"{CONFIG} and {ABOUT}"
            raise TrickformerError(f"a tournament's record needs {where} beside it; one is missing or broken") from None
        if not isinstance(rules, str):
            raise TrickformerError(f"{folder / ABOUT} does not name the game; continue the run with --resume to add it")
        self.game = _load_game(rules)
        self.specs = specs
        self.seed = str(config.get("seed", ""))

    def read(self, line: str, number: int) -> AnyRecord:
        """Read a record of the tournament.

        Args:
            line: Line of the records.
            number: Number of the line; a SkatRecord keeps it as its tag ID.

        Raises:
            TrickformerError: The line is no record of a hand, or the record does not fit the run or the rules.
        """
        try:
            record = HandRecord.model_validate_json(line, strict=True)
        except ValidationError:
            raise TrickformerError("not a record of a hand; restore the file from a copy") from None
        if not all(0 <= i < len(self.specs) for i in record.seating):
            raise TrickformerError(
                f"seating {_join_numbers(record.seating)}: the run has players 0 to {len(self.specs) - 1} only"
            )
        names = tuple(self.specs[i] for i in record.seating)
        if len(names) != self.game.players:
            raise TrickformerError(f"{len(names)} seats in the record, {self.game.players} at the table")
        state = _replay_to_end(self.game, record.history, record.scores)
        seed = self.seed if record.seed is None else str(record.seed)
        if isinstance(self.game, skat.Skat):
            return _to_skat_record(record, names, seed, number)
        return GameRecord(
            rules=str(self.game.spiel),
            mission=self.game.mission(state),
            names=names,
            history=record.history,
            moves=tuple(describe_moves(state)),
            scores=record.scores,
            tags={"seed": seed, "deal": str(record.deal), "seating": _join_numbers(record.seating)},
        )


def _to_skat_record(hand: HandRecord, names: tuple[str, ...], seed: str, number: int) -> SkatRecord:
    deck, moves = hand.history[: skat.NUM_CARDS], []
    state = _core.skat.State(np.array(deck, dtype=np.uint8))
    for action in hand.history[skat.NUM_CARDS :]:
        moves.append(f"{state.current_player()} {skat.ACTIONS[action]}")
        state.apply_action(action)
    # Properties of the ISS format (records/skat/iss.py). R0 to R2 are the players' ratings; they have none.
    skat_tags = {
        "SE": seed,
        "ID": str(number),
        "CO": f"deal {hand.deal} of seed {seed}, seating {_join_numbers(hand.seating)}",
    }
    record = SkatRecord(
        source="trickformer",
        names=(names[0], names[1], names[2]),
        deck=tuple(skat.CARDS[card] for card in deck),
        moves=tuple(moves),
        contract=contract(moves),
        tags={"GM": "Skat", "PC": "trickformer"} | skat_tags | {"R0": "", "R1": "", "R2": ""},
    )
    return record.model_copy(update={"result": result(replay_record(record))})
