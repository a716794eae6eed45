"""Writes a record in the form of XSkat's logs, so that the reader of them has fixtures of our own."""

import re

from trickformer.games.skat import CARDS
from trickformer.records.skat.check import outcome
from trickformer.records.skat.record import split_move
from trickformer.records.skat.replay import replay

SUITS = {  # by language and pack
    ("english", "french"): {"D": "Diamond", "H": "Heart", "S": "Spade", "C": "Club"},
    ("english", "german"): {"D": "Bells", "H": "Hearts", "S": "Leaves", "C": "Acorns"},
    ("german", "french"): {"D": "Karo", "H": "Herz", "S": "Pik", "C": "Kreuz"},
    ("german", "german"): {"D": "Schellen", "H": "Rot", "S": "Grün", "C": "Eicheln"},
}
RANKS = {
    ("english", "french"): {},
    ("german", "french"): {"Q": "D", "J": "B"},
    ("english", "german"): {"Q": "O", "J": "U"},
    ("german", "german"): {"Q": "O", "J": "U"},
}
GERMAN = (
    ("Pass", "Passe"),
    ("Skat is", "Im Skat ist"),
    ("Skat was", "Im Skat war"),
    ("Last bid", "Gereizt bis"),
    ("Played ouvert Hand", "Ouvert Hand gespielt"),
    ("Played ouvert", "Ouvert gespielt"),
    ("Played Hand", "Hand gespielt"),
    ("Schwarz announced", "Schwarz angesagt"),
    (" played ", " spielte "),
    ("Won", "Gewonnen"),
    ("Lost", "Verloren"),
    (" with: ", " mit: "),
    (" points", " Augen"),
)
TYPES = tuple(SUITS)


_ANY_CELL = re.compile(r"(?<![^ ])([A-ZÜa-zü]+)([ _])(10|[789JQKADBOU])(?= |$)")


def overstruck(log):
    """The log as `xskat -fmt` writes it: letters twice for capitals, `_` under letters."""

    def cell(found):
        name, blank, rank = found.groups()
        if len(name) > 1 and name.isupper():
            return "".join(f"{c}\b{c}" for c in f"{name.capitalize()} {rank}")
        return "".join(f"_\b{c}" for c in f"{name} {rank}") if blank == "_" else found[0]

    def name(found):
        return "".join(f"_\b{c}" for c in f" {found[1]} ")

    lines = [_ANY_CELL.sub(cell, line) if line.startswith("  ") else line for line in log.split("\n")]
    return "\n".join(re.sub(r"(?<![^ ])_(\w*)_(?= )", name, line) for line in lines)


def xskat_log(record, forehand=0, number=0, type=TYPES[0], said=(), second=("", "", "")):
    """The lines of a game.

    record: The game. A name is cut where the second row of names goes on with it.
    forehand: Column of forehand.
    number: Number of the game in the log.
    type: Language and pack of cards.
    said: Seats that said Kontra or Re.
    second: Second row of names, by seat.
    """
    found = replay(record)
    suits, ranks = SUITS[type], {"T": "10"} | RANKS[type]
    kinds = dict(zip(("diamonds", "hearts", "spades", "clubs"), suits.values())) | {"grand": "Grand", "null": "Null"}

    def row(by_seat):
        cells = [by_seat[(column - forehand) % 3] for column in range(3)]
        return "  " + "".join(cell.ljust(12) for cell in cells)

    def cell(card, lead=False, took=False):
        name = suits[card[0]] + "_ "[not lead] + ranks.get(card[1], card[1])
        return name.upper() if took else name

    def names(by_seat):
        texts = [(by_seat[seat], seat in said) for seat in ((column - forehand) % 3 for column in range(3))]
        return "".join((f"_{name}_" if marked else name).center(11) + " " for name, marked in texts)

    lines = [
        names([name.removesuffix(f" {rest}") for name, rest in zip(record.names, second)]),
        names(second),
        "-" * 40,
    ]
    moves = [split_move(move) for move in record.moves]
    dealt = list(record.deck[30:])
    words = [what for _, what in moves]
    discards = words[words.index("pick-up") + 1 :][:2] if "pick-up" in words else dealt
    if found.soloist < 0:
        lines.append("  " + "".join(("_Pass_" if c == forehand else "Pass").ljust(12) for c in range(3)))
    for trick in found.tricks:
        cells = [""] * 3
        for turn, card in enumerate(trick.cards):
            seat = (trick.leader + turn) % 3
            marked = seat == trick.leader != trick.winner
            cells[seat] = cell(CARDS[card], lead=marked, took=seat == trick.winner)
        lines.append(row(cells))
    lines.append(f"---- random_seed 7 {number} {(forehand - 1) % 3 + 1} -------")
    hands = [list(record.deck[10 * seat : 10 * seat + 10]) for seat in range(3)]
    if found.soloist >= 0:
        hands[found.soloist] = [c for c in [*hands[found.soloist], *dealt] if c not in discards]
    lines += [row([cell(hands[seat][i]) for seat in range(3)]) for i in range(10)]
    lines += ["-" * 40, "Skat is: " + ",".join(cell(card) for card in discards)]
    if found.soloist >= 0:
        kind = record.contract.split()[0].removesuffix("-ouvert")
        lines.append("Skat was: " + ",".join(cell(card) for card in dealt))
        lines.append(f"Last bid: {found.bid}")
        lines.append(f"{record.names[found.soloist]} played {kinds[kind]}")
        hand, ouvert = "hand" in record.contract, "ouvert" in record.contract
        if "schwarz" in record.contract:
            lines.append("Schwarz announced")
        elif hand or ouvert:
            lines.append("Played" + " ouvert" * ouvert + " Hand" * hand)
        ended = outcome(found)
        points = "" if kind == "null" else f" with: {ended.points} points"
        lines.append(("Won" if ended.won else "Lost") + points)
    text = "\n".join([*lines, "=" * 40, ""])
    for english, german in GERMAN if type[0] == "german" else ():
        text = text.replace(english, german)
    return text
