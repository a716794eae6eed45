"""Audit of a tokenizer and its trackers: check the contracts of base.Tokenizer and base.Tracker on random hands.

A tracker follows a seat's view token by token. The audit checks that the tracker had called each token possible, that
its turn and legal actions agree with the view, and that it gives the outcome at the end. At random positions it also
tests copies of the tracker: one receives an impossible token, and one receives random possible tokens up to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from trickformer.base import Game, Tokenizer, Tracker, View

# Records one case of a check: name of the check, whether it holds, and a function that returns the details of a fault.
Note: TypeAlias = Callable[[str, bool, Callable[[], str]], None]
T = TypeVar("T")

MAX_VOCAB = 256  # capacity of the core's sets of tokens

# Names of the checks, which the report prints.
SIZES = "tokens: sizes and names are consistent"
FIT = "tokens: fit the vocabulary and n_positions"
INVERSE = "tokens: decode to the events of the view"
PREFIX = "tokens: extend earlier ones"
FORM = "tracker: masks bool [V], features float32 [n_features]"
EXPECTS = "tracker: the next token was possible"
TURN = "tracker: own turn and legal actions as in the view"
AGAIN = "tracker: same if it gets all tokens at once"
COPIES = "tracker: copies are independent"
IMPOSSIBLE = "tracker: an impossible token is marked"
IMAGINED = "tracker: possible tokens lead to an end"
OUTCOME = "tracker: outcome of the hand at its end"


class _Fault(Exception):
    """Failure of a check. The message gives the expected and the actual value."""

    def __init__(self, check: str, what: str):
        super().__init__(what)
        self.check = check


def describe_exception(error: Exception) -> str:
    """Describe an exception in one line.

    Args:
        error: The exception.
    """
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")


def _call(check: str, what: str, call: Callable[..., T], *arguments: Any) -> T:
    """Call a function of the audited game. An exception counts as a fault; `what` names the call in its message."""
    try:
        return call(*arguments)
    except Exception as e:  # another package may raise anything
        raise _Fault(check, f"{what} raises {describe_exception(e)}") from e


def _form(array: Any) -> str:
    """Describe the dtype and shape of an array, or the type of another object."""
    if isinstance(array, np.ndarray):
        return f"{array.dtype} {list(array.shape)}"
    return type(array).__name__


class Walk:
    """Checks of the trackers of all seats, hand by hand.

    After a fault a seat is skipped for the rest of the hand, because further faults would have the same cause.
    """

    def __init__(self, game: Game, tokenizer: Tokenizer, note: Note):
        """Check the sizes of the tokenizer. If they are wrong, nothing else is checked.

        Args:
            game: The game.
            tokenizer: Its tokenizer.
            note: Records each case of a check.
        """
        self.game = game
        self.tokenizer = tokenizer
        self._note = note
        self._seats: list[_Seat] = []  # checks of the present hand
        fault = ""
        try:
            self._check_sizes()
        except _Fault as e:
            fault = str(e)
        self._sizes_are_valid = not fault
        note(SIZES, self._sizes_are_valid, lambda: fault)

    def begin(self, deal: int, rng: np.random.Generator) -> None:
        """Begin a hand.

        Args:
            deal: Number of the deal.
            rng: Draws the positions where copies are tested, and the tokens that they receive.
        """
        seats = range(self.game.players if self._sizes_are_valid else 0)
        self._seats = [_Seat(self.game, self.tokenizer, self._note, deal, seat, rng) for seat in seats]

    def look(
        self, views: list[View], acted: tuple[int, int] | None, scores: tuple[int, ...] | None, where: Callable[[], str]
    ) -> None:
        """Check the trackers of all seats at the next decision, or at the end of the hand.

        Args:
            views: Views by seat.
            acted: Seat and action of the decision since the last call; None at the first call of a hand.
            scores: Scores by seat at the end; None before.
            where: Returns a description of the position.
        """
        for seat, view in zip(self._seats, views):
            action = acted[1] if acted is not None and acted[0] == view.viewer else None
            seat.look(view, action, scores, where)

    def _check_sizes(self) -> None:
        """Raise _Fault if an attribute of the tokenizer or its initial embeddings have a wrong type or size."""
        names = ("vocab", "n_positions", "eos", "n_features", "features_version")
        values = {name: _call(SIZES, f"the tokenizer's {name}", getattr, self.tokenizer, name) for name in names}
        vocab, version = values["vocab"], values["features_version"]
        positions, eos = values["n_positions"], values["eos"]
        size = _call(SIZES, "the tokenizer's vocab", len, vocab)
        if not 1 <= size <= MAX_VOCAB or len(set(vocab)) < size:
            raise _Fault(
                SIZES,
                f"vocab has {size} names, {len(set(vocab))} of them different, not 1 to {MAX_VOCAB} different ones",
            )
        for name, value, minimum in (
            ("n_positions", positions, 1),
            ("eos", eos, 0),
            ("n_features", values["n_features"], 0),
        ):
            if not isinstance(value, int) or value < minimum:
                raise _Fault(SIZES, f"{name} is {value!r}, not a whole number from {minimum}")
        if eos >= size:
            raise _Fault(SIZES, f"eos is {eos}, but vocab has the tokens 0 to {size - 1}")
        if not isinstance(version, str) or not version:
            raise _Fault(SIZES, f"features_version is {version!r}, not a name")
        script = _call(SIZES, "the tokenizer's script_features", lambda: list[Any](self.tokenizer.script_features))
        if any(not isinstance(index, int) or not 0 <= index < values["n_features"] for index in script):
            raise _Fault(SIZES, f"script_features are {script}, not indices below {values['n_features']}")
        embeddings = _call(SIZES, "initial_embeddings()", lambda: tuple(self.tokenizer.initial_embeddings()))
        if len(embeddings) != 2:
            raise _Fault(SIZES, f"initial_embeddings() gives {len(embeddings)} arrays, not two")
        for array, rows, name in zip(embeddings, (size, positions), ("tokens", "positions")):
            if getattr(array, "dtype", None) != np.float32 or array.ndim != 2 or len(array) != rows:
                raise _Fault(SIZES, f"initial_embeddings() of {name} are {_form(array)}, not float32 [{rows}, any]")


class _Seat:
    """Checks of one seat's tracker along one hand."""

    def __init__(
        self, game: Game, tokenizer: Tokenizer, note: Note, deal: int, seat: int, rng: np.random.Generator
    ) -> None:
        self._game = game
        self._tokenizer = tokenizer
        self._note = note
        self._rng = rng
        self._deal, self._seat = deal, seat
        self._tracker: Tracker | None = None
        self._pushed: list[int] = []  # tokens that the tracker has received
        # Copies are tested about twice in a hand of the largest length.
        self._size, self._copy_share = len(tokenizer.vocab), 2 / tokenizer.n_positions
        self._has_fault = False

    def look(self, view: View, action: int | None, scores: tuple[int, ...] | None, where: Callable[[], str]) -> None:
        """Check the seat's tracker; see Walk.look. `action` is the seat's own action since the last call, if any."""
        if self._has_fault:
            return
        try:
            self._follow(view, action, scores)
        except (_Fault, AttributeError) as e:  # a method may be missing
            self._has_fault = True
            check = e.check if isinstance(e, _Fault) else FORM
            fault, at = str(e), len(self._pushed)
            self._note(
                check,
                False,
                lambda: f"deal {self._deal}, seat {self._seat}, after {at} tokens: {fault}; {where()}",
            )

    def _follow(self, view: View, action: int | None, scores: tuple[int, ...] | None) -> None:
        tokens = self._encode(view, scores is not None)
        if self._tracker is None:
            self._tracker = _call(FORM, "tracker() of no tokens", self._tokenizer.tracker, np.empty(0, np.int32))
            self._read_outputs(self._tracker)
            if self._deal % self._game.players == self._seat:  # test copies before the first token for one seat a hand
                self._check_copies(self._tracker)
        tracker = self._tracker
        for token in tokens[len(self._pushed) :]:
            if self._rng.random() < self._copy_share:
                self._check_copies(tracker)
            self._push(tracker, token, action)
            action = None  # the seat's action is the first new token
        if action is not None:
            raise _Fault(PREFIX, f"the seat's own action {action} has no token")
        self._check_turn(tracker, view)
        self._read_outputs(tracker)
        if self._rng.random() < self._copy_share or scores is not None:
            self._check_rebuilt(tracker)
        self._check_end(tracker, scores)

    def _encode(self, view: View, ended: bool) -> list[int]:
        """Encode a view, and check the tokens."""
        array = _call(FIT, "encode()", self._tokenizer.encode, view)
        if getattr(array, "dtype", None) != np.int32 or array.ndim != 1:
            raise _Fault(FIT, f"encode() gives {_form(array)}, not int32 [T]")
        tokens = array.tolist()
        unknown = [t for t in tokens if not 0 <= t < self._size]
        if unknown:
            raise _Fault(FIT, f"encode() gives token {unknown[0]}, but vocab has the tokens 0 to {self._size - 1}")
        if len(tokens) > self._tokenizer.n_positions:
            raise _Fault(FIT, f"encode() gives {len(tokens)} tokens, n_positions is {self._tokenizer.n_positions}")
        eos = [i for i, t in enumerate(tokens) if t == self._tokenizer.eos]
        if eos != [len(tokens) - 1] * ended:
            when = "the end token stands last, and nowhere else" if ended else "the hand goes on, without an end token"
            raise _Fault(FIT, f"{when}, but encode() has it at {eos or 'no place'}")
        self._pass(FIT)
        events: Any = _call(INVERSE, "decode(encode())", self._tokenizer.decode, array)
        if not isinstance(events, tuple):
            raise _Fault(INVERSE, f"decode() gives {_form(events)}, not a tuple of events")
        if events != view.events:
            differing = (i for i, (a, b) in enumerate(zip(events, view.events)) if a != b)
            at = next(differing, min(len(events), len(view.events)))
            decoded, seen = (list(e[at : at + 1]) for e in (events, view.events))
            raise _Fault(INVERSE, f"event {at} of the view is {seen or 'none'}, decode() gives {decoded or 'none'}")
        for invalid in ((*tokens, self._tokenizer.eos), (-1,), (self._size,)) if ended else ():
            self._check_rejection(np.array(invalid, np.int32))
        self._pass(INVERSE)
        if tokens[: len(self._pushed)] != self._pushed:
            at = next((i for i, (a, b) in enumerate(zip(tokens, self._pushed)) if a != b), len(tokens))
            now = self._name(tokens[at]) if at < len(tokens) else "no more"
            raise _Fault(PREFIX, f"token {at} was {self._name(self._pushed[at])}, and is {now} at a later decision")
        self._pass(PREFIX)
        return tokens

    def _check_rejection(self, tokens: np.ndarray) -> None:
        """Check that decode() raises ValueError for tokens that encode no view."""
        try:
            self._tokenizer.decode(tokens)
        except ValueError:
            return
        except Exception as e:
            raise _Fault(
                INVERSE, f"decode() of tokens that encode no view raises {describe_exception(e)}, not ValueError"
            ) from e
        last = tokens[-1]
        raise _Fault(
            INVERSE, f"decode() accepts {len(tokens)} tokens up to {last} that encode no view; it must raise ValueError"
        )

    def _push(self, tracker: Tracker, token: int, action: int | None) -> None:
        """Check that the tracker expects the next token, and push it. `action` is the seat's action that it encodes."""
        turn = _call(TURN, "my_turn()", tracker.my_turn)
        if bool(turn) != (action is not None):
            event = (
                "the next token of the view is the seat's action"
                if action is not None
                else f"{self._name(token)}, the next token of the view, is not the seat's action"
            )
            raise _Fault(TURN, f"my_turn() is {bool(turn)}, and {event}")
        if action is not None:
            action_token = _call(TURN, f"token({action})", self._tokenizer.token, action)
            if action_token != token:
                raise _Fault(TURN, f"token({action}) of the own action is {action_token}, but the view has {token}")
            if not self._mask(tracker, "legal")[token]:
                raise _Fault(TURN, f"legal() lacks {self._name(token)}, which the seat has played")
        self._pass(TURN)
        if not self._mask(tracker, "possible")[token]:
            raise _Fault(EXPECTS, f"possible() lacks {self._name(token)}, the next token of the view")
        # A tracker may be terminal before the end token is pushed. Then only the end token may follow.
        if token != self._tokenizer.eos and _call(EXPECTS, "terminal()", tracker.terminal):
            raise _Fault(EXPECTS, f"terminal() is True before {self._name(token)}, the next token of the view")
        _call(EXPECTS, f"push({token})", tracker.push, token)
        self._pushed.append(token)
        if not _call(EXPECTS, "is_legal()", tracker.is_legal):
            raise _Fault(EXPECTS, f"is_legal() is False after {self._name(token)}, a token of the view")
        self._pass(EXPECTS)

    def _check_turn(self, tracker: Tracker, view: View) -> None:
        """Compare the tracker's turn and legal actions with the view.

        If seats act unseen, as in Hearts' passes, the tracker may report the own turn although another seat acts first.
        Then the own action must be the next token, which `_push` checks.
        """
        turn = bool(_call(TURN, "my_turn()", tracker.my_turn))
        legal = np.flatnonzero(self._mask(tracker, "legal")).tolist()
        if view.legal and not turn:
            raise _Fault(TURN, f"my_turn() is False, and the seat may act: {list(view.legal)}")
        if turn != bool(legal):
            raise _Fault(TURN, f"my_turn() is {turn}, and legal() has the tokens {legal}")
        if view.legal:
            tokens = [_call(TURN, f"token({a})", self._tokenizer.token, a) for a in view.legal]
            if set(legal) != set(tokens) or len(legal) < len(tokens):
                raise _Fault(TURN, f"legal() has the tokens {legal}, the view's legal actions are {tokens}")
            for action in view.legal:
                round_trip = _call(
                    TURN, "action(token())", lambda a: self._tokenizer.action(self._tokenizer.token(a)), action
                )
                if round_trip != action:
                    raise _Fault(TURN, f"action(token({action})) is {round_trip}")
        if turn:
            possible = np.flatnonzero(self._mask(tracker, "possible")).tolist()
            if possible != legal:
                raise _Fault(TURN, f"at the own turn legal() has the tokens {legal}, but possible() has {possible}")
        self._pass(TURN)

    def _mask(self, tracker: Tracker, method: str) -> np.ndarray:
        """Return a mask of the tracker, bool [V]."""
        mask = _call(FORM, f"{method}()", getattr(tracker, method))
        if getattr(mask, "dtype", None) != np.bool_ or mask.shape != (self._size,):
            raise _Fault(FORM, f"{method}() gives {_form(mask)}, not bool [{self._size}]")
        return mask

    def _read_outputs(self, tracker: Tracker) -> tuple[Any, ...]:
        """Check the types and shapes of all outputs of a tracker, and return the outputs in a comparable form."""
        possible, legal = self._mask(tracker, "possible"), self._mask(tracker, "legal")
        features, n = _call(FORM, "features()", tracker.features), self._tokenizer.n_features
        if getattr(features, "dtype", None) != np.float32 or features.shape != (n,):
            raise _Fault(FORM, f"features() gives {_form(features)}, not float32 [{n}]")
        if not np.isfinite(features).all():
            raise _Fault(
                FORM,
                f"features() has {features[~np.isfinite(features)][0]} at {np.flatnonzero(~np.isfinite(features))[0]}",
            )
        flags = (bool(_call(FORM, f"{m}()", getattr(tracker, m))) for m in ("my_turn", "terminal", "is_legal"))
        self._pass(FORM)
        return (possible.tobytes(), legal.tobytes(), features.tobytes(), *flags)

    def _check_rebuilt(self, tracker: Tracker) -> None:
        """Compare the tracker with one that is made from all tokens at once."""
        rebuilt = _call(AGAIN, "tracker() of all tokens", self._tokenizer.tracker, np.array(self._pushed, np.int32))
        self._compare(AGAIN, tracker, self._read_outputs(rebuilt), "a tracker made of all tokens gives another {}")

    def _compare(self, check: str, tracker: Tracker, expected: tuple[Any, ...], message: str) -> None:
        """Raise _Fault if a tracker's outputs are not `expected`; the method's name is put into the message."""
        for name, a, b in zip(
            ("possible", "legal", "features", "my_turn", "terminal", "is_legal"), self._read_outputs(tracker), expected
        ):
            if a != b:
                raise _Fault(check, message.format(f"{name}()"))
        self._pass(check)

    def _check_copies(self, tracker: Tracker) -> None:
        """Test two copies, one with an impossible token and one with random possible tokens."""
        before = self._read_outputs(tracker)
        self._check_impossible_token(self._copy_tracker(tracker))
        self._compare(COPIES, tracker, before, "tokens pushed to a copy have changed the {} of its original")
        self._check_random_playout(self._copy_tracker(tracker))

    def _copy_tracker(self, tracker: Tracker) -> Tracker:
        """Copy a tracker, and check that the copy is another object with the same outputs."""
        duplicate = _call(COPIES, "copy()", tracker.copy)
        if duplicate is tracker:
            raise _Fault(COPIES, "copy() gives the tracker itself, not another")
        self._compare(COPIES, tracker, self._read_outputs(duplicate), "a copy gives another {} than its original")
        return duplicate

    def _check_impossible_token(self, tracker: Tracker) -> None:
        """Push an impossible token, then random tokens up to the end; the history must be marked illegal."""
        impossible = np.flatnonzero(~self._mask(tracker, "possible"))
        if not len(impossible):
            return
        token, length = int(self._rng.choice(impossible)), len(self._pushed)
        after = f"after {self._name(token)}, which possible() lacks"
        while True:
            what = f"{after}: push({token})" if length > len(self._pushed) else f"push({token}) of an impossible token"
            _call(IMPOSSIBLE, what, tracker.push, token)
            length += 1
            if _call(IMPOSSIBLE, f"{after}: is_legal()", tracker.is_legal):
                raise _Fault(IMPOSSIBLE, f"is_legal() is True {after}")
            if _call(IMPOSSIBLE, f"{after}: terminal()", tracker.terminal):
                break
            if length >= self._tokenizer.n_positions:
                raise _Fault(IMPOSSIBLE, f"{after}: terminal() is False at n_positions = {length} tokens")
            self._read_outputs(tracker)
            token = int(self._rng.integers(self._size))
        outcome = _call(IMPOSSIBLE, f"{after}: outcome()", tracker.outcome)
        if outcome is not None:
            raise _Fault(IMPOSSIBLE, f"{after}: outcome() at the end is {outcome!r}, not None")
        self._pass(IMPOSSIBLE)

    def _check_random_playout(self, tracker: Tracker) -> None:
        """Push random possible tokens up to the end, which must give an outcome.

        A tracker that calls too many tokens possible may reach a position without any, which is no fault.
        """
        length, results = len(self._pushed), len(self._game.outcomes.labels)
        while not _call(IMAGINED, "terminal()", tracker.terminal):
            possible = np.flatnonzero(self._mask(tracker, "possible"))
            if not len(possible):
                break
            if length >= self._tokenizer.n_positions:
                raise _Fault(IMAGINED, f"possible tokens go on after n_positions = {length} of them")
            token = int(self._rng.choice(possible))
            _call(IMAGINED, f"push({token}) of a possible token", tracker.push, token)
            length += 1
            if not _call(IMAGINED, "is_legal()", tracker.is_legal):
                raise _Fault(IMAGINED, f"is_legal() is False after {self._name(token)}, which possible() allows")
        else:
            outcome = _call(IMAGINED, "outcome() of an imagined hand", tracker.outcome)
            if not isinstance(outcome, int | np.integer) or not 0 <= outcome < results:
                raise _Fault(IMAGINED, f"outcome() of an imagined hand is {outcome!r}, not 0 to {results - 1}")
        self._pass(IMAGINED)

    def _check_end(self, tracker: Tracker, scores: tuple[int, ...] | None) -> None:
        """Check that the tracker gives the right outcome at the end, and none before."""
        terminal = bool(_call(OUTCOME, "terminal()", tracker.terminal))
        if terminal != (scores is not None):
            raise _Fault(
                OUTCOME, f"terminal() is {terminal}, and the hand {'goes on' if scores is None else 'is over'}"
            )
        if scores is None:
            try:
                outcome = tracker.outcome()
            except ValueError:
                return
            except Exception as e:
                raise _Fault(OUTCOME, f"outcome() before the end raises {describe_exception(e)}, not ValueError") from e
            raise _Fault(OUTCOME, f"outcome() gives {outcome!r} before the end, and raises no ValueError")
        outcome, outcomes = _call(OUTCOME, "outcome()", tracker.outcome), self._game.outcomes
        label = (*scores[self._seat :], *scores[: self._seat])
        expected = outcomes.index.get(label)  # None if the scores are no outcome, which another check reports
        if expected is not None and outcome != expected:
            its_scores = ""
            if isinstance(outcome, int | np.integer) and 0 <= outcome < len(outcomes.labels):
                its_scores = f", scores {outcomes.labels[int(outcome)]}"
            raise _Fault(OUTCOME, f"outcome() is {outcome!r}{its_scores}, not {expected}, scores {label}")
        if self._mask(tracker, "possible").any():
            raise _Fault(OUTCOME, "possible() has tokens after the end")
        self._pass(OUTCOME)

    def _name(self, token: int) -> str:
        return f"token {token} ({self._tokenizer.vocab[token]!r})"

    def _pass(self, check: str) -> None:
        self._note(check, True, str)
