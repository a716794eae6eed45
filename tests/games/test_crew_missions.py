"""Every mission of The Crew worked by hand: how it succeeds, each way in which it fails, and when."""

from __future__ import annotations

import copy

import pytest
from support.crew_scripts import ACTION, PAGES, Script

from trickformer.games import crew, missions

# Seats 0, 1, 2, 3 win in turn, the commander first: as tasks are drafted.
LADDER = (
    "P9 P1 P2 P3 / B1 B9 B2 B3 / G1 G9 G2 G3 / Y1 Y9 Y2 Y3 / P4 P8 P5 P6 / B4 B8 B5 B6 / G4 G8 G5 G6 / Y4 Y8 Y5 Y6 / "
    "Y7 R4 P7 G7 / B7 R3 R1 R2"
)
DRAWN = {12: "B7 R3 R1 R2"}  # after its first trick

# On the ladder: mission, its end, the tasks as laid out and taken. The mission's tokens lie on the first of them.
TASKS = """
 1 won 1   P9:0
 1 won 9   Y7:0
 1 lost 2  B9:0
 2 won 2   P9:0 B9:1
 2 lost 1  P9:1 B9:0
 2 lost 6  B8:0 B9:1
 3 won 2   P9:0 B9:1
 3 lost 1  B9:1 P9:0                  2 before 1
 3 lost 1  P9:1 B9:0
 4 won 3   P9:0 B9:1 G9:2
 4 won 7   G8:2 B8:1 P8:0
 4 lost 2  P9:0 B9:2 G9:1
 6 won 3   P9:0 B9:1 G9:2
 6 won 3   B9:1 G9:2 P9:0             no token: whenever
 6 lost 2  G9:2 B9:1 P9:0             >> before >
 6 lost 2  P9:0 B9:2 G9:1
 7 won 3   G9:2 P9:0 B9:1
 7 lost 2  B9:1 P9:0 G9:2             omega while one is open
 7 lost 1  G9:2 P9:1 B9:0
 8 won 3   P9:0 B9:1 G9:2
 8 lost 1  B9:1 P9:0 G9:2             2 before 1
 8 lost 2  P9:0 G9:2 B9:1             3 before 2
 8 lost 2  P9:0 B9:2 G9:1
10 won 4   P9:0 B9:1 G9:2 Y9:3
10 lost 3  P9:0 B9:1 G9:3 Y9:2
11 won 4   P9:0 B9:1 G9:2 Y9:3
11 lost 1  B9:1 P9:0 G9:2 Y9:3        1 too late
11 lost 3  P9:0 B9:1 G9:3 Y9:2
12 won 4   Y9:3 P9:0 B9:1 G9:2
12 lost 3  G9:2 P9:0 B9:1 Y9:3        omega while one is open
12 lost 1  Y9:3 P9:1 B9:0 G9:2        before anybody draws
12 lost 2  Y9:3 P9:0 B9:2 G9:1
14 won 4   P9:0 B9:1 G9:2 Y9:3
14 won 4   B9:1 G9:2 Y9:3 P9:0        no token: whenever
14 lost 1  B9:1 P9:0 G9:2 Y9:3        >> before >
14 lost 2  P9:0 G9:2 B9:1 Y9:3        >>> before >>
14 lost 3  P9:0 B9:1 G9:3 Y9:2
15 won 4   P9:0 B9:1 G9:2 Y9:3
15 lost 1  B9:1 P9:0 G9:2 Y9:3        2 before 1
15 lost 3  P9:0 B9:1 Y9:3 G9:2        4 before 3
15 lost 3  P9:0 B9:1 G9:3 Y9:2
18 won 5   P9:0 B9:1 G9:2 Y9:3 P8:0
18 won 4   P9:0 B9:1 G9:2 Y9:3 P1:0   two in one trick
18 lost 1  P9:0 B9:1 G9:2 P1:3 P8:0   two in one trick, one of another's
19 won 5   P9:0 B9:1 G9:2 Y9:3 P8:0
19 won 4   P9:0 P1:0 B9:1 G9:2 Y9:3   no token, with 1
19 lost 1  B9:1 P9:0 G9:2 Y9:3 P8:0   1 too late
19 lost 1  B9:1 P9:0 P1:0 G9:2 Y9:3   1 too late
19 lost 4  P9:0 B9:1 G9:2 Y9:0 P8:3
20 won 6   B9:1 B8:1
20 won 2   B9:1 B1:1                  two in one trick
20 won 8   Y8:3 Y9:3
20 lost 3  B9:1 G9:1
21 won 5   P9:0 B9:1 G9:2 Y9:3 P8:0
21 won 4   P9:0 P1:0 B9:1 G9:2 Y9:3   1 and 2 together
21 won 4   P1:0 P9:0 B9:1 G9:2 Y9:3   1 and 2 together
21 lost 1  B9:1 P9:0 G9:2 Y9:3 P8:0   2 before 1
21 lost 1  G9:2 B9:1 P9:0 Y9:3 P8:0   1 too late
21 lost 2  P9:0 G9:2 B9:1 Y9:3 P8:0   2 too late
21 lost 1  P9:0 B9:1 P1:0 G9:2 Y9:3   1 and another, which is the second
21 lost 3  P9:0 B9:1 G9:3 Y9:2 P8:0
22 won 5   P9:0 B9:1 G9:2 Y9:3 P8:0
22 won 5   B9:1 G9:2 Y9:3 P8:0 P9:0   no token: whenever
22 won 4   P9:0 P1:0 B9:1 G9:2 Y9:3   > and >> together
22 lost 1  P9:0 B9:1 P1:0 G9:2 Y9:3   > and >>> together, >> open
22 lost 3  P9:0 B9:1 Y9:3 G9:2 P8:0   >>>> before >>>
22 lost 4  P9:0 B9:1 G9:2 Y9:0 P8:3
23 won 5   P9:0 B9:1 G9:2 Y9:3 P8:0
23 won 4   P9:0 P1:0 B9:1 G9:2 Y9:3   1 and 2 together
23 lost 1  P9:0 B9:1 P1:0 G9:2 Y9:3   1 and 3 together, 2 open
23 lost 1  B9:1 P9:0 G9:2 Y9:3 P8:0   2 before 1
23 lost 4  P9:0 B9:1 G9:2 P8:0 Y9:3   5 before 4
23 lost 4  P9:0 B9:1 G9:2 Y9:0 P8:3
24 won 6   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1
24 won 8   Y8:3 Y9:3 G9:2 G8:2 P9:0 B9:1
24 lost 6  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:2
25 won 6   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1
25 won 4   P9:0 P1:0 B9:1 B1:1 G9:2 Y9:3  > and >> together
25 won 5   P8:0 P4:0 B9:1 B1:1 G9:2 Y9:3  the same after all others
25 lost 1  B9:1 P9:0 G9:2 Y9:3 P8:0 B8:1  >> before >
25 lost 5  P9:0 B9:1 G9:2 Y9:3 P8:1 B8:0
27 won 10  B9:1 B8:1 B7:1
27 won 2   B9:1 B1:1 B3:1             all in one trick
27 lost 1  B9:1 B8:1 P9:1
28 won 6   P9:0 B8:1 B9:1 G9:2 Y9:3 P8:0
28 won 6   P9:0 B8:1 B5:1 G9:2 Y9:3 P8:0  omega with the last
28 lost 1  G9:2 B8:1 P9:0 B9:1 Y9:3 P8:0  1 too late
28 lost 2  P9:0 B9:1 B1:1 G9:2 Y9:3 P8:0  omega with another while some are open
28 lost 5  P9:0 P8:0 B9:1 B8:1 G9:2 Y9:3  omega while one is open
28 lost 3  P9:0 B8:1 B9:1 G9:3 Y9:2 P8:0
30 won 6   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1
30 won 5   P9:0 B9:1 B1:1 G9:2 Y9:3 P8:0  >> and >>> together
30 lost 2  P9:0 G9:2 B9:1 Y9:3 P8:0 B8:1  >>> before >>
30 lost 1  P9:0 B9:1 P1:0 G9:2 Y9:3 B8:1  > and >>> together, >> open
30 lost 5  P9:0 B9:1 G9:2 Y9:3 P8:1 B8:0
31 won 6   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1
31 won 5   P9:0 B9:1 B1:1 G9:2 Y9:3 P8:0  2 and 3 together
31 won 4   P9:0 P1:0 B9:1 B1:1 G9:2 Y9:3  1 and 2 together; no token, with 3
31 lost 1  P9:0 B9:1 P1:0 G9:2 Y9:3 B8:1  1 and 3 together, 2 open
31 lost 2  P9:0 B9:1 G9:2 B1:1 Y9:3 P8:0  2 and another, which is the third
31 lost 3  P9:0 B9:1 Y9:3 G9:2 P8:0 B8:1  3 too late
31 lost 5  P9:0 B9:1 G9:2 Y9:3 P8:1 B8:0
32 won 7   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2
32 won 8   Y9:3 Y8:3 G8:2 G9:2 P9:0 B9:1 P1:0
32 lost 7  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:3
35 won 7   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2
35 won 7   P8:0 B8:1 G8:2 Y9:3 P9:0 B9:1 G9:2  no token: whenever
35 lost 5  B8:1 P8:0 G8:2 Y9:3 P9:0 B9:1 G9:2  >> before >
35 lost 6   P9:0 B9:1 G9:2 Y9:3 P8:0 G8:1 B8:2
36 won 7   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2
36 won 7   P9:0 P1:0 B9:1 B8:1 G9:2 G8:2 Y9:3  1 and 2 together
36 lost 1  B9:1 P9:0 G9:2 Y9:3 P8:0 B8:1 G8:2  2 before 1
36 lost 1  P9:0 B9:1 P1:0 B8:1 G9:2 G8:2 Y9:3  1 and another, which is the second
36 lost 2  P9:0 G9:2 B9:1 Y9:3 P8:0 B8:1 G8:2  2 too late
36 lost 7  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:3
37 won 10  B9:1 B1:1 B8:1 B7:1
37 won 6   B9:1 B1:1 B2:1 B8:1
37 lost 3  B9:1 B1:1 B8:1 G9:1
38 won 8   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3
38 lost 7  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:3 Y8:2
39 won 8   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3
39 won 8   P9:0 B9:1 B1:1 P8:0 G9:2 Y9:3 G8:2 Y8:3  >> and >>> together
39 lost 5  B8:1 P8:0 G8:2 Y9:3 P9:0 B9:1 G9:2 Y8:3  >> before >
39 lost 7  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:3 Y8:2
40 won 8   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3
40 won 8   P9:0 P1:0 B9:1 B1:1 G9:2 G8:2 Y9:3 Y8:3  1 and 2 together; no token, with 3
40 lost 2  P9:0 G9:2 B9:1 Y9:3 P8:0 B8:1 G8:2 Y8:3  3 before 2
40 lost 1  B8:1 B9:1 G9:2 Y9:3 P8:0 P9:0 G8:2 Y8:3  1 too late
40 lost 7  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:3 Y8:2
42 won 9   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:0
42 won 8   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 P1:0
42 lost 8  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:0 Y7:3
43 won 9   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:0
43 won 10  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 B7:1
43 lost 10 P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 B7:0
45 won 9   P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:0
45 won 8   P9:0 P1:0 P2:0 B9:1 B8:1 G9:2 G8:2 Y9:3 Y8:3  > >> >>> together
45 lost 2  P9:0 G9:2 B9:1 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:0  >>> before >>
45 lost 8  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:0 Y7:3
47 won 10  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:0 B7:1
47 won 8   P9:0 P1:0 P8:0 B9:1 B1:1 B8:1 G9:2 G8:2 Y9:3 Y8:3
47 lost 9  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:1 B7:0
48 won 10  B7:1 P9:0 G9:2
48 lost 6  B8:1 P9:0 G9:2             omega last of all, but not in the last trick
48 lost 2  B9:1 P9:0 G9:2             omega while one is open
48 lost 1  B7:1 P9:2 G9:0
49 won 10  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:0 B7:1
49 won 8   P9:0 P1:0 P8:0 B9:1 B1:1 B8:1 G9:2 G8:2 Y9:3 Y8:3  > and >> together
49 lost 1  B9:1 P9:0 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:0 B7:1  >> before >
49 lost 9  P9:0 B9:1 G9:2 Y9:3 P8:0 B8:1 G8:2 Y8:3 Y7:1 B7:0
"""


