"""Training data on disk: token and outcome arrays that are read in place, and a manifest that says what they are.

A folder holds `tokens.bin` (uint8 [N, T], filled up with the end token), `outcomes.bin` (int32 [N], an index among
the game's outcomes), `counts.bin` (int32 [N]: labels of each sequence), `labels.bin` (LABEL [sum of the counts]) and
`manifest.json`, which is written after each piece of data. What the manifest does not count was cut off by an interrupt
and is dropped when writing goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from trickformer.base import FastGame, Game, Tokenizer, TrickformerError
from trickformer.plumbing import digests
from trickformer.plumbing.files import make_folder, replace
from trickformer.plumbing.text import json_object, read_text

FORMAT = 3
MANIFEST, TOKENS, OUTCOMES, COUNTS, LABELS = "manifest.json", "tokens.bin", "outcomes.bin", "counts.bin", "labels.bin"
_TOKEN, _OUTCOME, _COUNT = np.dtype("uint8"), np.dtype("<i4"), np.dtype("<i4")
# What an own action was worth: the position before the decision, the action's token, its value in units of v(o). The
# labels of a decision stand together.
LABEL = np.dtype([("position", "<u2"), ("token", "u1"), ("value", "<f2")])
NO_ENTRIES = np.empty(0, LABEL)


@dataclass(frozen=True, slots=True)
class Sequences:
    """What one seat saw of each hand, how the hand ended, and what its actions were worth."""

    tokens: np.ndarray  # integers [N, T], filled up with the end token
    outcomes: np.ndarray  # integers [N], index among the game's outcomes
    starts: np.ndarray  # int64 [N + 1]: where the labels of each sequence begin, and the last end
    labels: np.ndarray  # LABEL [starts[-1]]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def rows(self) -> np.ndarray:
        """The sequence that each label is of: int64 [starts[-1]]."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def __getitem__(self, rows: slice | np.ndarray) -> Sequences:
        begin, counts = self.starts[:-1][rows], np.diff(self.starts)[rows]
        starts = starts_of(counts)
        at = np.arange(starts[-1]) + np.repeat(begin - starts[:-1], counts)
        return Sequences(self.tokens[rows], self.outcomes[rows], starts, self.labels[at])

    @classmethod
    def without_labels(cls, tokens: np.ndarray, outcomes: np.ndarray) -> Sequences:
        """Sequences without labels."""
        return cls(tokens, outcomes, np.zeros(len(tokens) + 1, np.int64), NO_ENTRIES)


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Where parts of these lengths begin, and the last ends: int [N] -> int64 [N + 1]."""
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))


def join(*parts: Sequences) -> Sequences:
    """Those of the first, then those of the next, and so on."""
    return Sequences(
        np.concatenate([p.tokens for p in parts]),
        np.concatenate([p.outcomes for p in parts]),
        starts_of(np.concatenate([np.diff(p.starts) for p in parts])),
        np.concatenate([p.labels for p in parts]),
    )


def augment_sequences(data: Sequences, fast: FastGame, rng: np.random.Generator) -> Sequences:
    """Other hands that are as likely, with the same results and labels; of a game that augments."""
    tokens, permutation = fast.augment(data.tokens, rng)
    labels = data.labels.copy()
    labels["token"] = permutation[data.rows, labels["token"]]
    return Sequences(tokens, data.outcomes, data.starts, labels)


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
    n, width, labels = manifest["sequences"], manifest["positions"], manifest["labels"]
    for name, size in _sizes(n, width, labels).items():
        path = folder / name
        found = path.stat().st_size if path.is_file() else 0
        if found != size:
            raise TrickformerError(f"{path} has {found} bytes, not the {size} that {MANIFEST} counts: it is damaged")
    return Sequences(
        np.memmap(folder / TOKENS, _TOKEN, "r", shape=(n, width)),
        np.memmap(folder / OUTCOMES, _OUTCOME, "r", shape=(n,)),
        starts_of(np.fromfile(folder / COUNTS, _COUNT)),
        np.memmap(folder / LABELS, LABEL, "r", shape=(labels,)) if labels else NO_ENTRIES,
    )


def verify(folder: Path, game: Game, tokenizer: Tokenizer) -> None:
    """Reads all that a folder counts, if it is there. Raises TrickformerError where a bit of it has changed, and as
    `load` does, but for an unfinished folder."""
    if (folder / MANIFEST).exists():
        manifest = _manifest(folder, kind(game, tokenizer))
        for name, size in _sizes(manifest["sequences"], manifest["positions"], manifest["labels"]).items():
            _verify_digest(folder / name, size, manifest)


def _sizes(sequences: int, width: int, labels: int) -> dict[str, int]:
    """Bytes of each file."""
    return {
        TOKENS: sequences * width * _TOKEN.itemsize,
        OUTCOMES: sequences * _OUTCOME.itemsize,
        COUNTS: sequences * _COUNT.itemsize,
        LABELS: labels * LABEL.itemsize,
    }


def _verify_digest(path: Path, size: int, manifest: dict[str, Any]) -> Any:
    """BLAKE2b of the part of a file that is counted. Raises TrickformerError where it is not the manifest's."""
    try:
        found = digests.of(path, size)
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror}") from None
    if found.hexdigest() != manifest["digests"].get(path.name):
        raise TrickformerError(f"{path} is damaged: its checksum is not the one in {MANIFEST}")
    return found


