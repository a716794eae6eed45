"""A table for people: in the browser (server.py) and on a terminal (terminal.py). Needs the extra `web` for the former.

config.py     the command's config
table.py      a match: who sits where, deals, moves, undo, scores; kept as it is played
scenes/       what is seen of a state, a module a game: what the page draws and the terminal prints
cast.py       the players at a table, and what each decided
worker.py     the same in a process of its own, which can be ended
"""
