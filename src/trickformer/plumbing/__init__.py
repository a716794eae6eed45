"""What every command needs and no game: configs, run folders, spreading work, progress, tables and figures of reports,
entry points of other packages. Imports nothing of the package but `base`."""