def _manifest(folder: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json_object(read_text(path))
        fields = {*wanted, "sequences", "labels", "hands", "complete", "about", "digests"}
        if not fields <= set(manifest):
            raise ValueError
        for name in ("sequences", "labels", "hands"):
            if type(manifest[name]) is not int or manifest[name] < 0:
                raise ValueError
        if type(manifest["complete"]) is not bool or not isinstance(manifest["digests"], dict):
            raise ValueError
    except OSError:
        raise TrickformerError(f"{folder} holds no training data: there is no {MANIFEST}") from None
    except ValueError:
        raise TrickformerError(f"{path} is damaged") from None
    for key, value in wanted.items():
        if manifest[key] != value:
            raise TrickformerError(f"{folder} holds data of another kind: {key} is {manifest[key]}, not {value}")
    return manifest


def _open_to_append(path: Path) -> IO[bytes]:
    return path.open("ab")


class DataWriter:
    """Appends to a folder of training data, or begins one. `hands`, `sequences` and `labels` count what is there."""

    def __init__(
        self,
        folder: Path,
        game: Game,
        tokenizer: Tokenizer,
        about: dict[str, Any],
        open_file: Callable[[Path], IO[bytes]] = _open_to_append,
    ):
        """Begin a folder, or go on with one.

        Args:
            folder: Where the data is.
            game: The game that was played.
            tokenizer: Its tokenizer.
            about: What else to record of the data, such as seeds and players; it must match that of a folder with data.
            open_file: Opens a file to append to it.

        Raises:
            TrickformerError: If the folder holds something else, or the disk refuses.
        """
        self._kind, self._about, self._folder = kind(game, tokenizer), about, folder
        if len(tokenizer.vocab) > (most := np.iinfo(_TOKEN).max + 1):
            raise TrickformerError(f"{game.name} has {len(tokenizer.vocab)} tokens; training data holds {most} at most")
        self.hands = self.sequences = self.labels = 0
        self.complete = False
        manifest = None
        if (folder / MANIFEST).exists():
            manifest = _manifest(folder, self._kind | {"about": about})
            self.hands, self.sequences = manifest["hands"], manifest["sequences"]
            self.labels = manifest["labels"]
            self.complete = manifest["complete"]
        self._open_file = open_file
        self._files: dict[str, IO[bytes]] = {}
        self._digests: dict[str, Any] = {}
        try:
            make_folder(folder)
            for name, size in _sizes(self.sequences, self._kind["positions"], self.labels).items():
                self._files[name] = self._open(name, size)
                known = _verify_digest(folder / name, size, manifest) if manifest else hashlib.blake2b()
                self._digests[name] = known
        except TrickformerError:
            self.close()
            raise
        except OSError as e:
            self.close()
            raise TrickformerError(f"cannot write into {folder}: {e.strerror}") from None

    def _open(self, name: str, size: int) -> IO[bytes]:
        path = self._folder / name
        found = path.stat().st_size if path.exists() else 0
        if found < size:
            raise TrickformerError(f"{path} has {found} bytes, not the {size} that {MANIFEST} counts: it is damaged")
        if found > size:  # what an interrupt cut off before it was counted
            with path.open("r+b") as file:
                file.truncate(size)
        return self._open_file(path)

    def append(self, data: Sequences, hands: int) -> None:
        """Adds the sequences of `hands` hands. They are there once this returns, or not at all."""
        if data.tokens.shape[1] != self._kind["positions"]:
            raise ValueError(f"sequences of {data.tokens.shape[1]} positions, not {self._kind['positions']}")
        try:
            for name, array, dtype in (
                (TOKENS, data.tokens, _TOKEN),
                (OUTCOMES, data.outcomes, _OUTCOME),
                (COUNTS, np.diff(data.starts), _COUNT),
                (LABELS, data.labels, LABEL),
            ):
                raw = np.ascontiguousarray(array, dtype).tobytes()
                self._files[name].write(raw)
                self._files[name].flush()
                os.fsync(self._files[name].fileno())  # before the manifest counts it
                self._digests[name].update(raw)
        except OSError as e:
            raise TrickformerError(f"cannot write into {self._folder}: {e.strerror}") from None
        self.hands += hands
        self.sequences += len(data)
        self.labels += len(data.labels)
        self._note()

    def finish(self) -> None:
        """Declares the data complete."""
        self.complete = True
        self._note()

    def _note(self) -> None:
        counts = {"hands": self.hands, "sequences": self.sequences, "labels": self.labels, "complete": self.complete}
        sums = {name: digest.hexdigest() for name, digest in self._digests.items()}
        about = counts | {"digests": sums, "about": self._about}
        replace(self._folder / MANIFEST, json.dumps(self._kind | about, indent=2) + "\n")

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def __enter__(self) -> DataWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
