/** The contract of an agent: its schemas, its endpoints and procedures. */
import { assert, it } from "@effect/vitest"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as ConversationProxy from "@kintsugi/interop/ConversationProxy"
import { Effect, Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { refused } from "../../../packages/interop/src/proxy/unfit.ts"
import { Named, Signed } from "./_support/served.ts"

const desk = AgentProxy.make("desk")

it("inputs, outputs and failures are texts and none, unless the contract says otherwise [P1850]", () => {
  const other = AgentProxy.make("shop", { input: Schema.Finite, output: Schema.Boolean, error: Schema.Literal("no") })
  const is = (schema: unknown, ...values: ReadonlyArray<unknown>) =>
    values.map((value) => Schema.is(schema as Schema.Codec<unknown, unknown>)(value))
  assert.deepStrictEqual([desk.name, other.name], ["desk", "shop"])
  assert.deepStrictEqual(
    [is(desk.input, "a", 7), is(other.input, "a", 7)],
    [
      [true, false],
      [false, true]
    ]
  )
  assert.deepStrictEqual(
    [is(desk.output, "a", true), is(other.output, "a", true)],
    [
      [true, false],
      [false, true]
    ]
  )
  assert.deepStrictEqual([is(desk.error, "no"), is(other.error, "no", "yes")], [[false], [true, false]])
  assert.notStrictEqual(desk.runs.key, other.runs.key)
  assert.strictEqual(desk.runs.key, AgentProxy.make("desk").runs.key)
})

/** The method and the path of each endpoint of a group. */
const routesOf = (endpoints: object) =>
  Object.values(endpoints as Record<string, { identifier: string; method: string; path: string }>).map(
    ({ identifier, method, path }) => `${identifier}: ${method} ${path}`
  )

it("a group has all endpoints under the name of the contract, or some under another name [P1850]", () => {
  assert.deepStrictEqual(routesOf(AgentProxy.toHttpApiGroup(desk, Signed).endpoints), [
    "ask: POST /desk",
    "stream: POST /desk/stream",
    "show: GET /desk/:run",
    "events: GET /desk/:run/events",
    "decide: POST /desk/:run/decisions",
    "say: POST /desk/:run/messages",
    "stop: DELETE /desk/:run"
  ])
  const part = AgentProxy.toHttpApiGroup(desk, Signed, { id: "people", only: ["decide", "show"] })
  assert.deepStrictEqual(routesOf(part.endpoints), ["show: GET /people/:run", "decide: POST /people/:run/decisions"])
})

it("the document of an API says how a reader of events goes on, by a parameter or as `EventSource` does [P1851]", () => {
  const { paths } = OpenApi.fromApi(
    HttpApi.make("api").add(AgentProxy.toHttpApiGroup(desk, Signed, { only: ["events"] }))
  )
  const parameters = paths["/desk/{run}/events"]?.get?.parameters ?? []
  assert.deepStrictEqual(
    parameters.map((one) => [one.in, one.name, one.required]),
    [
      ["path", "run", true],
      ["header", "last-event-id", false],
      ["query", "after", false]
    ]
  )
})

it.effect("a payload that lacks a field is handed to no procedure, and the refusal names the field [P1852]", () =>
  Effect.gen(function* () {
    const lacking = (group: { readonly requests: ReadonlyMap<string, unknown> }) =>
      Effect.forEach([...group.requests], ([name, rpc]) => {
        // cast: each procedure has the schema of its payload
        const { payloadSchema } = rpc as { readonly payloadSchema: Schema.Codec<unknown, unknown> }
        const refusal = Effect.flip(Effect.flatMap(Schema.decodeUnknownEffect(payloadSchema)({}), refused))
        return Effect.map(refusal, (error) => {
          assert(error._tag === "UnfitRequestError")
          return `${name}: ${error.issues.map(({ path }) => path).join()}`
        })
      })
    assert.deepStrictEqual(yield* lacking(AgentProxy.toRpcGroup(desk, Named)), [
      "ask: input",
      "stream: input",
      "show: run",
      "events: run",
      "decide: run",
      "say: run",
      "stop: run"
    ])
    assert.deepStrictEqual(yield* lacking(ConversationProxy.toRpcGroup(ConversationProxy.make("desk"), Named)), [
      "send: conversation",
      "say: conversation",
      "state: conversation",
      "edit: conversation",
      "withdraw: conversation",
      "answer: conversation",
      "events: conversation",
      "decide: conversation",
      "queued: conversation",
      "interrupt: conversation",
      "history: conversation"
    ])
  })
)
