// Runs once, on an empty data directory: the fleet's user may do in its own database what crawls, migrations and the
// commands need (docs/operations.md), and nothing else.
const database = db.getSiblingDB("shoal");
database.createRole({
  role: "shoalWorker",
  roles: [],
  privileges: [{
    resource: { db: "shoal", collection: "" },
    actions: ["find", "insert", "update", "remove", "createCollection", "createIndex", "collMod", "listCollections",
      "listIndexes"],
  }],
});
database.createUser({ user: "shoal", pwd: process.env.MONGODB_PASSWORD, roles: ["shoalWorker"] });
