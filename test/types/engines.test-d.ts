/** What the engines of `Durable` give, and how they can fail. */
import { Durable } from "@kintsugi/durable"
import { type Layer, Redacted } from "effect"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import type { Sharding } from "effect/cluster/Sharding"
import type { SocketServerError } from "effect/socket/SocketServer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

type OnSql = WorkflowEngine | MessageStorage | Sharding | SqlClient

describe("an engine", () => {
  it("gives what the functions of Durable need, and says how it can fail", () => {
    const pglite = Durable.layerPglite({ folder: "runs" })
    const url = Redacted.make("postgres://server")
    const runner = { host: "10.0.0.7", port: 4000 }
    sameType<Layer.Layer<WorkflowEngine>>()(Durable.layerMemory)
    sameType<Layer.Layer<OnSql, Durable.FolderInUseError | SqlError>>()(pglite)
    sameType<Layer.Layer<OnSql, SqlError | SocketServerError>>()(Durable.layerPostgres({ url, runner }))
  })

  it("takes settings of the cluster, and no others", () => {
    const url = Redacted.make("postgres://server")
    Durable.layerPostgres({ url, runner: "client", sharding: { entityTerminationTimeout: "2 seconds" } })
    // @ts-expect-error a URL may hold a password
    Durable.layerPostgres({ url: "postgres://server" })
    // @ts-expect-error without a folder runs would be lost: that is layerMemory
    Durable.layerPglite({})
    // @ts-expect-error the address is that of the runner
    Durable.layerPostgres({ url, sharding: { runnerAddress: undefined } })
  })
})