def rows(table):
    """(mission, end, tasks) of each line; what follows the tasks is a remark."""
    for line in table.strip().splitlines():
        number, verdict, trick, *rest = line.split()
        yield int(number), f"{verdict} {trick}", " ".join(word for word in rest if ":" in word)


@pytest.mark.parametrize(("number", "end", "tasks"), [*rows(TASKS)], ids=str)
def test_tasks(number, end, tasks):
    for chair in range(4):
        script = Script(PAGES[number], LADDER, tasks, "1", drawn=DRAWN.get(number, ""), chair=chair)
        assert script.end() == end
        assert all("task " in why for why in script.failures()) and bool(script.failures()) == ("lost" in end)


# Both tasks of mission 17 are done before the last 9 has gone, or the other way round.
TASKS_FIRST = "P8 P1 P2 P3 / B1 B8 B2 B3 / G9 R1 G1 G2 / Y9 R2 Y1 Y2 / B9 R4 P9 B4"
NINES_FIRST = "P1 B9 G9 Y9 / P9 R1 R2 R3 / Y2 P2 Y8 Y3"


@pytest.mark.parametrize(
    ("end", "tricks", "tasks"),
    [
        ("won 5", TASKS_FIRST, "P8:0 B8:1"),
        ("open 2", "P8 P1 P2 P3 / B1 B8 B2 B3", "P8:0 B8:1"),  # the tasks alone are not enough
        ("lost 3", "P8 P1 P2 P3 / B1 B8 B2 B3 / B9 B4 B5 P4", "P8:0 B8:1"),
        ("lost 1", TASKS_FIRST, "P8:1 B8:0"),
        ("won 3", NINES_FIRST, "P1:0 Y8:1"),
        ("open 2", "P1 B9 G9 Y9 / P9 R1 R2 R3", "P1:0 Y8:1"),
        ("won 2", "P1 B9 G9 Y9 / P9 R1 B1 G1", "P1:0 P9:1"),  # both at once
        ("lost 1", LADDER, "P9:0 B9:1"),
    ],
)
def test_mission_17(end, tricks, tasks):
    for chair in range(4):
        assert Script(PAGES[17], tricks, tasks, chair=chair).end() == end


