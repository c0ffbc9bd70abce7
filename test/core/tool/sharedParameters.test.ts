/** What has read the parameters of a call cannot change what others read: policies, predicates, approvers, attempts, events. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer, Schema, SchemaTransformation } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, busy, done, eventLog, fixer, gone } from "../../_support/dialogue.ts"
import { only } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

class Address extends Schema.Class<Address>("Address")({ street: Schema.String }) {}

/** Plain parts and others, as a model writes them and as a tool gets them. */
const Params = Schema.Struct({
  amount: Schema.Int,
  to: Schema.Struct({ name: Schema.String, tags: Schema.Array(Schema.String) }),
  note: Schema.Unknown,
  at: Schema.DateFromString,
  rates: Schema.ReadonlyMap(Schema.String, Schema.Finite),
  address: Address
})

type Params = typeof Params.Type

const written = {
  amount: 10,
  to: { name: "Ann", tags: ["friend"] },
  note: { deep: [{ er: 1 }] },
  at: "2027-01-01T00:00:00.000Z",
  rates: [["EUR", 1]],
  address: { street: "Elm" }
}

const shown = (params: unknown) => {
  const { address, amount, at, note, rates, to } = params as Params
  return JSON.stringify([amount, to, note, at.toISOString(), [...rates], address.street])
}

const original = JSON.stringify([10, written.to, written.note, written.at, written.rates, "Elm"])

/** Writes wherever it can, and says where it could. */
const spoil = (value: unknown, path = "params"): ReadonlyArray<string> => {
  if (value instanceof Date) return [`${path}: ${value.setTime(0)}`]
  if (value instanceof Map) return [`${path}: ${value.set("EUR", 9).size}`]
  if (typeof value !== "object" || value === null) return []
  const nested = Object.entries(value).flatMap(([key, field]) => spoil(field, `${path}.${key}`))
  const isWritten = Object.keys(value).some((key) => Reflect.set(value, key, "spoilt"))
  return isWritten || Reflect.set(value, "more", 1) ? [...nested, path] : nested
}

/** A tool that notes what it got, then writes into it and fails, but for its last run. */
const spoiling = (times = 2) => {
  const runs: Array<string> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Params,
    success: Schema.String,
    run: (params) =>
      Effect.suspend(() => {
        runs.push(shown(params))
        assert.deepStrictEqual(spoil(params), ["params.at: 0", "params.rates: 1", "params.address"])
        return runs.length < times ? Effect.fail(busy()) : Effect.succeed("paid")
      })
  }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: times - 1 }) }))
  return { runs, tool }
}

const forms = { "an object": () => structuredClone(written), "a text": () => JSON.stringify(written) }

it.run("each attempt gets the parameters as they were decoded, though the one before wrote into them [P1396]", (run) =>
  Effect.gen(function* () {
    for (const form of Object.values(forms)) {
      const { runs, tool } = spoiling(3)
      const model = yield* make(calls(call("pay", form())), done)
      yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(runs, [original, original, original])
    }
  })
)

it.run("policies and predicates that mutate parameters change only their own copy [P1396]", (run) =>
  Effect.gen(function* () {
    for (const form of Object.values(forms)) {
      const { runs, tool } = spoiling(1)
      const read: Array<string> = []
      const reading = (params: unknown) => {
        read.push(shown(params))
        spoil(params)
      }
      const approving = Tool.requireApproval({ when: (params: Params) => (reading(params), false) })
      const asked: Array<unknown> = []
      const approver = Approval.layer(({ arguments: args }) =>
        Effect.sync(() => (asked.push(structuredClone(args)), spoil(args), Approval.approve))
      )
      const policy = Agent.toolPolicy(({ arguments: args, params }) => {
        reading(params)
        spoil(args)
        return ToolPolicy.allow
      })
      const guarded = tool.pipe(approving, approving, Tool.requireApproval())
      const model = yield* make(calls(call("pay", form())), done)
      const agent = agentWith(guarded).pipe(policy, policy)
      yield* run(agent, "go").pipe(Effect.provide(Layer.mergeAll(model.layer, approver)))
      assert.deepStrictEqual(read, [original, original, original, original])
      assert.deepStrictEqual(asked, [written])
      assert.deepStrictEqual(runs, [original])
    }
  })
)

it.run("events, rows, listeners and compensations read the parameters as decoded [P1396]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const read: Array<string> = []
    const noting = (params: unknown) => void read.push(shown(params))
    const { runs, tool } = spoiling(2)
    const undoable = tool.pipe(
      Tool.onError({
        Busy: Recovery.when((_, { params }) => {
          noting(params)
          spoil(params)
          return Recovery.retry({ retries: 1 })
        })
      }),
      Tool.compensate(({ params }) => Effect.sync(() => noting(params)))
    )
    const failing = Tool.make("fail", {
      description: "Fails.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.fail(gone())
    })
    const agent = agentWith(undoable, failing).pipe(
      Agent.onToolUse((_, __, { params }) => Effect.sync(() => noting(params))),
      log.listen
    )
    const sent = forms["an object"]()
    const model = yield* make(calls(call("pay", sent)), calls(call("fail", {})))
    yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(runs, [original, original])
    assert.deepStrictEqual(read, [original, original, original])
    assert.deepStrictEqual(
      only(log.all, "tool-end").map(({ use }) => shown(use.params)),
      [original]
    )
    // nor what the model has said, of which a field of any kind is a part
    assert.deepStrictEqual(sent, written)
  })
)

