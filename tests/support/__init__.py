"""What tests share: real peers to compare with, real servers on free ports, and clients that witness."""