# Colour 1s that win, once the rest of their colours is gone.
ONES = "P2 P3 P4 P5 / P6 P7 P8 P9 / B2 B3 B4 B5 / B6 B7 B8 B9 / P1 G2 G3 G4 / B1 G5 G6 G7"
TWO_ROCKETS = "P9 P1 P2 P3 / B1 R2 R3 B2"
IN_ORDER = "R1 P1 P2 P3 / R2 B1 B2 B3 / R3 G1 G2 G3 / R4 Y1 Y2 Y3"
NO_ORDER = "R4 P1 P2 P3 / R1 B1 B2 B3 / R3 G1 G2 G3 / R2 Y1 Y2 Y3"
# All four 9s are kept to the end, and fall to rockets.
NINES_LAST = (
    "P1 P2 P3 P4 / B1 B2 B3 B4 / G1 G2 G3 G4 / Y1 Y2 Y3 Y4 / P5 P6 P7 P8 / B5 B6 B7 B8 / G5 G6 G7 G8 / Y5 Y6 Y7 Y8 / "
    "P9 B9 R1 G9 / R2 R3 R4 Y9"
)
# Seat 0 wins nine tricks, seat 1 the last.
NINE = (
    "R4 R1 R2 R3 / P9 P1 B1 B2 / P8 B3 B4 B5 / P7 B6 B8 G1 / P6 G2 G3 G4 / P5 G5 G6 G7 / P4 G8 Y1 Y2 / P3 Y3 Y4 Y5 / "
    "P2 Y6 Y7 Y8 / B7 B9 G9 Y9"
)
# Seat 1 wins the first and the last trick, seat 0 all others.
FRAME = (
    "P1 P9 P2 P3 / B1 B2 B3 B9 / R4 R1 R2 R3 / P8 B7 G2 G3 / P7 G4 G5 G6 / P6 Y1 Y2 Y3 / P5 Y4 Y5 Y6 / P4 Y7 Y8 Y9 / "
    "B8 B4 B5 B6 / G1 G9 G8 G7"
)
# As the ladder, but the last two tricks are of seats 1 and 0.
BALANCE = LADDER.replace("Y7 R4 P7 G7 / B7 R3 R1 R2", "Y7 B7 R3 G7 / P7 R1 R2 R4")
# Seat 0 wins four tricks, seats 2 and 3 the next five, seat 1 the last.
ROLES = (
    "R4 R1 R2 R3 / P9 P1 P2 P3 / P8 P4 P5 P6 / P7 B4 B5 B6 / B1 B2 B9 B3 / G1 G9 G2 G3 / Y9 Y1 Y2 Y3 / Y8 Y4 Y5 Y6 / "
    "G8 G4 G5 G6 / B7 G7 B8 Y7"
)
# Seat 3 holds the pink 9, seat 0 takes it and all other pink cards.
PINK = "B9 B1 B2 P9 / P8 P1 P2 G3 / P7 P3 P4 G4 / P6 P5 G1 G5"

