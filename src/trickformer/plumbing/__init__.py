"""Infrastructure of the commands, independent of games: configs, run folders, parallel work, progress and reports.

Apart from its own modules, this folder imports only `base` from the package.
"""
