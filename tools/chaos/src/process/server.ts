/**
 * One process of the example backend, whose runs are durable. Its clock may be wrong. In the environment, besides the variables of the
 * backend: `CHAOS_DATABASE` and `CHAOS_RUNNER` are ports, `CHAOS_CLOCK` milliseconds, `CHAOS_DIARY` a file.
 */
import * as Config from "@kintsugi/examples/backend/config"
import { Desk } from "@kintsugi/examples/backend/api"
import * as Node from "@kintsugi/examples/backend/node"
import * as Server from "@kintsugi/examples/backend/server"
import { start } from "@kintsugi/examples/backend/starting"
import * as DurableRuns from "@kintsugi/interop/DurableRuns"
import { Clock, Effect, Layer, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { skewed } from "../../../durable-lab/src/clock.ts"
import { engineOn } from "../../../durable-lab/src/processes/cluster.ts"
import { answering } from "../../../load/src/answering.ts"
import { durable } from "../desk.ts"
import { writer } from "../diary.ts"
import { observed } from "./reading.ts"
import { counting } from "./spans.ts"
import * as Till from "./till.ts"

const numberOf = (name: string): number => {
  const value = Number(process.env[name])
  if (!Number.isFinite(value)) throw new TypeError(`${name} must be a number`)
  return value
}

const write = writer(process.env["CHAOS_DIARY"] ?? "")
const spans = counting()
const off = numberOf("CHAOS_CLOCK")
answering({ spans: () => spans.count() })

/** A slow link or a busy machine is no dead process: locks have the patience of the defaults. */
const locks = { shardLockRefreshInterval: "10 seconds", shardLockExpiration: "35 seconds" } as const

const runs = Layer.merge(DurableRuns.layer(Desk, durable), durable.layer)

const live = Server.layerOver(runs).pipe(
  Layer.provide(Till.layer(write)),
  Layer.provide(engineOn(numberOf("CHAOS_DATABASE"), numberOf("CHAOS_RUNNER"), locks)),
  Layer.provide(Node.layerConfig),
  Layer.provide([Config.layerModel, Config.layerSuspended, Config.layerAccess])
)

const main = Clock.clockWith((real) =>
  Layer.launch(live).pipe(
    Effect.provideService(
      FetchHttpClient.Fetch,
      observed(globalThis.fetch, (id) => write({ type: "read", id }))
    ),
    Effect.provideService(Tracer.Tracer, spans.tracer),
    Effect.provideService(
      Clock.Clock,
      skewed(real, () => off)
    )
  )
)

start("", main)
