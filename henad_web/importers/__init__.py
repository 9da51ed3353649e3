"""Experiments of other tools read as specs; see `importing.import_spec`."""
