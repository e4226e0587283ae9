"""The original rules, frozen: their stages, prompts, patch, adoption and moderator. The pipeline alone sees them."""
