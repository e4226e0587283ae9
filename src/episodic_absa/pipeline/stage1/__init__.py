"""Stage1: pairs with quotes and confidences, then the risks, and what later steps read out of them."""
