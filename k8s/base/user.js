// Runs once, on an empty data directory: the workers' user may read and write its own database, and nothing else.
db.getSiblingDB("shoal").createUser({
  user: "shoal",
  pwd: process.env.MONGODB_PASSWORD,
  roles: [{ role: "readWrite", db: "shoal" }],
});
