"""metastored's own statements: their grammar, the values they are parsed into, and how a value is printed. Pure."""
