"""Helpers of the tests: real peers to compare with, real servers on free ports, and reference clients."""
