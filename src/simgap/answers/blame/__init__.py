"""Which hidden parameter causes the loss?"""