SPECIAL = [
    (5, "won 10", NINE, "2"),
    (5, "won 10", NINE, "3"),
    (5, "lost 10", NINE, "1"),
    (5, "lost 3", LADDER, "2"),
    (9, "won 5", ONES, ""),
    (9, "lost 4", LADDER, ""),  # all 1s are gone
    (9, "lost 2", "R1 P1 P2 P3 / R2 B1 G1 Y1", ""),  # the rocket 1 is none
    (13, "won 4", IN_ORDER, ""),
    (13, "won 4", NO_ORDER, ""),
    (13, "lost 2", TWO_ROCKETS, ""),
    (13, "lost 10", LADDER, ""),  # three in the last trick
    (16, "won 2", "P1 B9 G9 Y9 / P9 R1 R2 G1", ""),  # the last 9 is gone
    (16, "won 10", NINES_LAST, ""),
    (16, "lost 1", LADDER, ""),
    (16, "lost 2", "P1 B9 G9 Y9 / P9 B1 G1 Y1", ""),
    (26, "won 6", ONES, ""),
    (26, "lost 3", LADDER, ""),  # of four 1s three are gone
    (26, "lost 5", ONES.replace("P1 G2 G3 G4 / B1 G5 G6 G7", "P1 B1 G1 Y1"), ""),  # one has won, and no other is left
    (29, "won 10", LADDER, ""),
    (29, "won 10", BALANCE, ""),
    (29, "lost 2", NINE, ""),
    (29, "lost 6", " / ".join([*LADDER.split(" / ")[:5], "P7 B4 G4 Y4"]), ""),
    (33, "won 10", NINE, "1"),
    (33, "lost 10", NINE, "2"),  # none
    (33, "lost 6", LADDER, "1"),  # a second one
    (33, "lost 1", "P1 R1 P2 P3", "1"),  # with a rocket
    (34, "won 10", BALANCE, ""),
    (34, "lost 10", LADDER, ""),
    (34, "lost 1", FRAME, ""),
    (34, "lost 2", NINE, ""),
    (41, "won 10", FRAME, "1"),
    (41, "lost 1", FRAME, "2"),
    (41, "lost 10", FRAME.replace("G1 G9 G8 G7", "G1 G8 G9 G7"), "1"),
    (41, "lost 2", "P1 P9 P2 P3 / B9 B1 B2 B3", "1"),  # one between
    (41, "lost 1", "P1 R1 P2 P3", "1"),  # with a rocket
    (44, "won 4", IN_ORDER, ""),
    (44, "lost 1", NO_ORDER, ""),
    (44, "lost 2", "R1 P1 P2 P3 / R3 B1 B2 B3", ""),
    (44, "lost 2", TWO_ROCKETS, ""),
    (44, "lost 1", "R1 R2 P2 P3", ""),  # in order, but in one trick
    (46, "won 4", PINK, ""),  # the last pink card
    (46, "lost 1", LADDER, ""),
    (46, "lost 2", "B9 B1 B2 P9 / P7 P8 P1 G3", ""),
    (46, "lost 1", "B1 B9 B2 P9", ""),
    (50, "won 10", ROLES, "0 1"),
    (50, "lost 1", ROLES, "1 0"),
    (50, "lost 5", ROLES, "0 2"),
    (50, "lost 6", ROLES, "0 3"),
    (50, "lost 5", NINE, "0 1"),  # a fifth one
    (50, "lost 2", LADDER, "0 1"),
    (50, "lost 10", ROLES.replace("B7 G7 B8 Y7", "B8 G7 B7 Y7"), "0 1"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "end", "tricks", "named"), SPECIAL)
