"""What do real data say?"""
