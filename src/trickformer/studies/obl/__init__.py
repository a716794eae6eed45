"""Off-belief learning: policies that take the past to be another policy's, and the future to be their own.

The method is that of "Off-Belief Learning" (Hu, Lerer, Cui, Pineda, Brown, Foerster 2021). Here it is computed exactly
on games that can be listed, beside cognitive hierarchies, and learned in tables."""
