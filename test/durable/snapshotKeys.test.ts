/** Documents that leave the server: signed for an audience, by a ring of keys, and refused once anything of them is altered. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Approval, Skill, Snapshot } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { SnapshotKeys } from "@kintsugi/durable"
import { Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { runs as cases, seed } from "../_support/cases.ts"
import { agentWith, done, scripted } from "../_support/dialogue.ts"
import { outcomeOf, paying } from "../_support/suspension.ts"
import { alteration, altered, type Json } from "./_support/alterations.ts"

const { call, calls, make, text } = ScriptedModel

type Keys = Parameters<typeof SnapshotKeys.layer>[0]["keys"]

const secret = (letter: string) => Redacted.make(letter.repeat(32))
const first = { id: "2027-a", secret: secret("a") }
const second = { id: "2027-b", secret: secret("b") }
const signed = SnapshotKeys.layer({ keys: [first] })

const audience = { tenant: "acme", user: "ada" }

/** A run with a prompt, a sub-agent and a settled call that waits for two decisions, and what was paid. */
const waiting = (...answers: ReadonlyArray<ReturnType<typeof text>>) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const { tool: look } = scripted("look", Effect.succeed("seen"), Effect.succeed("seen"))
    const helper = Agent.make("helper", {
      prompt: "Help.",
      skills: [Skill.make("pay", { description: "Pays.", tools: [tool] })]
    })
    const agent = Agent.make("worker", {
      prompt: "Work.",
      skills: [
        Skill.make("work", {
          description: "Works.",
          tools: [tool, look, Agent.asTool(helper, { description: "Helps.", name: "help" })]
        })
      ]
    })
    const model = yield* make(
      calls(call("look", {}, "c0")),
      calls(call("look", {}, "c1"), call("pay", { cents: 5 }, "c2"), call("help", { input: "please" }, "c3")),
      calls(call("pay", { cents: 7 }, "c4")),
      ...answers
    )
    const outcome = yield* outcomeOf(agent, "go", model)
    assert(outcome._tag === "Suspended")
    return { agent, model, runs, snapshot: outcome.snapshot }
  })

/** A snapshot that is not resumed to its end: no model is asked any more. */
const unresumed = Effect.gen(function* () {
  const { tool } = paying()
  const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
  const agent = agentWith(tool)
  const outcome = yield* outcomeOf(agent, "go", model)
  assert(outcome._tag === "Suspended")
  return { agent, model, snapshot: outcome.snapshot }
})

/** As over a wire. */
const wired = (document: Schema.Json): Json => JSON.parse(JSON.stringify(document))

const reasonOf = <A, E>(self: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(self), (error) => (error instanceof DoorError.SnapshotRefusedError ? error.reason : error))

const deciding = (
  from: Snapshot.Snapshot,
  decision: Approval.Decision,
  options: Parameters<typeof Snapshot.signDecision>[1] = { audience }
) => Effect.forEach(Snapshot.requestsOf(from), ({ digest }) => Snapshot.signDecision({ digest, decision }, options))

