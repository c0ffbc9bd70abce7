/** What an agent goes on from, and what it refuses. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Message, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { type Signer, Signing } from "../../../packages/core/src/data/Signing.ts"
import { agentWith, batch, done, eventLog, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const pay = calls(call("pay", { cents: 5 }, "c1"))

/** A run that waits for a decision about a payment. */
const waiting = Effect.gen(function* () {
  const { runs, tool } = paying()
  const agent = agentWith(tool)
  const outcome = yield* outcomeOf(agent, "go", yield* make(pay))
  assert(outcome._tag === "Suspended")
  return { agent, runs, snapshot: outcome.snapshot }
})

/** A signer whose code is the text itself. */
const signer: Signer = {
  sign: (text) => Effect.succeed({ key: "k", mac: text }),
  verify: (text, { mac }) => Effect.succeed(mac === text ? "valid" : "bad-signature")
}

it.effect("a verified snapshot goes on for its own audience alone, with decisions for it [P1505]", () =>
  Effect.gen(function* () {
    const [eve, ada] = [{ user: "eve" }, { user: "ada" }]
    const { agent, runs, snapshot } = yield* waiting
    const document = yield* Snapshot.sign(snapshot, { audience: ada })
    const read = Snapshot.fromJson(document, { audience: ada })
    const [digest = ""] = Snapshot.requestsOf(snapshot).map((request) => request.digest)
    const decidedFor = (audience: { readonly user: string } | undefined) =>
      Snapshot.signDecision({ digest, decision: Approval.approve }, audience === undefined ? {} : { audience })
    const silent = yield* make()
    const what = `The snapshot of run '${snapshot.runId}'`
    const noSignature = "does not have the signature of its content and audience (bad-signature)"
    const refusals = [
      [{ from: yield* read, audience: eve, decisions: [yield* decidedFor(eve)] }, `${what} ${noSignature}`],
      [{ from: yield* read, audience: eve }, `${what} ${noSignature}`],
      [{ from: yield* read, decisions: [yield* decidedFor(eve)] }, `The decision about '${digest}' ${noSignature}`],
      [
        { from: yield* read, decisions: [yield* decidedFor(undefined)] },
        `The decision about '${digest}' ${noSignature}`
      ],
      [{ from: { ...(yield* read) } }, `${what} has no signature (unsigned)`]
    ] as const
    for (const [resumption, message] of refusals) {
      const error = yield* Effect.flip(outcomeOf(Agent.resume(agent), resumption, silent))
      assert.strictEqual(error.message.split(". ")[0], message)
    }
    assert.deepStrictEqual([silent.requests, runs], [[], []])
    for (const [options, count] of [
      [{ audience: ada }, 1],
      [{ repeat: true }, 2],
      [{ audience: { user: "ada" }, repeat: true }, 3]
    ] as const) {
      const decisions = [yield* decidedFor(ada)]
      const model = yield* make(done)
      const end = yield* outcomeOf(Agent.resume(agent), { from: yield* read, decisions, ...options }, model)
      assert.deepInclude(end, { _tag: "Completed", output: "done" })
      assert.lengthOf(runs, count)
    }
    // a snapshot that was never a document has no audience of its own
    const never = { from: snapshot, audience: ada, repeat: true }
    const foreign = outcomeOf(Agent.resume(agent), { ...never, decisions: [yield* decidedFor(eve)] }, silent)
    assert.deepInclude(yield* Effect.flip(foreign), { reason: "bad-signature" })
    const own = outcomeOf(Agent.resume(agent), { ...never, decisions: [yield* decidedFor(ada)] }, yield* make(done))
    assert.deepInclude(yield* own, { _tag: "Completed", output: "done" })
  }).pipe(Effect.provideService(Signing, signer))
)

it.effect("what is no snapshot and no transcript is refused as such [P1585]", () =>
  Effect.gen(function* () {
    const { agent, snapshot } = yield* waiting
    // as a program without types does
    const resume = Agent.resume(agent) as unknown as { readonly start: (input: unknown) => never }
    for (const from of [undefined, null, 5, "go", {}, [5], { ...snapshot, version: 0 }]) {
      const error: unknown = yield* Effect.flip(outcomeOf(resume, { from }, yield* make()))
      assert.deepInclude(error, { _tag: "SnapshotRefusedError", reason: "malformed" })
      assert.include(
        String(error),
        "The value is not what a run of this version goes on with: read a document with Snapshot.fromJson (malformed)"
      )
    }
  })
)

it.run("a snapshot whose last message is incomplete goes on as its run without that message [P1563]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const log = eventLog()
    const agent = agentWith(tool).pipe(
      Agent.withBudget({ maxTurns: 1 }),
      Agent.onBudgetExceeded(() => Budget.checkpoint),
      log.listen
    )
    const suspended = yield* snapshotOf(yield* outcomeOf(agent, "go", yield* make(batch("look"))))
    const cut: Message.Assistant = { ...Message.assistant("half"), incomplete: true }
    const from = { ...suspended, transcript: [...suspended.transcript, cut] }
    const model = yield* make(done)
    const resumption = { from, incomplete: "drop", budget: { maxTurns: 5 } } as const
    assert.strictEqual(yield* run(Agent.resume(agent), resumption).pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(model.requests[0]?.messages, suspended.transcript)
    const [first, second] = log.of("run-start")
    assert.strictEqual(second?.runId, first?.runId)
  })
)

it.effect("an agent that goes on from a snapshot is a tool that goes on from it, and waits in its process", () =>
  Effect.gen(function* () {
    for (const isDecided of [true, false]) {
      const { agent, runs, snapshot } = yield* waiting
      const goingOn = Agent.asTool(Agent.resume(agent), {
        name: "go_on",
        description: "Goes on.",
        parameters: Schema.Struct({}),
        toInput: () => (isDecided ? deciding(snapshot) : { from: snapshot })
      })
      const model = yield* make(batch("go_on"), done, done)
      const approving = Approval.layer(() => Effect.succeed(Approval.approve))
      const end = yield* outcomeOf(agentWith(goingOn), "go", model).pipe(Effect.provide(approving))
      assert.deepInclude(end, { _tag: "Completed", output: "done" })
      assert.deepStrictEqual(settlements(model.requests[2]?.messages ?? []), ["result: done"])
      assert.deepStrictEqual(model.requests[1]?.messages.slice(0, snapshot.transcript.length), snapshot.transcript)
      assert.deepStrictEqual(runs, [5])
    }
  })
)
