/** Tools of the AI SDK that write into what they are given, as theirs may: what was approved and recorded stays as it was. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import { Effect } from "effect"
import { agentWith, done, eventLog, overADay, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

interface Order {
  to: string
  items: Array<{ name: string; many?: number }>
}

const json = {
  type: "object" as const,
  properties: {
    to: { type: "string" as const },
    items: { type: "array" as const, items: { type: "object" as const } }
  },
  required: ["to", "items"]
}

/** Writes wherever it can. */
const spoil = (order: Order): void => {
  order.to = "the thief"
  order.items.push({ name: "gold" })
  for (const item of order.items) item.many = 1000
}

const asked = () => ({ to: "Ada", items: [{ name: "tea", many: 1 }] })
const spoilt = {
  to: "the thief",
  items: [
    { name: "tea", many: 1000 },
    { name: "gold", many: 1000 }
  ]
}

it.run("a tool writes into a copy of its own in each attempt; approved and recorded arguments stay [P1396]", (run) =>
  Effect.gen(function* () {
    const judged: Array<unknown> = []
    const got: Array<unknown> = []
    const tool = AiSdk.tool(
      "order",
      {
        inputSchema: { jsonSchema: json },
        needsApproval: (order: Order) => {
          spoil(order)
          judged.push(order)
          return true
        },
        execute: (order: Order) => {
          got.push(structuredClone(order))
          spoil(order)
          if (got.length === 1) throw new Error("once more")
          return order
        },
        toModelOutput: ({ input, output }: { readonly input: unknown; readonly output: unknown }) => {
          assert.deepStrictEqual(input, spoilt)
          return { type: "json", value: output }
        }
      },
      { sideEffects: "none", approval: true }
    ).pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1, initialBackoff: "1 millis" }) }))
    const shown: Array<unknown> = []
    const approver = Approval.layer(({ arguments: args }) =>
      Effect.sync(() => {
        shown.push(structuredClone(args))
        return Approval.approve
      })
    )
    const policies: Array<unknown> = []
    const log = eventLog()
    const agent = agentWith(tool).pipe(
      Agent.toolPolicy(({ arguments: args, params }) => {
        policies.push(structuredClone(args), structuredClone(params))
        return { type: "allow" } as const
      }),
      log.listen
    )
    const model = yield* make(calls(call("order", asked(), "c1")), done)
    yield* overADay(run(agent, "go").pipe(Effect.provide([approver, model.layer])))
    assert.deepStrictEqual(judged, [spoilt])
    assert.deepStrictEqual(got, [asked(), asked()])
    assert.deepStrictEqual(shown, [asked()])
    assert.deepStrictEqual(policies, [asked(), asked()])
    assert.deepStrictEqual(
      log.of("tool-end").map(({ use }) => [use.arguments, use.params]),
      [[asked(), asked()]]
    )
    assert.deepStrictEqual(
      log.of("approval-requested").map(({ request }) => request.arguments),
      [asked()]
    )
    assert.deepStrictEqual(read(model), [`result: ${JSON.stringify(spoilt)}`])
  })
)

const filled = (order: Order): Order => {
  for (const item of order.items) item.many ??= 2
  return order
}

const at = <A>(value: A): A => value
const later = <A>(value: A): Promise<A> => Promise.resolve(value)

/** Schemas that write defaults into what they check: standard ones and those of the SDK, at once and later. */
const filling = Object.entries({
  "a standard schema": (wrap: typeof at | typeof later) => ({
    "~standard": {
      version: 1,
      vendor: "test",
      jsonSchema: { input: () => json },
      validate: (order: Order) => wrap({ value: filled(order) })
    }
  }),
  "a schema of the SDK": (wrap: typeof at | typeof later) => ({
    jsonSchema: json,
    validate: (order: Order) => wrap({ success: true, value: filled(order) })
  })
}).flatMap(([name, make]) => [
  { name: `${name}, at once`, inputSchema: make(at) },
  { name: `${name}, later`, inputSchema: make(later) }
])

for (const { inputSchema, name } of filling) {
  it.run(`what a schema writes into what it checks is what the tool gets, and no more: ${name} [P1396]`, (run) =>
    Effect.gen(function* () {
      const got: Array<unknown> = []
      const tool = AiSdk.tool("order", {
        inputSchema,
        execute: (order: Order) => {
          got.push(structuredClone(order))
          spoil(order)
          return "ordered"
        }
      })
      const log = eventLog()
      const args = { to: "Ada", items: [{ name: "tea" }] }
      const model = yield* make(calls(call("order", structuredClone(args), "c1")), done)
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(got, [{ to: "Ada", items: [{ name: "tea", many: 2 }] }])
      assert.deepStrictEqual(
        log.of("tool-end").map(({ use }) => use.arguments),
        [args]
      )
      assert.deepStrictEqual(read(model), ["result: ordered"])
    })
  )
}

it.effect("a value that is not a plain object is shared, cycles and shared parts stay [P1396]", () =>
  Effect.gen(function* () {
    class City {
      readonly name: string
      constructor(name: string) {
        this.name = name
      }
    }
    const at = new Date(0)
    const city = new City("Paris")
    const seen: Array<Record<string, unknown>> = []
    const inputSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        jsonSchema: { input: () => json },
        validate: () => {
          const shared = { a: [1] }
          const ring: Record<string, unknown> = { at, city, one: shared, two: shared, make: Math.max }
          Object.defineProperty(ring, "__proto__", { value: { odd: true }, enumerable: true })
          ring["self"] = ring
          return { value: ring }
        }
      }
    }
    const tool = AiSdk.tool("order", {
      inputSchema,
      execute: (input: Record<string, unknown>) => void seen.push(input)
    })
    yield* Tool.call(tool, asked())
    const [got = {}] = seen
    assert.strictEqual(got["at"], at)
    assert.strictEqual(got["city"], city)
    assert.strictEqual(got["make"], Math.max)
    assert.strictEqual(got["self"], got)
    assert.strictEqual(got["one"], got["two"])
    assert.strictEqual(Object.getPrototypeOf(got), Object.prototype)
    assert.isTrue(Object.hasOwn(got, "__proto__"))
    assert.isFalse(Object.isFrozen(got["one"]))
  })
)