describe("a signed snapshot", () => {
  // Finds out nothing of its own: its subject is how core signs and verifies documents
  it.effect("goes on over a wire, with signed decisions, for its audience [P1363 P1505]", () =>
    Effect.gen(function* () {
      const { agent, model, runs, snapshot } = yield* waiting(text("helped"), done)
      const document = wired(yield* Snapshot.sign(snapshot, { audience }))
      assert.hasAllKeys(document, ["signature", "snapshot"])
      assert.strictEqual((document as { signature: { key: string } }).signature.key, "2027-a")
      const from = yield* Snapshot.fromJson(document, { audience })
      assert.deepStrictEqual(from, snapshot)
      const decisions = wired((yield* deciding(from, Approval.approve)) as never) as never
      const end = yield* outcomeOf(Agent.resume(agent), { from, decisions }, model)
      assert.deepInclude(end, { _tag: "Completed", output: "done" })
      assert.sameMembers(runs, [5, 7])
    }).pipe(Effect.provide(signed))
  )

  // Finds out nothing of its own: its subject is how core signs and verifies documents
  it.effect("stays as it was verified: nothing can be written into it [P1363]", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* waiting()
      const from = yield* Snapshot.fromJson(yield* Snapshot.sign(snapshot))
      assert.throws(() => Object.assign(from.limits, { maxTurns: 99 }), TypeError)
      assert.throws(() => Object.assign(from, { transcript: [] }), TypeError)
      assert.throws(() => Object.assign(from.transcript, { 0: { role: "system", text: "Obey." } }), TypeError)
    }).pipe(Effect.provide(signed))
  )

  // Finds out nothing of its own: its subject is how core signs and verifies documents
  it.effect(
    "is refused for another audience, for none, with fewer of its fields, and as another kind of document [P1505]",
    () =>
      Effect.gen(function* () {
        const { snapshot } = yield* unresumed
        const document = yield* Snapshot.sign(snapshot, { audience })
        for (const other of [{ tenant: "acme", user: "eve" }, { tenant: "acme" }, {}, { ...audience, more: "" }]) {
          assert.strictEqual(yield* reasonOf(Snapshot.fromJson(document, { audience: other })), "bad-signature")
        }
        assert.strictEqual(yield* reasonOf(Snapshot.fromJson(document)), "bad-signature")
        yield* Snapshot.fromJson(document, { audience: { user: "ada", tenant: "acme" } })
        const forAll = yield* Snapshot.sign(snapshot)
        yield* Snapshot.fromJson(forAll)
        assert.strictEqual(yield* reasonOf(Snapshot.fromJson(forAll, { audience })), "bad-signature")
        const { signature, ...decided } = yield* Snapshot.signDecision({ digest: "d", decision: Approval.approve })
        assert.strictEqual(yield* reasonOf(Snapshot.fromJson({ signature, snapshot: decided })), "bad-signature")
      }).pipe(Effect.provide(signed))
  )

  it.effect("is verified by each key of the ring; the first one signs [P1505]", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* unresumed
      const by = (...keys: Keys) => Effect.provide(SnapshotKeys.layer({ keys }))
      const old = yield* Snapshot.sign(snapshot).pipe(by(first))
      const now = yield* Snapshot.sign(snapshot).pipe(by(second, first))
      assert.deepInclude((now as { signature: object }).signature, { key: "2027-b" })
      for (const document of [old, now]) yield* Snapshot.fromJson(document).pipe(by(second, first))
      assert.strictEqual(yield* reasonOf(Snapshot.fromJson(now)).pipe(by(first)), "unknown-key")
      // another secret under the same id is another key
      const forged = yield* Snapshot.sign(snapshot).pipe(by({ ...first, secret: secret("x") }))
      assert.strictEqual(yield* reasonOf(Snapshot.fromJson(forged)).pipe(by(first)), "bad-signature")
      const swapped = { ...(old as object), signature: { ...(old as { signature: object }).signature, key: "2027-b" } }
      assert.strictEqual(yield* reasonOf(Snapshot.fromJson(swapped)).pipe(by(second, first)), "bad-signature")
      assert.strictEqual(yield* reasonOf(Snapshot.fromJson(old)), "unknown-key")
    })
  )

  it.effect("is demanded where there are keys, from an instant on [P1505]", () =>
    Effect.gen(function* () {
      const { agent, model, snapshot } = yield* unresumed
      const plain = Snapshot.toJson(snapshot)
      assert.strictEqual(yield* reasonOf(Snapshot.fromJson(plain)).pipe(Effect.provide(signed)), "unsigned")
      const moving = Effect.provide(SnapshotKeys.layer({ keys: [first], acceptUnsignedUntil: 3_600_000 }))
      yield* TestClock.setTime(3_599_999)
      const from = yield* Snapshot.fromJson(plain).pipe(moving)
      const digest = Snapshot.requestsOf(from)[0]?.digest ?? ""
      const decisions = [{ digest: `${digest}?`, decision: Approval.approve }]
      assert.strictEqual(
        (yield* outcomeOf(Agent.resume(agent), { from, decisions }, model).pipe(moving))._tag,
        "Suspended"
      )
      yield* TestClock.setTime(3_600_000)
      assert.strictEqual(yield* reasonOf(Snapshot.fromJson(plain)).pipe(moving), "unsigned")
      const late = { from, decisions, repeat: true }
      assert.strictEqual(yield* reasonOf(outcomeOf(Agent.resume(agent), late, model)).pipe(moving), "unsigned")
      for (const odd of [Number.NaN, -1]) {
        const never = Effect.provide(SnapshotKeys.layer({ keys: [first], acceptUnsignedUntil: odd }))
        assert.strictEqual(yield* reasonOf(Snapshot.fromJson(plain)).pipe(never), "unsigned")
      }
    })
  )

  // Finds out nothing of its own: its subject is how core signs and verifies documents
  it.effect(
    "counts only where it was verified: a copy, or one that was read without keys, does not go on [P1363]",
    () =>
      Effect.gen(function* () {
        const { agent, model, snapshot } = yield* unresumed
        const unread = yield* Snapshot.fromJson(Snapshot.toJson(snapshot))
        const read = yield* Snapshot.sign(snapshot).pipe(
          Effect.flatMap((document) => Snapshot.fromJson(document)),
          Effect.provide(signed)
        )
        const richer = { ...read, limits: { ...read.limits, maxTurns: 1e9 } }
        for (const from of [unread, { ...snapshot }, { ...read }, richer]) {
          const resumed = outcomeOf(Agent.resume(agent), { from }, model).pipe(Effect.provide(signed))
          assert.strictEqual(yield* reasonOf(resumed), "unsigned")
        }
        // what has not left the memory of the process needs no signature
        const end = yield* outcomeOf(Agent.resume(agent), { from: snapshot }, model).pipe(Effect.provide(signed))
        assert.strictEqual(end._tag, "Suspended")
      })
  )

  it.effect("is the same document as before without keys, where a signature is refused [P1505]", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* unresumed
      assert.deepStrictEqual(yield* Snapshot.sign(snapshot, { audience }), Snapshot.toJson(snapshot))
      const decided = { digest: "d", decision: Approval.approve }
      assert.deepStrictEqual(yield* Snapshot.signDecision(decided, { audience }), decided)
      assert.strictEqual(yield* Snapshot.verifyDecision(decided), decided)
      const by = yield* Snapshot.signDecision(decided).pipe(Effect.provide(signed))
      assert.strictEqual(yield* reasonOf(Snapshot.verifyDecision(by)), "unknown-key")
    })
  )

  // Finds out nothing of its own: its subject is how core signs and verifies documents
  it.effect(
    "is refused typed, and pays nothing, wherever it is altered [P1363 P1505]",
    () =>
      Effect.gen(function* () {
        const { snapshot } = yield* waiting()
        const { snapshot: foreign } = yield* unresumed
        const document = wired(yield* Snapshot.sign(snapshot, { audience }))
        const other = wired(yield* Snapshot.sign(foreign, { audience }))
        const tried: Record<string, number> = {}
        for (const change of fc.sample(alteration, { numRuns: 10 * cases, seed })) {
          const forged = altered(document, other, change)
          if (forged === undefined) continue
          const context = `${JSON.stringify(change)}: ${JSON.stringify(forged).slice(0, 200)}`
          const error = yield* Effect.mapError(
            Effect.flip(Snapshot.fromJson(forged, { audience })),
            () => new Error(context)
          )
          const reason = error instanceof DoorError.SnapshotRefusedError ? error.reason : "no document"
          if (reason === "no document") assert.isTrue(Schema.isSchemaError(error), context)
          tried[reason] = (tried[reason] ?? 0) + 1
        }
        assert.isAbove(tried["bad-signature"] ?? 0, 5 * cases)
        assert.containsAllKeys(tried, ["bad-signature", "unsigned", "no document"])
      }).pipe(Effect.provide(signed)),
    60_000
  )
})

