/** Starts the backend of the examples on the loopback interface, with a model and a shop of the test's own, and stops it. */
import { AgentEvent, Message, Model, Usage } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { Access, localHosts } from "@kintsugi/examples/backend/access"
import * as Client from "@kintsugi/examples/backend/client"
import * as Node from "@kintsugi/examples/backend/node"
import * as Server from "@kintsugi/examples/backend/server"
import { layerMemory, Shop } from "@kintsugi/examples/backend/shop"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Context, Effect, Exit, Layer, Metric, Queue, Redacted, Scope, Stream } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"

export const orders = [
  { id: "A-17", item: "a lamp", cents: 4900 },
  { id: "B-4", item: "an oak table", cents: 78_000 }
]

/** How long the server waits for requests at work, by the clock of the test: less than its tools may take. */
export const drain = "2 seconds"

/** What the till has paid, with its key. */
export const till = () => {
  const paid: Array<string> = []
  const layer = Layer.effect(
    Shop,
    Effect.map(Effect.map(Layer.build(layerMemory(orders)), Context.get(Shop)), (shop) => ({
      ...shop,
      refund: (refund) => Effect.tap(shop.refund(refund), (receipt) => Effect.sync(() => paid.push(receipt)))
    }))
  )
  return { layer, paid }
}

/** A shop whose look-ups are those of the test. */
export const shopOf = (find: Shop["Service"]["find"]): Layer.Layer<Shop> =>
  Layer.succeed(Shop, {
    find,
    refund: () => Effect.die(new Error("no refund is in the script")),
    receipt: () => Effect.succeedNone
  })

/** A model that answers each request by itself: many may be at work at the same time. */
export const modelOf = (generate: Model.Service["generate"]): Layer.Layer<Model.Model> =>
  Layer.succeed(Model.Model, {
    name: "own",
    provider: "test",
    generate,
    stream: (request) =>
      Stream.unwrap(Effect.map(generate(request), (reply) => Stream.fromIterable(Model.partsOf(reply))))
  })

export const says = (text: string): Message.Reply => ({
  content: [Message.text(text)],
  finish: "stop",
  usage: Usage.make({ inputTokens: 10, outputTokens: 5 })
})

/** A reply that looks an order up. */
export const looksUp = (orderId: string): Message.Reply => ({
  content: [{ type: "tool-call", id: `call-${orderId}`, name: "findOrder", arguments: { orderId } }],
  finish: "tool-calls",
  usage: Usage.make({ inputTokens: 10, outputTokens: 5 })
})

/** What the user has asked. */
export const asked = ({ messages }: Model.Request): string =>
  messages.map((message) => (message.role === "user" ? JSON.stringify(message.content) : "")).join("")

/** What the tool of the last turn has said; nothing in the first turn. */
export const heard = ({ messages }: Model.Request): string | undefined => {
  const last = messages.at(-1)
  if (last?.role !== "assistant") return undefined
  return last.content.map((part) => (part.type === "settled-call" ? part.settlement.text : "")).join("")
}

/** Of those who decide. */
export const token = Redacted.make("the-token-of-the-people-who-decide")

export const serving = (
  model: Layer.Layer<Model.Model>,
  shop: Layer.Layer<Shop> = layerMemory(orders),
  suspended: Layer.Layer<AgentRuns.SuspendedRuns> = AgentRuns.layerSuspendedMemory(),
  customers: Access["customers"] = []
) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent> = []
    const ends = yield* Queue.unbounded<AgentEvent.AgentEvent>()
    const observer = (event: AgentEvent.AgentEvent) => {
      events.push(event)
      if (AgentEvent.isTerminal(event)) Queue.offerUnsafe(ends, event)
    }
    const layer = Layer.provideMerge(
      Server.layer,
      Node.layer({ port: 0, host: "127.0.0.1", gracefulShutdownTimeout: drain })
    ).pipe(
      Layer.provide([
        model,
        shop,
        suspended,
        Layer.succeed(Access, { hosts: localHosts, token, customers }),
        Layer.succeed(RunContext.Observers, [() => observer]),
        Layer.succeed(Metric.MetricRegistry, new Map())
      ])
    )
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const url = HttpServer.formatAddress(
      Context.get(yield* Layer.buildWithScope(layer, scope), HttpServer.HttpServer).address
    )
    const client = yield* Effect.provide(Client.make(url, { deciding: token }), FetchHttpClient.layer)
    const ask = (input: string) => client.runs.ask({ payload: { input } })
    return { ask, client, events, nextEnd: Queue.take(ends), stop: Scope.close(scope, Exit.void), url }
  })

/** The answer of the server to a client without the contract. */
export const raw = (url: string, path: string, init: RequestInit = {}) =>
  Effect.promise(async (signal) => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${url}${path}`, { headers, ...init, signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })

/** How the calls of a run that was interrupted were settled. */
export const settlementsOf = (end: AgentEvent.AgentEvent): ReadonlyArray<string> =>
  end.type === "run-interrupted"
    ? end.transcript.flatMap((message) =>
        message.role === "assistant"
          ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.settlement.kind] : []))
          : []
      )
    : [end.type]
