"""Power of a comparison before it is paid for."""
