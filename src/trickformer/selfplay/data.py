"""Training data on disk: token and outcome arrays that are read in place, and a manifest that says what they are.

A folder holds `tokens.bin` (uint8 [N, T], filled up with the end token), `outcomes.bin` (int32 [N], an index among
the game's outcomes) and `manifest.json`, which is written after each piece of data. What the manifest does not count
was cut off by an interrupt and is dropped when writing goes on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trickformer.base import Game, Tokenizer, TrickformerError
from trickformer.folder import replace

FORMAT = 1
MANIFEST, TOKENS, OUTCOMES = "manifest.json", "tokens.bin", "outcomes.bin"
_TOKEN, _OUTCOME = np.dtype("uint8"), np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class Sequences:
    """What one seat saw of each hand, and how the hand ended."""

    tokens: np.ndarray  # integers [N, T], filled up with the end token
    outcomes: np.ndarray  # integers [N], index among the game's outcomes

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, rows: slice | np.ndarray) -> Sequences:
        return Sequences(self.tokens[rows], self.outcomes[rows])


def join(*parts: Sequences) -> Sequences:
    """Those of the first, then those of the next, and so on."""
    return Sequences(np.concatenate([p.tokens for p in parts]), np.concatenate([p.outcomes for p in parts]))


def crop(tokens: np.ndarray, eos: int) -> np.ndarray:
    """Without the columns in which every row has ended; one end token stays. integers [n, T] -> [n, <= T]."""
    return tokens[:, : int(lengths_of(tokens, eos).max(initial=0)) + 1]


def lengths_of(tokens: np.ndarray, eos: int) -> np.ndarray:
    """Tokens before the end of each row: integers [n, T] -> int64 [n]."""
    return (tokens != eos).sum(axis=1)


def vocabulary_hash(tokenizer: Tokenizer) -> str:
    """SHA-256 of the tokens' names in order: data and tokenizer of different ones do not go together."""
    return hashlib.sha256("\n".join(tokenizer.vocab).encode()).hexdigest()


def kind(game: Game, tokenizer: Tokenizer) -> dict[str, Any]:
    """What the data of a game must say of itself to be read for that game."""
    return {
        "format": FORMAT,
        "game": str(game.spiel),
        "vocabulary": vocabulary_hash(tokenizer),
        "outcomes": len(game.outcomes.labels),
        "positions": tokenizer.n_positions,
    }


def load(folder: Path, game: Game, tokenizer: Tokenizer) -> Sequences:
    """The sequences in a folder, mapped into memory: only what is touched is read.

    Raises TrickformerError on a missing, damaged, truncated or unfinished folder and on data of another game."""
    manifest = _manifest(folder, kind(game, tokenizer))
    if not manifest["complete"]:
        raise TrickformerError(f"{folder} is not complete: {manifest['sequences']} sequences so far")
    n, width = manifest["sequences"], manifest["positions"]
    for name, size in ((TOKENS, n * width * _TOKEN.itemsize), (OUTCOMES, n * _OUTCOME.itemsize)):
        path = folder / name
        found = path.stat().st_size if path.is_file() else 0
        if found != size:
            raise TrickformerError(f"{path} has {found} bytes, not the {size} that {MANIFEST} counts: it is damaged")
    return Sequences(
        np.memmap(folder / TOKENS, _TOKEN, "r", shape=(n, width)),
        np.memmap(folder / OUTCOMES, _OUTCOME, "r", shape=(n,)),
    )


def _manifest(folder: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        fields = {*wanted, "sequences", "hands", "complete", "about"}
        if not isinstance(manifest, dict) or not fields <= set(manifest):
            raise ValueError
    except OSError:
        raise TrickformerError(f"{folder} holds no training data: there is no {MANIFEST}") from None
    except ValueError:
        raise TrickformerError(f"{path} is damaged") from None
    for key, value in wanted.items():
        if manifest[key] != value:
            raise TrickformerError(f"{folder} holds data of another kind: {key} is {manifest[key]}, not {value}")
    return manifest


class Writer:
    """Appends to a folder of training data, or begins one. `hands` and `sequences` count what is there."""

    def __init__(self, folder: Path, game: Game, tokenizer: Tokenizer, about: dict[str, Any]):
        """about: what else to say of the data (seeds, who played); goes on only where it is the same.

        Raises TrickformerError where the folder holds something else, or the disk refuses."""
        self._kind, self._about, self._folder = kind(game, tokenizer), about, folder
        assert len(tokenizer.vocab) <= np.iinfo(_TOKEN).max + 1
        self.hands = self.sequences = 0
        self.complete = False
        if (folder / MANIFEST).exists():
            manifest = _manifest(folder, self._kind | {"about": about})
            self.hands, self.sequences = manifest["hands"], manifest["sequences"]
            self.complete = manifest["complete"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._tokens = self._open(TOKENS, self.sequences * self._kind["positions"] * _TOKEN.itemsize)
            self._outcomes = self._open(OUTCOMES, self.sequences * _OUTCOME.itemsize)
        except OSError as e:
            raise TrickformerError(f"cannot write into {folder}: {e.strerror}") from None

    def _open(self, name: str, size: int):
        path = self._folder / name
        found = path.stat().st_size if path.exists() else 0
        if found < size:
            raise TrickformerError(f"{path} has {found} bytes, not the {size} that {MANIFEST} counts: it is damaged")
        if found > size:  # what an interrupt cut off before it was counted
            with path.open("r+b") as file:
                file.truncate(size)
        return path.open("ab")

    def append(self, data: Sequences, hands: int) -> None:
        """Adds the sequences of `hands` hands. They are there once this returns, or not at all."""
        assert data.tokens.shape[1] == self._kind["positions"]
        try:
            self._tokens.write(np.ascontiguousarray(data.tokens, _TOKEN).tobytes())
            self._outcomes.write(np.ascontiguousarray(data.outcomes, _OUTCOME).tobytes())
            self._tokens.flush()
            self._outcomes.flush()
        except OSError as e:
            raise TrickformerError(f"cannot write into {self._folder}: {e.strerror}") from None
        self.hands += hands
        self.sequences += len(data)
        self._note()

    def finish(self) -> None:
        """Declares the data complete."""
        self.complete = True
        self._note()

    def _note(self) -> None:
        counts = {"hands": self.hands, "sequences": self.sequences, "complete": self.complete}
        replace(self._folder / MANIFEST, json.dumps(self._kind | counts | {"about": self._about}, indent=2) + "\n")

    def close(self) -> None:
        self._tokens.close()
        self._outcomes.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
