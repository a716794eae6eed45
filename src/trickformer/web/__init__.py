"""Tables, puzzles and reviews of hands in the browser (server.py, extra `web`); tables and puzzles on a terminal too.

config.py     configs of the commands
table.py      a match: seats, deals, moves, undo, scores; a journal stores them
scenes/       visible parts of a state, one module for each game; the page and the terminal show them
cast.py       players at a table, and their decisions
worker.py     processes that compute for the pages and can be killed at any time
listener.py   connections to the pages, and their limits
messages.py   messages that the pages send
server.py     addresses, tokens and sockets
pages.py      base of the rooms: open pages and their queues of messages
room.py       a table and its pages
reading.py    pages that review hands; desk.py does their work in a process, and shelf.py lists a tournament's hands
training.py   pages of a training
overview.py   reports and charts of a run, as messages
puzzles.py    pages of puzzles
offers.py     lists of the players and analysts that a page can choose
inside.py     panels about a decision, and proofs of claims (claims.py); hands.py is the belief panel of Hanabi
hints.py      hints from a player's decision
terminal.py   a table on a terminal; puzzle_terminal.py shows puzzles there
"""
