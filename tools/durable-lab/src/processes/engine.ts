/** Effect's own engine, on the database that listens on this port. */
import { PgClient } from "@effect/sql-pg"
import { Layer, Redacted } from "effect"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as SingleRunner from "effect/cluster/SingleRunner"
import * as Digest from "effect/crypto/Digest"

/** As many connections as are allowed: the database in memory is one session. */
export const engineOn = (port: number, maxConnections = 1) => {
  const client = PgClient.layer({
    host: "127.0.0.1",
    port,
    username: "postgres",
    database: "postgres",
    password: Redacted.make("none"),
    maxConnections,
    // a clock that is moved by hand moves past every limit while a connection is made
    minConnections: 1,
    connectionTTL: "1000 days",
    connectTimeout: "1000 days"
  })
  return ClusterWorkflowEngine.layer.pipe(
    // the storage stays in the context: `Durable.poll` asks it about a run that says nothing
    Layer.provideMerge(SingleRunner.layer({ runnerStorage: "memory" })),
    Layer.provide(Digest.layerWebCrypto),
    Layer.provideMerge(client)
  )
}
