"""What a condition may change of the advice and of the pipeline."""
