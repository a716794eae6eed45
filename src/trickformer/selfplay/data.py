"""Training data on disk: token and outcome arrays that are mapped into memory, and a manifest that describes them.

A folder holds these files for N sequences:

- `tokens.bin`: uint8 [N, T], padded with the end token
- `outcomes.bin`: int32 [N], index among the game's outcomes
- `counts.bin`: int32 [N], number of labels of each sequence
- `labels.bin`: LABEL [sum of the counts]
- `manifest.json`: counts and checksums, written after each piece of data

If an interrupt leaves more data than the manifest counts, `DataWriter` drops the surplus when writing continues.
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

FORMAT = 3  # version of this layout
MANIFEST = "manifest.json"
TOKENS = "tokens.bin"
OUTCOMES = "outcomes.bin"
COUNTS = "counts.bin"
LABELS = "labels.bin"
_TOKEN = np.dtype("uint8")
_OUTCOME = np.dtype("<i4")
_COUNT = np.dtype("<i4")
# Value of an action of the own seat: the position of the last token before the decision, the action's token, and its
# value in units of v(o) of the GO-MCTS paper. The labels of a decision are adjacent.
LABEL = np.dtype([("position", "<u2"), ("token", "u1"), ("value", "<f2")])
NO_ENTRIES = np.empty(0, LABEL)


@dataclass(frozen=True, slots=True)
class Sequences:
    """N sequences: the observations of a seat in a hand, the outcome of the hand, and values of the seat's actions."""

    tokens: np.ndarray  # integers [N, T], padded with the end token
    outcomes: np.ndarray  # integers [N], index among the game's outcomes
    starts: np.ndarray  # int64 [N + 1]: index of the first label of each sequence, then the number of labels
    labels: np.ndarray  # LABEL [starts[-1]]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def rows(self) -> np.ndarray:
        """Sequence of each label: int64 [starts[-1]]."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def __getitem__(self, rows: slice | np.ndarray) -> Sequences:
        if isinstance(rows, slice) and rows.step in (None, 1):  # a view, so that a file stays on the disk
            span = range(*rows.indices(len(self)))
            starts = self.starts[span.start : max(span.start, span.stop) + 1]
            labels = self.labels[starts[0] : starts[-1]]
            return Sequences(self.tokens[rows], self.outcomes[rows], starts - starts[0], labels)
        begin = self.starts[:-1][rows]
        counts = self.starts[1:][rows] - begin
        starts = starts_of(counts)
        at = np.arange(starts[-1]) + np.repeat(begin - starts[:-1], counts)
        return Sequences(self.tokens[rows], self.outcomes[rows], starts, self.labels[at])

    @classmethod
    def without_labels(cls, tokens: np.ndarray, outcomes: np.ndarray) -> Sequences:
        """Make sequences without labels.

        Args:
            tokens: Integers [N, T], padded with the end token.
            outcomes: Integers [N], index among the game's outcomes.
        """
        return cls(tokens, outcomes, np.zeros(len(tokens) + 1, np.int64), NO_ENTRIES)


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return where the parts of a concatenated array start.

    Args:
        counts: Integers [N], the lengths of the parts.

    Returns:
        int64 [N + 1], the first index of each part, then the end of the last.
    """
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))


def join(*parts: Sequences) -> Sequences:
    """Concatenate sequences.

    Args:
        parts: Sequences of the same width.
    """
    return Sequences(
        np.concatenate([p.tokens for p in parts]),
        np.concatenate([p.outcomes for p in parts]),
        starts_of(np.concatenate([np.diff(p.starts) for p in parts])),
        np.concatenate([p.labels for p in parts]),
    )


def augment_sequences(data: Sequences, fast: FastGame, rng: np.random.Generator) -> Sequences:
    """Permute what the rules treat alike, such as colours, at random in each sequence.

    The new hands are as likely as the old ones and have the same outcomes and values.

    Args:
        data: The sequences.
        fast: Fast form of a game whose `augments` is true.
        rng: Generator of the permutations.
    """
    tokens, permutation = fast.augment(data.tokens, rng)
    labels = data.labels.copy()
    labels["token"] = permutation[data.rows, labels["token"]]
    return Sequences(tokens, data.outcomes, data.starts, labels)


