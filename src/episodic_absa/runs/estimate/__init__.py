"""What a run takes, estimated before anything is sent."""
