"""What the tests of several rooms share: real servers, started on free ports and stopped by their pid."""