def crop(tokens: np.ndarray, eos: int) -> np.ndarray:
    """Drop the columns of padding that all rows share, except the first of them.

    Args:
        tokens: Integers [n, T].
        eos: The end token.
    """
    return tokens[:, : int(lengths_of(tokens, eos).max(initial=0)) + 1]


def lengths_of(tokens: np.ndarray, eos: int) -> np.ndarray:
    """Count the tokens before the end of each row.

    Args:
        tokens: Integers [n, T].
        eos: The end token.

    Returns:
        int64 [n].
    """
    return (tokens != eos).sum(axis=1)


def _vocabulary_hash(tokenizer: Tokenizer) -> str:
    """Hash the tokens' names in order with SHA-256. Data fits a tokenizer only if the hash is the same."""
    return hashlib.sha256("\n".join(tokenizer.vocab).encode()).hexdigest()


def kind(game: Game, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the entries that a manifest must have for its data to be read for a game.

    Args:
        game: The game.
        tokenizer: Its tokenizer.
    """
    return {
        "format": FORMAT,
        "game": str(game.spiel),
        "vocabulary": _vocabulary_hash(tokenizer),
        "outcomes": len(game.outcomes.labels),
        "positions": tokenizer.n_positions,
    }


def load(folder: Path, game: Game, tokenizer: Tokenizer) -> Sequences:
    """Map the sequences of a folder into memory. Pages are read on first use.

    Args:
        folder: Folder of training data.
        game: The game.
        tokenizer: Its tokenizer.

    Raises:
        TrickformerError: The folder is missing, damaged or unfinished, or its data is of another game.
    """
    manifest = _manifest(folder, kind(game, tokenizer))
    if not manifest["complete"]:
        raise TrickformerError(f"{folder} is not complete: {manifest['sequences']} sequences so far")
    n = manifest["sequences"]
    width = manifest["positions"]
    labels = manifest["labels"]
    for name, size in _sizes(n, width, labels).items():
        path = folder / name
        length = path.stat().st_size if path.is_file() else 0
        if length != size:
            raise TrickformerError(
                f"{path} has {length} bytes, not the {size} that {MANIFEST} counts; restore it from a copy"
            )
    return Sequences(
        np.memmap(folder / TOKENS, _TOKEN, "r", shape=(n, width)),
        np.memmap(folder / OUTCOMES, _OUTCOME, "r", shape=(n,)),
        starts_of(np.fromfile(folder / COUNTS, _COUNT)),
        np.memmap(folder / LABELS, LABEL, "r", shape=(labels,)) if labels else NO_ENTRIES,
    )


def verify(folder: Path, game: Game, tokenizer: Tokenizer) -> None:
    """Check all data that the manifest of a folder counts. A folder without a manifest passes.

    Args:
        folder: Folder of training data, which may be unfinished.
        game: The game.
        tokenizer: Its tokenizer.

    Raises:
        TrickformerError: The folder is damaged, or its data is of another game.
    """
    if (folder / MANIFEST).exists():
        manifest = _manifest(folder, kind(game, tokenizer))
        for name, size in _sizes(manifest["sequences"], manifest["positions"], manifest["labels"]).items():
            _verify_digest(folder / name, size, manifest)


def _sizes(sequences: int, width: int, labels: int) -> dict[str, int]:
    """Return the number of bytes of each file."""
    return {
        TOKENS: sequences * width * _TOKEN.itemsize,
        OUTCOMES: sequences * _OUTCOME.itemsize,
        COUNTS: sequences * _COUNT.itemsize,
        LABELS: labels * LABEL.itemsize,
    }


def _verify_digest(path: Path, size: int, manifest: dict[str, Any]) -> Any:
    """Hash the first `size` bytes of a file with BLAKE2b, and return the hash object.

    Raises:
        TrickformerError: The digest is not the manifest's, or the file cannot be read.
    """
    try:
        digest = digests.file_digest(path, size)
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror}") from None
    if digest.hexdigest() != manifest["digests"].get(path.name):
        raise TrickformerError(f"{path} is damaged: its checksum is not the one in {MANIFEST}; restore it from a copy")
    return digest


def _manifest(folder: Path, required: dict[str, Any]) -> dict[str, Any]:
    """Read a manifest. Raises TrickformerError if it is missing or damaged, or lacks one of the `required` entries."""
    path = folder / MANIFEST
    try:
        manifest = json_object(read_text(path))
        fields = {*required, "sequences", "labels", "hands", "complete", "about", "digests"}
        if not fields <= set(manifest):
            raise ValueError
        for name in ("sequences", "labels", "hands"):
            if type(manifest[name]) is not int or manifest[name] < 0:
                raise ValueError
        if type(manifest["complete"]) is not bool:
            raise ValueError
        if not isinstance(manifest["digests"], dict) or not isinstance(manifest["about"], dict):
            raise ValueError
    except OSError:
        raise TrickformerError(f"{folder} holds no training data: there is no {MANIFEST}") from None
    except ValueError:
        raise TrickformerError(f"{path} is damaged; restore it from a copy") from None
    _require(folder, manifest, required)
    return manifest


def _require(folder: Path, facts: dict[str, Any], required: dict[str, Any]) -> None:
    """Raise TrickformerError if one of the facts about a folder's data is not as required."""
    for key, value in required.items():
        if facts.get(key) != value:
            raise TrickformerError(f"{folder} holds data of another kind: {key} is {facts.get(key)}, not {value}")


def _open_to_append(path: Path) -> IO[bytes]:
    return path.open("ab")


class DataWriter:
    """Writer that appends to a folder of training data. `hands`, `sequences` and `labels` count its contents."""

    def __init__(
        self,
        folder: Path,
        game: Game,
        tokenizer: Tokenizer,
        about: dict[str, Any],
        open_file: Callable[[Path], IO[bytes]] = _open_to_append,
        who: str | None = None,
    ):
        """Begin a folder, or continue one.

        Args:
            folder: Folder of the data.
            game: The game that was played.
            tokenizer: Its tokenizer.
            about: Further facts to record, such as the seed. They must match those of a folder with data.
            open_file: Opens a file to append to it.
            who: Description of the players for people. It may name a checkpoint by its path, and a run can be moved,
                so it need not match.

        Raises:
            TrickformerError: The folder holds something else, or cannot be written.
        """
        self._kind = kind(game, tokenizer)
        self._about = about if who is None else about | {"who": who}
        self._folder = folder
        if len(tokenizer.vocab) > (most := np.iinfo(_TOKEN).max + 1):
            raise TrickformerError(f"{game.name} has {len(tokenizer.vocab)} tokens; training data holds {most} at most")
        self.hands = self.sequences = self.labels = 0
        self.complete = False
        manifest = None
        if (folder / MANIFEST).exists():
            manifest = _manifest(folder, self._kind)
            _require(folder, manifest["about"], about)
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
                self._digests[name] = _verify_digest(folder / name, size, manifest) if manifest else hashlib.blake2b()
        except TrickformerError:
            self.close()
            raise
        except OSError as e:
            self.close()
            raise TrickformerError(f"cannot write into {folder}: {e.strerror}") from None

    def _open(self, name: str, size: int) -> IO[bytes]:
        """Open a file to append after its first `size` bytes; drop the bytes after them."""
        path = self._folder / name
        length = path.stat().st_size if path.exists() else 0
        if length < size:
            raise TrickformerError(
                f"{path} has {length} bytes, not the {size} that {MANIFEST} counts; restore it from a copy"
            )
        if length > size:  # an interrupt came before the manifest counted the end of the file
            with path.open("r+b") as file:
                file.truncate(size)
        return self._open_file(path)

    def append(self, data: Sequences, hands: int) -> None:
        """Add sequences and flush them to the disk. After a crash the manifest counts either all of them or none.

        Args:
            data: The sequences.
            hands: Number of hands that they are from.

        Raises:
            TrickformerError: The disk refuses.
            ValueError: The sequences have another number of positions than the folder.
        """
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
                os.fsync(self._files[name].fileno())  # the data must be on disk before the manifest counts it
                self._digests[name].update(raw)
        except OSError as e:
            raise TrickformerError(f"cannot write into {self._folder}: {e.strerror}") from None
        self.hands += hands
        self.sequences += len(data)
        self.labels += len(data.labels)
        self._write_manifest()

    def finish(self) -> None:
        """Mark the data as complete."""
        self.complete = True
        self._write_manifest()

    def _write_manifest(self) -> None:
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
