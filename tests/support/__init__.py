"""What tests share: real peers to compare with, and clients that do not depend on the code under test."""
