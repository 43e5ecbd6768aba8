"""Items on local disk while MongoDB is away, until they can be stored."""