def test_special_rules(number, end, tricks, named):
    for chair in range(4):
        script = Script(PAGES[number], tricks, named=named, chair=chair)
        assert script.end() == end
        failed = [why.partition(": ")[0] for why in script.failures()]
        assert failed == ([f'rule "{missions.RULES[rule]}"' for rule in PAGES[number].rules] if "lost" in end else [])


def test_every_mission_is_worked_both_ways():
    ends = {(number, end[:3]) for number, end, *_ in [*rows(TASKS), *SPECIAL]} | {(17, "won"), (17, "los")}
    assert ends == {(number, end) for number in range(1, 51) for end in ("won", "los")}


# ---------------------------------------------------------------------------------------------- around the tricks


def own(**fields):
    """A mission of one's own."""
    return missions.Page(id=60, **fields)


def asked(script):
    """(trick, seat, what may be said) whenever somebody may communicate, until the mission is over."""
    found = []
    while not script.state.is_terminal():
        if script.state.phase == crew.RADIO:
            found.append((len(script.state.winners) + 1, script.seat(), script.legal()))
        script.step()
    return found


def cards_after(script, label):
    """What may lie open under a label."""
    state = copy.copy(script.state)
    state.apply_action(ACTION[label])
    return " ".join(crew.CARDS[card] for card in state.legal_actions())


