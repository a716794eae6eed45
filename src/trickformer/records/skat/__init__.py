"""Records of Skat: the formats of ISS and XSkat, replay by the rules, and checks of results."""
