/** Models and tools of others: over HTTP, of other libraries, of APIs, and over MCP. */
import { Agent, Backoff, Message, type Model, Tool } from "@kintsugi/core"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import * as DocumentTools from "@kintsugi/interop/DocumentTools"
import * as ExecutionPlans from "@kintsugi/interop/ExecutionPlans"
import * as HttpApiTools from "@kintsugi/interop/HttpApiTools"
import * as Mcp from "@kintsugi/interop/Mcp"
import * as RpcTools from "@kintsugi/interop/RpcTools"
import { OpenAi, Transport } from "@kintsugi/providers"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import { Effect, ExecutionPlan, Layer, Redacted, Schedule, Schema, type Scope, Stream } from "effect"
import { LanguageModel, Prompt } from "effect/ai"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { Rpc, RpcGroup, RpcTest } from "effect/rpc"
import * as Script from "../../../interop/ai-sdk/_support/languageModel.ts"
import { bodyOf, documentOf } from "../../../interop/api/_support/pets.ts"
import { authorised, handler, served as shopAt, Shop } from "../../../interop/api/_support/shop.ts"
import { call as calls, ours, url } from "../../../interop/mcp/_support/fakeServer.ts"
import { sessions } from "../../../interop/mcp/_support/sessions.ts"
import { having, whole } from "../../../providers/service/_support/background.ts"
import * as Theirs from "../../../providers/effect-ai/_support/scriptedLanguageModel.ts"
import type { Feature } from "../measure.ts"
import { call, calling, layerOf, look, looking, overloaded, replyOf, serviceOf } from "./models.ts"

const key = Redacted.make("sk-test-0123456789abcdef")

const words = AnyWire.handler(() => Effect.succeed({ content: [Message.text("five words and some more")] }))

/** A model of a server on the loopback interface. The server has its requests for ever. */
const remote = (
  name: string,
  fault: (nth: number) => Fault.Fault | undefined,
  transport: Transport.Options,
  use: (agent: () => ReturnType<typeof worker>) => Effect.Effect<unknown, unknown>
): Feature => ({
  name,
  isStore: true,
  prepare: () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(Fault.inFront(({ number }) => fault(number), words))
      const client = yield* Layer.build(Transport.layerUndici())
      const model = Layer.provide(
        OpenAi.layer({ model: "m", apiKey: key, baseUrl: server.url, transport }),
        Layer.succeedContext(client)
      )
      return { use: use(() => worker(model)) }
    })
})

const worker = (model: Layer.Layer<Model.Model>) => Agent.make("worker", { model, modelIdle: 0 })

const patient = { retry: Backoff.make({ retries: 2, initialBackoff: 1 }) } as const

/** A reply that is made in the background: the first look finds it, or its run is interrupted. */
const background = (isLeft: boolean): Feature => ({
  name: `a reply that is made in the background${isLeft ? " and left" : ""}`,
  most: 1_000,
  prepare: () =>
    Effect.sync(() => {
      const answer = async (method: string) =>
        Response.json(method === "POST" || isLeft ? having("in_progress", { id: "r" }) : whole)
      const client = Layer.provide(
        FetchHttpClient.layer,
        Layer.succeed(FetchHttpClient.Fetch, (input, init) => answer(new Request(input, init).method))
      )
      const model = OpenAi.layerResponses({ model: "m", apiKey: key, transport: { retry: false }, background: true })
      const agent = worker(Layer.provide(model, client))
      return { use: isLeft ? Effect.timeoutOption(agent("go"), 5) : agent("go") }
    })
})

const ofEffect: Feature = {
  name: "a model of effect/ai",
  prepare: (around) =>
    Effect.sync(() => ({
      use: Effect.gen(function* () {
        const script = yield* Theirs.make(Theirs.calls(Theirs.call("look", {})), Theirs.says("done"))
        yield* looking(around)("go").pipe(Effect.provide(EffectAi.model()), Effect.provide(script.layer))
      })
    }))
}

const toEffect: Feature = {
  name: "a model for effect/ai",
  prepare: () =>
    Effect.gen(function* () {
      const model = yield* EffectAi.toLanguageModel(serviceOf(() => Effect.succeed(replyOf([]))))
      const read = LanguageModel.streamText({ prompt: Prompt.make("go") })
      const asked = LanguageModel.generateText({ prompt: Prompt.make("go") })
      const use = Effect.andThen(asked, Stream.runHead(read))
      return { use: Effect.provideService(use, LanguageModel.LanguageModel, model) }
    })
}

/** A model of the AI SDK, whole and as a stream that its reader leaves. */
const ofSdk: Feature = {
  name: "a model of the AI SDK",
  prepare: () =>
    Effect.sync(() => ({
      use: Effect.gen(function* () {
        const { model } = Script.scripted("v3", [Script.says("do", "ne"), Script.says("do", "ne")])
        const agent = Agent.make("worker", { model: AiSdkModel.layer(model), modelIdle: 0 })
        yield* agent("go")
        yield* Stream.runHead(Stream.filter(agent.stream("go"), ({ type }) => type === "text-delta"))
      })
    }))
}

/** A model of the AI SDK that never answers. */
const silent: Feature = {
  name: "a model of the AI SDK that is interrupted",
  prepare: () =>
    Effect.sync(() => ({
      use: Effect.suspend(() => {
        const { model } = Script.scripted("v3", ["silence"])
        return Effect.timeoutOption(Agent.make("worker", { model: AiSdkModel.layer(model), modelIdle: 0 })("go"), 1)
      })
    }))
}

