"""Tables for people and reviews of hands, in the browser (server.py, extra `web`) or, for a table, on a terminal.

config.py     configs of the commands
table.py      a match: seats, deals, moves, undo, scores; a journal keeps them
scenes/       visible parts of a state, one module for each game; the page and the terminal show them
cast.py       players at a table, and their decisions
worker.py     processes that can be ended
room.py       a table and its pages
reading.py    pages that review hands; desk.py does their work in a process
offers.py     lists of the players and analysts that a page can choose
inside.py     panels about a decision
terminal.py   a table on a terminal
"""