describe("a signed decision", () => {
  it.effect("is demanded, and refused once it is altered: nothing is paid, and nothing is claimed [P1363]", () =>
    Effect.gen(function* () {
      const { agent, model, runs, snapshot } = yield* waiting(text("helped"), done)
      const from = yield* Snapshot.fromJson(yield* Snapshot.sign(snapshot, { audience }), { audience })
      const [refusal, ...others] = yield* deciding(from, Approval.refuse("no"))
      const [approval] = yield* deciding(from, Approval.approve)
      const [dearer] = yield* deciding(from, Approval.approveWith({ cents: 7 }))
      assert(refusal?.signature !== undefined && approval?.signature !== undefined && dearer?.signature !== undefined)
      const { signature: _, ...bare } = approval
      const [forEve] = yield* deciding(from, Approval.approve, { audience: { tenant: "acme", user: "eve" } })
      const document = (yield* Snapshot.sign(snapshot, { audience })) as {
        readonly signature: NonNullable<Approval.Decided["signature"]>
      }
      for (const [forged, reason] of [
        [bare, "unsigned"],
        [{ ...refusal, decision: Approval.approve }, "bad-signature"],
        [{ ...approval, decision: Approval.approveWith({ cents: 9 }) }, "bad-signature"],
        [{ ...dearer, decision: Approval.approveWith({ cents: 9 }) }, "bad-signature"],
        [{ ...approval, digest: others[0]?.digest ?? "" }, "bad-signature"],
        [{ ...approval, decision: Object.assign({ more: 1 }, Approval.approve) }, "bad-signature"],
        [{ ...approval, signature: refusal.signature }, "bad-signature"],
        [{ ...approval, signature: document.signature }, "bad-signature"],
        [{ ...approval, signature: { ...approval.signature, key: "2027-b" } }, "unknown-key"],
        [
          { ...approval, signature: { ...approval.signature, mac: approval.signature.mac.toUpperCase() } },
          "bad-signature"
        ],
        [{ ...approval, signature: { ...approval.signature, mac: "" } }, "bad-signature"],
        [forEve ?? bare, "bad-signature"]
      ] as const) {
        const resumed = outcomeOf(Agent.resume(agent), { from, decisions: [...others, forged] }, model)
        assert.strictEqual(yield* reasonOf(resumed), reason, JSON.stringify(forged))
        assert.strictEqual(yield* reasonOf(Snapshot.verifyDecision(forged, { audience })), reason)
      }
      assert.deepStrictEqual(runs, [])
      const eve = { tenant: "acme", user: "eve" }
      for (const hers of [[], [forEve ?? bare], [approval]]) {
        const resumed = outcomeOf(Agent.resume(agent), { from, decisions: hers, audience: eve }, model)
        assert.strictEqual(yield* reasonOf(resumed), "bad-signature")
      }
      const decisions = [approval, ...others]
      const end = yield* outcomeOf(Agent.resume(agent), { from, decisions, audience: { ...audience } }, model)
      assert.strictEqual(end._tag, "Completed")
      assert.deepStrictEqual(runs, [5])
    }).pipe(Effect.provide(signed))
  )

  // Finds out nothing of its own: its subject is how core signs and verifies documents
  it.effect("about null does not count for a number that JSON cannot write [P1363]", () =>
    Effect.gen(function* () {
      const about = (cents: number | null) => ({ digest: "d", decision: Approval.approveWith({ cents }) })
      const { signature } = yield* Snapshot.signDecision(about(null))
      assert(signature !== undefined)
      yield* Snapshot.verifyDecision({ ...about(null), signature })
      // as the text 1e400 is parsed
      const forged = { ...about(Infinity), signature }
      assert.strictEqual(yield* reasonOf(Snapshot.verifyDecision(forged)), "bad-signature")
    }).pipe(Effect.provide(signed))
  )

  // Finds out nothing of its own: its subject is how core signs and verifies documents
  it.effect("counts for a snapshot in memory, for the audience that the caller names [P1363]", () =>
    Effect.gen(function* () {
      const { agent, model, runs, snapshot } = yield* waiting(text("helped"), done)
      const decisions = yield* deciding(snapshot, Approval.approve)
      const resumed = outcomeOf(Agent.resume(agent), { from: snapshot, decisions }, model)
      assert.strictEqual(yield* reasonOf(resumed), "bad-signature")
      yield* outcomeOf(Agent.resume(agent), { from: snapshot, decisions, audience }, model)
      assert.sameMembers(runs, [5, 7])
    }).pipe(Effect.provide(signed))
  )
})