@pytest.mark.parametrize("chair", range(4))
def test_who_may_communicate_and_what(chair):
    """On the ladder the commander begins with P8 P9, B1 B4 B7, G3 G6, Y2 Y5 and the rocket 4, and ends with B7."""
    page = own(tasks=1, allocation="decision")
    script = Script(page, LADDER, "B7:1", said="2:lowest 2:P2 3:only 3:P4", chair=chair).until(crew.RADIO)
    assert (script.seat(), script.legal()) == (0, {"highest", "lowest", "silent"})
    assert cards_after(script, "highest") == "P9 B7 G6 Y5"
    assert cards_after(script, "lowest") == "P8 B1 G3 Y2"
    found = asked(script)
    seats = {trick: [seat for number, seat, _ in found if number == trick] for trick in range(1, 11)}
    assert seats[1] == [0, 1, 2, 3] and seats[2] == [0, 1, 3]  # from the leader clockwise, each until it has spoken
    assert seats[3] == [1, 0] and seats[9] == [0, 1]
    said = {(trick, seat): what for trick, seat, what in found}
    assert said[9, 0] == said[10, 0] == {"only", "silent"}  # a colour card that is alone, and a rocket
    assert said[10, 1] == {"silent"}  # a rocket does not lie open
    assert [m and (crew.ACTIONS[m[0]], crew.CARDS[m[1]], m[2]) for m in script.state.messages] == [
        {2: ("lowest", "P2", 0), 3: ("only", "P4", 4)}.get((seat - chair) % 4) for seat in range(4)
    ]


