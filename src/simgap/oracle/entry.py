"""The one question: how well can an agent do that does not know the model?"""
