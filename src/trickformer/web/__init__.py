"""A table for people, and hands under review: in the browser (server.py, which needs the extra `web`), the table
also on a terminal (terminal.py).

config.py     the commands' configs
table.py      a match: who sits where, deals, moves, undo, scores; kept as it is played
scenes/       what is seen of a state, a module a game: what the page draws and the terminal prints
cast.py       the players at a table, and what each decided
worker.py     the same in a process of its own, which can be ended
room.py       the table and the pages that look at it
reading.py    pages that review hands, and desk.py, which does their work in a process
offers.py     the players and analysts that a page can choose
"""