@pytest.mark.parametrize("number", [6, 14, 21, 25, 29, 39])
def test_a_dead_zone_hides_which(number):
    tasks = next((tasks for row, end, tasks in rows(TASKS) if row == number), "")
    script = Script(PAGES[number], LADDER, tasks).until(crew.RADIO)
    assert script.legal() == {"unlabelled", "silent"}
    assert cards_after(script, "unlabelled") == "P8 P9 B1 B7 G3 G6 Y2 Y5"


@pytest.mark.parametrize(("number", "trick"), [(18, 2), (30, 2), (19, 3), (28, 3), (38, 3)])
def test_a_disruption_ends_before_the_trick_it_names(number, trick):
    tasks = next(tasks for row, end, tasks in rows(TASKS) if row == number and end[:3] == "won")
    found = [(number, seat) for number, seat, _ in asked(Script(PAGES[number], LADDER, tasks))]
    leader = {2: 0, 3: 1}[trick]
    assert found[:4] == [(trick, (leader + i) % 4) for i in range(4)]


@pytest.mark.parametrize("named", [1, 2, 3])
def test_the_member_of_mission_11_is_silent(named):
    """The commander names it when the tasks lie open, and not itself."""
    script = Script(PAGES[11], LADDER, "P9:0 B9:1 G9:2 Y9:3", str(named)).until(crew.NAME)
    assert all(card >= 0 and owner < 0 for card, _, owner, _ in script.state.tasks)
    assert (script.seat(), script.legal()) == (0, {"left", "across", "right"})
    assert {seat for _, seat, _ in asked(script)} == {0, 1, 2, 3} - {named}


@pytest.mark.parametrize("chair", range(4))
def test_the_draw_of_mission_12(chair):
    """Everybody loses a card to the left, and never one that lies open."""
    tasks = "Y9:3 P9:0 B9:1 G9:2"
    script = Script(PAGES[12], LADDER, tasks, said="0:highest 0:Y5", drawn=DRAWN[12], chair=chair).until(crew.DRAW, 2)
    before = [set(script.state.hand(p)) for p in range(4)]
    for seat in range(4):
        giver = (seat - 1) % 4
        lies_open = {ACTION["Y5"]} if giver == chair else set()
        assert set(script.state.legal_actions()) == before[giver] - lies_open
        assert script.state.current_player() == -1
        script.step()
    drawn = script.state.drawn_cards
    for seat in range(4):
        assert set(script.state.hand(seat)) == before[seat] - {drawn[(seat + 1) % 4]} | {drawn[seat]}
    assert script.end() == "won 4"


def test_nobody_draws_when_it_is_over():
    page = own(tasks=1, rules=["random_draw_after_trick1"])
    assert Script(page, LADDER, "P9:0").end() == "won 1"
    assert Script(page, LADDER, "P9:0").until(crew.OVER, 2).state.drawn_cards == [0, 0, 0, 0]


def test_two_tokens_of_mission_23_change_places():
    """The pair is named from below."""
    tasks = "B9:1 P9:0 G9:2 Y9:3 P8:0"
    script = Script(PAGES[23], LADDER, tasks, said="0:token-1 0:token-2").until(crew.TILE_FROM)
    assert (script.seat(), script.legal()) == (0, {"no", "token-1", "token-2", "token-3", "token-4"})
    assert script.until(crew.TILE_TO).legal() == {"token-2", "token-3", "token-4", "token-5"}
    assert script.end() == "won 5"
    assert Script(PAGES[23], LADDER, tasks, said="0:no").end() == "lost 1"
    assert Script(PAGES[23], LADDER, "P9:0 B9:1 G9:2 Y9:3 P8:0", said="0:token-4 0:token-5").end() == "lost 4"


def test_a_token_of_mission_40_moves():
    tasks = "P8:0 B9:1 G9:2 Y9:3 P9:0 B8:1 G8:2 Y8:3"
    script = Script(PAGES[40], LADDER, tasks, said="0:token-1 0:P9").until(crew.TILE_FROM)
    assert (script.seat(), script.legal()) == (0, {"no", "token-1", "token-2", "token-3"})
    assert script.until(crew.TILE_TO).legal() == {"Y9", "P9", "B8", "G8", "Y8"}
    assert script.end() == "won 8"
    assert Script(PAGES[40], LADDER, tasks).end() == "lost 1"


