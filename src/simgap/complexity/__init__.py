"""How hard a class of simulators is: separation, smoothness, covers, eluder dimension."""