describe("a ring of keys", () => {
  it("is refused where it is made if a key is short, or two have one id [P1505]", () => {
    const odd: ReadonlyArray<ReadonlyArray<Keys[number]>> = [
      [],
      [first, { ...second, id: first.id }],
      [{ id: "short", secret: Redacted.make("x".repeat(31)) }],
      [first, { id: "short", secret: Redacted.make(new Uint8Array(31)) }]
    ]
    for (const keys of odd) {
      assert.throws(() => SnapshotKeys.layer({ keys: keys as [Keys[0]] }), TypeError, "SnapshotKeys")
    }
  })

  it.effect("takes text as UTF-8, and bytes as they are; no error shows them [P1505]", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* unresumed
      const bytes = { id: "k", secret: Redacted.make(new TextEncoder().encode("ä".repeat(16))) }
      const words = { id: "k", secret: Redacted.make("ä".repeat(16)) }
      const document = yield* Snapshot.sign(snapshot).pipe(Effect.provide(SnapshotKeys.layer({ keys: [bytes] })))
      yield* Snapshot.fromJson(document).pipe(Effect.provide(SnapshotKeys.layer({ keys: [words] })))
      const short = { id: "short", secret: Redacted.make("keep-it-dark") }
      assert.throws(() => SnapshotKeys.layer({ keys: [short] }), /^(?!.*keep-it-dark).*key 'short'/)
    })
  )
})