def test_shares_of_a_distribution():
    """Nobody gets two tasks more than another: of seven, after 2-2-2-0 the last seat takes what is left."""
    script = Script(PAGES[32], LADDER, "P9:0 P8:0 B9:1 B8:1 G9:2 G8:2 Y9:3")
    free = []
    while script.state.phase != crew.RADIO:
        if script.state.phase == crew.APPOINT:
            assert script.seat() == 0
            free.append(len(script.legal()))
        script.step()
    assert free == [4, 4, 3, 3, 2, 2, 1]


@pytest.mark.parametrize("chair", range(4))
@pytest.mark.parametrize(("distress", "by"), [("left", 1), ("right", 3)])
def test_distress_moves_a_card_of_each(distress, by, chair):
    """After the tasks are taken and before anybody communicates, from the commander on; no rockets."""
    script = Script(PAGES[2], LADDER, "P9:0 B9:1", distress=distress, chair=chair).until(crew.PASS)
    before = [set(script.state.hand(p)) for p in range(4)]
    assert all(owner >= 0 for _, _, owner, _ in script.state.tasks)
    for seat in range(4):
        chairs = (seat + chair) % 4
        assert script.seat() == seat
        assert set(script.state.legal_actions()) == {card for card in before[chairs] if card < crew.COLOUR_CARDS}
        assert [set(script.state.hand(p)) for p in range(4)] == before  # all lay down before anybody takes up
        script.state.apply_action(max(script.state.legal_actions()))
    assert script.state.phase == crew.RADIO and script.seat() == 0
    passed = script.state.passed_cards
    for seat in range(4):
        assert set(script.state.hand(seat)) == before[seat] - {passed[seat]} | {passed[(seat - by) % 4]}


@pytest.mark.parametrize("chair", range(4))
@pytest.mark.parametrize("distress", ["left", "right"])
def test_who_wins_all_pink_is_fixed_at_the_deal(distress, chair):
    script = Script(PAGES[46], PINK, distress=distress, chair=chair).until(crew.PASS)
    while script.state.phase == crew.PASS:
        given = crew.PINK_NINE if script.seat() == 3 else script.state.legal_actions()[-1]
        script.state.apply_action(given)
        assert script.state.member == chair
    assert crew.PINK_NINE not in script.state.hand((3 + chair) % 4)


@pytest.mark.parametrize(
    ("end", "page", "tasks", "named"),
    [
        ("won 10", own(tasks=2, rules=["trick_balance"]), "P9:0 B9:1", ""),  # what is open longest decides
        ("lost 3", own(tasks=2, rules=["trick_balance"]), "P9:0 G9:1", ""),
        ("lost 4", own(tasks=5, rules=["one_wins_once"]), "P9:0 B9:1 G9:2 Y9:3 P8:0", ""),
        ("lost 10", own(tasks=1, rules=["each_rocket_wins"]), "P9:0", ""),
        ("lost 10", own(allocation="none", rules=["trick_balance", "each_rocket_wins"]), "", ""),
        ("won 10", own(tasks=2, tokens=["omega"], rules=["omega_in_last_trick", "trick_balance"]), "B7:1 P9:0", ""),
        ("lost 2", own(rules=["sick_no_tricks", "one_wins_once"]), "", "1"),
        ("won 2", own(tasks=2, tokens=[">>", ">>>>"]), "P9:0 B9:1", ""),  # arrows are relative to each other
        ("lost 1", own(tasks=2, tokens=[">>>>", ">>"]), "P9:0 B9:1", ""),
        ("won 3", own(tasks=3, tokens=["2"]), "B9:1 P9:0 G9:2", ""),  # the second of all
        ("lost 1", own(tasks=3, tokens=["2"]), "P9:0 B9:1 G9:2", ""),
        ("lost 1", own(tasks=3, tokens=["1", "omega"]), "G9:2 B9:1 P9:0", ""),
    ],
)
def test_missions_of_ones_own(end, page, tasks, named):
    for chair in range(4):
        assert Script(page, LADDER, tasks, named, chair=chair).end() == end
