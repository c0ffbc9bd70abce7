/** Snapshots as documents: what is in one, and what a program with a signer refuses or accepts. */
import { assert, it } from "@effect/vitest"
import { Agent, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { type Signer, Signing } from "../../../packages/core/src/data/Signing.ts"
import { outcomeOf, paying } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

/** A signer whose code is the text itself. */
const signer: Signer = {
  sign: (text) => Effect.succeed({ key: "k", mac: text }),
  verify: (text, { mac }) => Effect.succeed(mac === text ? "valid" : "bad-signature")
}

/** A guarded run that waits for a decision about the first of two payments. */
const waiting = Effect.gen(function* () {
  const { tool } = paying({ validFor: "1 hour" })
  const agent = Agent.make("clerk", { tools: [tool] }).pipe(Agent.guardOutput(() => Agent.guard.pass))
  const model = yield* make(calls(call("pay", { cents: 1 }, "c1"), call("pay", { cents: 2 }, "c2")))
  const outcome = yield* outcomeOf(agent, "go", model)
  assert(outcome._tag === "Suspended")
  return { agent, snapshot: outcome.snapshot }
})

it.effect("a document has all that its snapshot has, and calls that have not begun under their own word [P903]", () =>
  Effect.gen(function* () {
    const { snapshot } = yield* waiting
    assert.deepStrictEqual(snapshot.guards, { unchecked: [], withheld: 0 })
    const document = JSON.parse(JSON.stringify(Snapshot.toJson(snapshot)))
    assert.deepStrictEqual<unknown>(
      JSON.parse(JSON.stringify(Snapshot.toJson(yield* Snapshot.fromJson(document)))),
      document
    )
    const { calls, ...unfinished } = document.unfinished
    const withCall = (call: unknown) => ({ ...document, unfinished: { ...unfinished, calls: [calls[0], call] } })
    const notBegun = { type: "not-begun" }
    const read = yield* Snapshot.fromJson(withCall(notBegun))
    assert.deepStrictEqual<unknown>(read.unfinished?.calls[1], notBegun)
    for (const type of ["", "begun"])
      assert.include(String(yield* Effect.flip(Snapshot.fromJson(withCall({ type })))), "SchemaError")
  })
)

/** A copy of the snapshot is refused; from the snapshot itself the run goes on, and waits as before. */
const goesOnFrom = (agent: Effect.Success<typeof waiting>["agent"], from: Snapshot.Snapshot) =>
  Effect.gen(function* () {
    const resume = (from: Snapshot.Snapshot) =>
      Effect.flatMap(make(), (model) => outcomeOf(Agent.resume(agent), { from }, model))
    const refused = String(yield* Effect.flip(resume({ ...from })))
    assert.include(refused, `The snapshot of run '${from.runId}' has no signature (unsigned)`)
    const outcome = yield* resume(from)
    assert(outcome._tag === "Suspended")
    assert.deepStrictEqual(Snapshot.requestsOf(outcome.snapshot), Snapshot.requestsOf(from))
  })

it.effect("with a signer a document needs its signature, and cannot be changed once it is read [P1505]", () =>
  Effect.gen(function* () {
    const { agent, snapshot } = yield* waiting
    const refused = yield* Effect.flip(Snapshot.fromJson(Snapshot.toJson(snapshot)))
    assert.include(String(refused), "The document has no signature (unsigned)")
    const signed = JSON.stringify(yield* Snapshot.sign(snapshot))
    const read = yield* Snapshot.fromJson(JSON.parse(signed))
    const unfrozen = (value: unknown, at = ""): ReadonlyArray<string> =>
      typeof value !== "object" || value === null
        ? []
        : [
            ...(Object.isFrozen(value) ? [] : [at]),
            ...Object.entries(value).flatMap(([key, inner]) => unfrozen(inner, `${at}/${key}`))
          ]
    assert.deepStrictEqual(unfrozen(read), [])
    yield* goesOnFrom(agent, read)
  }).pipe(Effect.provideService(Signing, signer))
)

it.effect("with a signer a run goes on from a snapshot of this very process, and from no copy of it [P1505]", () =>
  Effect.gen(function* () {
    const { agent, snapshot } = yield* waiting
    yield* goesOnFrom(agent, snapshot)
  }).pipe(Effect.provideService(Signing, signer))
)
