"""The domain-randomization oracle: certified planning in latent MDPs."""