it.run("what a fixer or an approver has put in their place is shared in the same way [P1396]", (run) =>
  Effect.gen(function* () {
    const { agent: fixing } = fixer(Effect.succeed(JSON.stringify(written)))
    const { runs, tool } = spoiling(3)
    const repaired = tool.pipe(Tool.onError({ DeserializationError: Recovery.fix(fixing) }), Tool.requireApproval())
    const approver = Approval.layer(() => Effect.succeed(Approval.approveWith(forms["an object"]())))
    const model = yield* make(calls(call("pay", { amount: "much" })), done)
    yield* run(agentWith(repaired), "go").pipe(Effect.provide(Layer.mergeAll(model.layer, approver)))
    assert.deepStrictEqual(runs, [original, original, original])
  })
)

it.run("plain parameters are one frozen value for all readers, decoded once [P1396 P102]", (run) =>
  Effect.gen(function* () {
    let decodes = 0
    const counted = Schema.Struct({ list: Schema.Array(Schema.Struct({ n: Schema.Int })) }).check(
      Schema.makeFilter(() => {
        decodes++
        return true
      })
    )
    const read: Array<unknown> = []
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: counted,
      success: Schema.String,
      run: (params) => Effect.suspend(() => (read.push(params) < 3 ? Effect.fail(busy()) : Effect.succeed("paid")))
    }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }) }))
    const agent = agentWith(tool).pipe(Agent.toolPolicy(({ params }) => (read.push(params), ToolPolicy.allow)))
    const model = yield* make(calls(call("pay", '{"list":[{"n":1}]}')), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(new Set(read).size, 1)
    assert.strictEqual(decodes, 1)
    assert.deepStrictEqual(spoil(read[0]), [])
    assert.throws(() => Object.assign(read[0] as object, { list: [] }), TypeError)
  })
)

it.run("a schema that refuses at the second time what it took is a defect with the name of the tool [P1396]", (run) =>
  Effect.gen(function* () {
    let decodes = 0
    const once = Schema.Struct({ at: Schema.DateFromString }).check(Schema.makeFilter(() => ++decodes === 1))
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: once,
      success: Schema.String,
      run: () => Effect.succeed("paid")
    })
    const reading = agentWith(tool).pipe(
      Agent.toolPolicy(({ params }) =>
        params === undefined ? ToolPolicy.deny("nothing is asked for") : ToolPolicy.allow
      )
    )
    const model = yield* make(calls(call("pay", { at: written.at })))
    const exit = yield* Effect.exit(run(reading, "go").pipe(Effect.provide(model.layer)))
    assert(Exit.isFailure(exit))
    assert.strictEqual(
      String(Cause.squash(exit.cause)),
      "TypeError: Tool 'pay': the parameter schema decoded these arguments once and refused them the second time"
    )
  })
)

it.effect("a tool that is called alone gets frozen parameters too [P1396]", () =>
  Effect.gen(function* () {
    const { runs, tool } = spoiling(2)
    yield* Effect.retry(Tool.call(tool, written), { times: 1 })
    assert.deepStrictEqual(runs, [original, original])
  })
)

/** What a tool gets whose only parameter decodes to this value. */
const given = (value: unknown) =>
  Effect.gen(function* () {
    const got: Array<unknown> = []
    const decoding = SchemaTransformation.transform({ decode: (): unknown => value, encode: (): unknown => 0 })
    const tool = Tool.make("open", {
      description: "Takes anything.",
      parameters: Schema.Struct({ value: Schema.Unknown.pipe(Schema.decodeTo(Schema.Unknown, decoding)) }),
      success: Schema.Finite,
      run: ({ value }) => Effect.succeed(got.push(value))
    })
    yield* Tool.call(tool, { value: 0 })
    return got[0]
  })

it.effect("a value of any depth or width is frozen to its end [P1396]", () =>
  Effect.gen(function* () {
    const levels = 100_000
    let deep: ReadonlyArray<unknown> = []
    for (let level = 1; level < levels; level++) deep = [deep]
    let frozen = 0
    for (let at = yield* given(deep); Array.isArray(at); at = at[0]) if (Object.isFrozen(at)) frozen++
    assert.strictEqual(frozen, levels)
    const wide = yield* given(Array.from({ length: levels }, (_, n) => ({ n })))
    assert.isTrue(Array.isArray(wide) && wide.length === levels && wide.every((item) => Object.isFrozen(item)))
  })
)

it.effect("what a schema has frozen at its top, or has tied into a ring, is frozen below [P1396]", () =>
  Effect.gen(function* () {
    const inner = { n: 1, self: undefined as unknown }
    inner.self = inner
    const ring = Object.freeze({ inner, copies: [inner, inner] })
    assert.strictEqual(yield* given(ring), ring)
    assert.isTrue(Object.isFrozen(inner) && Object.isFrozen(ring.copies))
  })
)
