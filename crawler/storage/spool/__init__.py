"""Items on local disk while MongoDB is away, until they are stored after all."""