/** A tool of the AI SDK that listens to its signal. */
const toolOfSdk: Feature = {
  name: "a tool of the AI SDK",
  prepare: ({ emitter }) =>
    Effect.sync(() => {
      const tool = AiSdk.tool("look", {
        description: "Looks.",
        inputSchema: { jsonSchema: { type: "object" as const, properties: {} } },
        execute: async (_: unknown, { abortSignal }: { readonly abortSignal: AbortSignal }) => {
          const stop = () => {}
          emitter.on("data", stop)
          abortSignal.addEventListener("abort", stop)
          await Promise.resolve()
          emitter.off("data", stop)
          return "seen"
        }
      })
      return { use: Effect.provide(Agent.make("worker", { tools: [tool] })("go"), calling(call("look"))) }
    })
}

const planned: Feature = {
  name: "a plan of Effect as a model",
  prepare: () =>
    Effect.sync(() => {
      const plan = ExecutionPlan.make(
        { provide: layerOf(() => Effect.fail(overloaded)), attempts: 2, schedule: Schedule.spaced(1) },
        { provide: layerOf(() => Effect.succeed(replyOf([]))) }
      )
      return { use: Agent.make("worker", { model: ExecutionPlans.toModel(plan), modelIdle: 0 })("go") }
    })
}

const seats = RpcGroup.make(Rpc.make("free", { success: Schema.Array(Schema.Int) }))

/** Tools of an API that is declared, of one with a document, and of procedures. */
const ofApis: Feature = {
  name: "tools of APIs",
  prepare: () =>
    Effect.gen(function* () {
      const { books_buy } = HttpApiTools.fromApi(Shop)
      const { asked, layer } = shopAt(handler())
      const document = documentOf({ ...bodyOf({ type: "object" }), operationId: "things" })
      const options = { name: "things", hosts: ["http://api.things.test"] }
      const { tools } = yield* Effect.orDie(DocumentTools.fromDocument(document, options))
      const answering = shopAt(() => Response.json("seen"))
      const handlers = yield* Layer.build(seats.toLayer({ free: () => Effect.succeed([1]) }))
      const client = yield* Effect.provideContext(RpcTest.makeClient(seats), handlers)
      const { free } = RpcTools.fromGroup(seats, client)
      const use = Effect.gen(function* () {
        // what the fake servers were asked is in their own lists
        asked.splice(0)
        answering.asked.splice(0)
        const order = { payload: { isbn: "1", copies: 2 } }
        yield* Effect.provide(Tool.call(books_buy, order), Layer.provide(authorised(), layer))
        for (const tool of tools) yield* Effect.provide(Tool.call(tool, { body: {} }), answering.layer)
        yield* Tool.call(free, {})
      })
      return { use }
    })
}

const server: Feature = {
  name: "a server of MCP",
  prepare: (around) =>
    Effect.gen(function* () {
      const layer = yield* ours({ tools: [look(around)] })
      const connected = yield* Effect.orDie(Effect.provide(Mcp.connect("ours", Mcp.http({ url })), layer))
      return { use: calls(connected, "look") }
    })
}

/** A server that forgets its sessions: each call is one of a new session. */
const forgetful: Feature = {
  name: "a call of MCP in a new session",
  prepare: () =>
    Effect.gen(function* () {
      const fake = sessions()
      const connected = yield* Effect.orDie(Effect.provide(Mcp.connect("shop", Mcp.http({ url })), fake.layer))
      const use = Effect.suspend(() => {
        fake.sent.splice(0)
        fake.ran.splice(0)
        fake.forget()
        return calls(connected, "sell")
      })
      return { use }
    })
}

const spawner = NodeChildProcessSpawner.layer.pipe(Layer.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)))

const program = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line)
  const tell = (result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n")
  const identity = { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } }
  if (method === "initialize") tell(identity)
  if (method === "tools/list") tell({ tools: [{ name: "look", inputSchema: { type: "object" } }] })
  if (method === "tools/call") tell({ content: [{ type: "text", text: "seen" }] })
  if (method === "server/discover")
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }) + "\\n")
})`

const spawned: Feature = {
  name: "a process that is a server of MCP",
  most: 40,
  warmUp: 3,
  prepare: () =>
    Effect.sync(() => {
      const command = Mcp.stdio({ command: process.execPath, args: ["-e", program] })
      const use: Effect.Effect<unknown, unknown, Scope.Scope> = Effect.gen(function* () {
        const connected = yield* Mcp.connect("program", command)
        yield* calls(connected, "look")
      }).pipe(Effect.provide(spawner))
      return { use }
    })
}

export const foreign: ReadonlyArray<Feature> = [
  remote(
    "a model over HTTP",
    () => undefined,
    { retry: false },
    (agent) => agent()("go")
  ),
  remote(
    "a model over HTTP that is sent again",
    (nth) => (nth % 2 === 1 ? Fault.status(503, "busy") : undefined),
    patient,
    (agent) => agent()("go")
  ),
  remote(
    "a model over HTTP that is late",
    () => Fault.cut("nothing", "silence"),
    { requestTimeout: 3, retry: false },
    (agent) => Effect.flip(agent()("go"))
  ),
  remote(
    "a stream over HTTP that is left",
    () => undefined,
    { retry: false },
    (agent) => Stream.runHead(Stream.filter(agent().stream("go"), ({ type }) => type === "text-delta"))
  ),
  background(false),
  background(true),
  ofEffect,
  toEffect,
  ofSdk,
  silent,
  toolOfSdk,
  planned,
  ofApis,
  server,
  forgetful,
  spawned
]
