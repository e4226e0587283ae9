"""Three speakers and a judge, and the review context that Stage2 gets from them."""
