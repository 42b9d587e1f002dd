"""What tests share: fakes, steppers and checkers."""
