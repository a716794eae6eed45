"""What is damaged, absurd or foreign, handed to every part: nothing may crash, hang or believe it."""
