/** What no migration changes: a decision is about what the person was asked, and an unsafe tool that has begun does not run again. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Logger, Option, Schema } from "effect"
import * as signing from "./_support/changing.ts"
import { New, Old, quiet, saying, Seen, usual } from "./_support/changing.ts"
import { process, watched } from "./_support/engines.ts"
import { call } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

/** A clerk whose tool pays. */
const parts = (sideEffects: "unsafe" | "idempotent", does: Effect.Effect<string, Busy>) => {
  const seen = new Seen()
  const run = (params: unknown, { idempotencyKey: key }: Tool.ToolContext) =>
    Effect.andThen(
      Effect.sync(() => seen.ran.push({ tool: "pay", params, key })),
      does
    )
  return {
    seen,
    about: { description: "Pays.", success: Schema.String, failure: Busy, sideEffects, run },
    agent: { model: saying(seen, [[call("pay", { id: "A" })]]), budget: { maxDuration: "30 days" } } as const,
    options: {
      name: "clerk",
      input: Schema.String,
      output: Schema.String,
      onApproval: (one: Durable.DurableRequest) => Effect.sync(() => void seen.asked.push(one))
    } as const
  }
}

const table = Tool.onError({ Busy: Recovery.ask({ validFor: "9 days" }) })

/** The clerk before the change: it pays with approval. */
const before = (does: Effect.Effect<string, Busy>) => {
  const { about, agent, options, seen } = parts("unsafe", does)
  const pay = Tool.make("pay", { ...about, parameters: Old }).pipe(table, Tool.requireApproval({ validFor: "9 days" }))
  return { seen, durable: Durable.workflow(Agent.make("clerk", { ...agent, tools: [pay] }), options) }
}

/** The clerk after the change: it pays without approval. */
const after = (sideEffects: "unsafe" | "idempotent") => {
  const { about, agent, options, seen } = parts(sideEffects, Effect.succeed("paid"))
  const pay = Tool.make("pay", { ...about, parameters: New }).pipe(table)
  const calls = [Durable.migrateCall({ from: { tool: "pay", parameters: Old }, to: pay, migrate: usual })]
  const durable = Durable.workflow(Agent.make("clerk", { ...agent, tools: [pay] }), {
    ...options,
    migrations: [{ calls }]
  })
  return { seen, durable }
}

/** Approves the call in a process of the first clerk. Once that has paid, the second clerk takes over. */
const approved = (first: ReturnType<typeof before>, second: ReturnType<typeof after>) =>
  Effect.gen(function* () {
    const stop = yield* process(first.durable.layer)
    const id = yield* Durable.start(first.durable, { id: "one", input: "go" })
    yield* quiet
    const [asked] = first.seen.asked
    assert.isDefined(asked)
    yield* Durable.decide(first.durable, asked, Approval.approve)
    yield* quiet
    assert.strictEqual(first.seen.ran.length, 1)
    yield* stop
    yield* process(second.durable.layer)
    yield* Durable.resume(second.durable, id)
    yield* quiet
    return id
  })

it.effect("the approval of a call does not answer what a person is asked about its failure [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    const [first, second] = [before(Effect.fail(new Busy({ message: "busy" }))), after("unsafe")]
    yield* Effect.provide(approved(first, second), layer)
    assert.deepStrictEqual(
      first.seen.asked.map(({ request }) => request.failed !== undefined),
      [false, true]
    )
    assert.deepStrictEqual(second.seen.ran, [])
    // the arguments have changed, so the person is asked again
    assert.deepStrictEqual(
      second.seen.asked.map(({ request }) => request.failed !== undefined),
      [true]
    )
  })
)

it.effect("an unsafe tool that has begun does not run again, also if the current tool may run twice [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    const [first, second] = [before(Effect.never), after("idempotent")]
    const ended = Effect.flatMap(approved(first, second), (id) => signing.failureOf(second, id))
    assert.strictEqual((yield* Effect.provide(ended, layer))._tag, "OutcomeUnknownError")
    assert.deepStrictEqual(second.seen.ran, [])
  })
)

it.effect("a request that a newer agent has withdrawn waits for that agent, also in an older process [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const contents = [[call("sign", { id: "A" })]]
      const newer = signing.after(contents, usual)
      const stop = yield* process(signing.before(contents).durable.layer)
      const id = yield* Durable.start(newer.durable, { id: "one", input: "go" })
      yield* quiet
      yield* stop
      const stopNewer = yield* process(newer.durable.layer)
      yield* Durable.resume(newer.durable, id)
      yield* quiet
      yield* stopNewer
      // the deployment is taken back
      const older = signing.before(contents)
      const stopOlder = yield* process(older.durable.layer)
      yield* Durable.resume(older.durable, id)
      yield* quiet
      assert.strictEqual(Option.getOrUndefined(yield* Durable.poll(older.durable, id))?._tag, "Suspended")
      assert.deepStrictEqual(older.seen.requests, [])
      yield* stopOlder
      const next = signing.after(contents, usual)
      yield* process(next.durable.layer)
      const [request] = newer.seen.asked
      assert.isDefined(request)
      yield* Durable.decide(next.durable, request, Approval.approve)
      yield* Durable.resume(next.durable, id)
      yield* quiet
      yield* signing.assertDone(next, id)
    }).pipe(Effect.provide(layer), Effect.provide(Logger.layer([])))
  })
)
