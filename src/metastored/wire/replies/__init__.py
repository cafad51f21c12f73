"""Long replies, decoded while they arrive or only in part."""
