/** The engine on a database: the URL of a server of PostgreSQL, or a folder. */
import { Durable } from "@kintsugi/durable"
import { type Layer, Redacted } from "effect"

type Postgres = ReturnType<typeof Durable.layerPostgres>
type Pglite = ReturnType<typeof Durable.layerPglite>

export const isServer = (database: string): boolean => database.startsWith("postgres:")

export const engineOn = (
  database: string,
  maxConnections?: number
): Layer.Layer<Layer.Success<Postgres>, Layer.Error<Pglite> | Layer.Error<Postgres>> =>
  isServer(database)
    ? Durable.layerPostgres({
        url: Redacted.make(database),
        ...(maxConnections === undefined ? {} : { maxConnections })
      })
    : Durable.layerPglite({ folder: database })
