/** What programs serve to others, and what others serve to them: runs over HTTP, streams that clients leave, tools of MCP. */
import { Agent } from "@kintsugi/core"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import * as EventStream from "@kintsugi/interop/EventStream"
import * as Mcp from "@kintsugi/interop/Mcp"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Context, Effect, Layer, Stream } from "effect"
import { withTools, inputSchema, text, url, call as calls } from "../../../interop/mcp/_support/fakeServer.ts"
import { agent, ways, kinds } from "../../../interop/proxy/_support/served.ts"
import type { Around, Feature } from "../measure.ts"
import { call, calling, look } from "./models.ts"

const worker = (around: Around) => Agent.make("worker", { tools: [look(around)] })

/** Few runs are remembered after their end, so that the uses before those that are measured fill the list. */
const limits = { maxEnded: 10 }

const contract = AgentProxy.make("worker")

const runs: Feature = {
  name: "runs of a process, with readers that leave",
  prepare: (around) =>
    Effect.gen(function* () {
      const layer = AgentRuns.layerMemory(contract, worker(around), limits).pipe(
        Layer.provide([calling(call("look")), AgentRuns.layerSuspendedMemory()])
      )
      const { end, events, start } = Context.get(yield* Layer.build(layer), contract.runs)
      let nth = 0
      const use = Effect.gen(function* () {
        const of = { subject: "ann", run: `${nth++}` }
        yield* start({ ...of, input: "go" })
        yield* Stream.runDrain(Stream.take(Stream.unwrap(events(of)), 2))
        yield* end(of)
      })
      return { use }
    })
}

/** A client of a server on the loopback interface or in memory, which reads a stream to its end or leaves it. */
const client = (way: keyof typeof ways, isLeft: boolean): Feature => ({
  name: `${way}, a client that ${isLeft ? "leaves" : "stays"}`,
  prepare: () =>
    Effect.gen(function* () {
      const { desk } = yield* agent
      const connect = yield* Effect.orDie(ways[way](kinds.memory.runsOf({ desk, model: calling(), limits })))
      const { stream } = yield* connect("ann")
      const read = stream({ input: "go" })
      return { use: Stream.runDrain(isLeft ? Stream.take(read, 2) : read) }
    })
})

const sent = (name: string, body: (run: Agent.Run<unknown, unknown>) => Stream.Stream<unknown, unknown>): Feature => ({
  name,
  prepare: (around) =>
    Effect.sync(() => ({
      use: Effect.provide(
        Effect.gen(function* () {
          const run = yield* worker(around).start("go")
          yield* Stream.runDrain(Stream.take(body(run), 2))
          yield* run.outcome
        }),
        calling(call("look"))
      )
    }))
})

const shop = withTools([{ name: "sell", inputSchema }], () => ({ content: text("sold") }))

const connected: Feature = {
  name: "a call of a tool of MCP",
  prepare: () =>
    Effect.gen(function* () {
      const server = yield* Effect.orDie(Mcp.connect("shop", Mcp.http({ url })))
      const use = Effect.sync(() => {
        // what the fake server was asked is in its own list
        shop.asked.splice(0)
        return undefined
      })
      return { use: Effect.andThen(use, calls(server, "sell", { n: 1 })) }
    }).pipe(Effect.provide(shop.layer))
}

const connecting: Feature = {
  name: "a connection to a server of MCP",
  prepare: () =>
    Effect.sync(() => ({
      use: Effect.gen(function* () {
        shop.asked.splice(0)
        const server = yield* Mcp.connect("shop", Mcp.http({ url }))
        yield* calls(server, "sell", { n: 1 })
      }).pipe(Effect.scoped, Effect.provide(shop.layer))
    }))
}

export const served: ReadonlyArray<Feature> = [
  runs,
  client("HttpApi in memory", false),
  client("HttpApi in memory", true),
  client("Rpc in memory", false),
  client("Rpc in memory", true),
  client("HttpApi on loopback", false),
  client("HttpApi on loopback", true),
  sent("server-sent events of a run that are left", (run) =>
    Stream.unwrap(Effect.map(EventStream.answer(run, { runId: "any" }), ({ body }) => body))
  ),
  sent("messages for a user interface that are left", (run) =>
    UiMessageStream.toServerSentEvents(UiMessageStream.fromStream(run.events))
  ),
  connected,
  connecting
]
