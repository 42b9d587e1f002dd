"""The small actor kit that pykka lacks; it knows nothing of speech or sessions."""
