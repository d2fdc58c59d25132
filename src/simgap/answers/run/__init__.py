"""What does an agent lose while it learns?"""
