"""Changes encoded bodies without decoding them: names, parameters, and long results on their way through."""
