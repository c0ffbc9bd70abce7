/** What JavaScript says to a run that is no message: the program that says it hears of it, and the run never sees it. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, type Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { type Cause, Effect, Exit } from "effect"
import { agentWith, batch, done } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { heard, slowTool, started } from "./_support/saying.ts"

/** The message of the defect with which an effect has ended. */
const defectOf = <A, E>(self: Effect.Effect<A, E>): Effect.Effect<string> =>
  Effect.map(Effect.exit(self), (exit) => {
    assert(Exit.isFailure(exit), "expected a defect")
    const [reason] = exit.cause.reasons
    assert(reason !== undefined && isDefect(reason), "expected a defect")
    assert.instanceOf(reason.defect, TypeError)
    return String(reason.defect)
  })

const { approve } = Approval

const isDefect = (reason: Cause.Reason<unknown>): reason is Cause.Die => reason._tag === "Die"

const none = "must be a text or a list of parts"
const blank = "must be more than blank, got ''"

/** What is no message, and why. */
const wrong: ReadonlyArray<readonly [unknown, string]> = [
  [5, `${none}, got number`],
  [undefined, `${none}, got undefined`],
  [null, `${none}, got null`],
  [{}, `${none}, got object`],
  [{ role: "user", content: [] }, `${none}, got object`],
  [["a"], `${none}, got a list`],
  [[{ type: "bogus" }], `${none}, got a list`],
  [[{ type: "image", mediaType: "image/png" }], `${none}, got a list`],
  ["", blank],
  [" \n ", blank],
  [[], blank],
  [[{ type: "text", text: " " }], blank]
]

const options: ReadonlyArray<readonly [unknown, string]> = [
  [null, "the second argument must be options, got null"],
  [{ interrupt: "all" }, "interrupt must be true, false, 'tools', got 'all'"],
  [{ supersede: "yes" }, "supersede must be true, false, got 'yes'"],
  [{ to: 5 }, "to must be the id of a run, got number"]
]

type Says = (message: unknown, options?: unknown) => Effect.Effect<string, unknown>

it.effect("what is no message, or has wrong options, is a defect of the caller that the run never sees [P1580]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const model = yield* ScriptedModel.make(batch("look"), done)
    const run = yield* started(agentWith(slow.tool).start("go"), model)
    // as a program without types does
    const say = run.say as Says
    yield* slow.begun
    for (const [message, why] of wrong) assert.include(yield* defectOf(say(message)), `agent 'worker': message ${why}`)
    for (const [given, why] of options) assert.include(yield* defectOf(say("stop", given)), `agent 'worker': ${why}`)
    yield* say([
      { type: "text", text: " " },
      { type: "image", mediaType: "image/png", data: "AAAA" }
    ])
    yield* slow.end
    assert.deepInclude(yield* run.outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(heard(model.requests.at(-1)?.messages ?? []), ["go", " "])
  })
)

it.effect("a run that is suspended after that can be read back and goes on [P1580]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }, "c1"), ScriptedModel.call("look", {}, "c2"))
    )
    const run = yield* started(agentWith(paying().tool, slow.tool).start("go"), model)
    yield* slow.begun
    for (const [message] of wrong) yield* defectOf((run.say as Says)(message))
    yield* slow.end
    const outcome = yield* run.outcome
    assert(outcome._tag === "Suspended")
    assert.isUndefined((yield* snapshotOf(outcome)).inbox)
  })
)

it.effect("the same of the messages of a resumption, of a snapshot and of a transcript [P1585]", () =>
  Effect.gen(function* () {
    const agent = agentWith(paying().tool)
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }, "c1")))
    const suspended = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const resumed = (from: Snapshot.Snapshot | Snapshot.Snapshot["transcript"], say: unknown) =>
      // as a program without types does
      outcomeOf(Agent.resume(agent) as unknown as Resumes, { from, say }, model)
    for (const from of [suspended, suspended.transcript]) {
      for (const [message, why] of wrong) {
        if (typeof message === "string")
          assert.include(yield* defectOf(resumed(from, message)), `Agent 'worker': say: message ${why}`)
        const said = [{ message: "stop" }, { message }]
        assert.include(yield* defectOf(resumed(from, said)), `Agent 'worker': say: message ${why}`)
      }
      for (const say of [5, null, ["stop"], [null]])
        assert.include(yield* defectOf(resumed(from, say)), "say must be a text, a message or a list of messages, got")
      assert.include(
        yield* defectOf(resumed(from, [{ message: "stop", supersede: "yes" }])),
        "supersede of say must be true or false, got string"
      )
    }
    // none of these has used the snapshot up
    assert.deepInclude(yield* resumed(suspended, "stop"), { _tag: "Suspended" })
  })
)

it.effect("what is no decision, settlement or budget of a resumption is refused by name [P1585]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = agentWith(tool)
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }, "c1")), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    // as a program without types does
    const resumed = (resumption: unknown) => outcomeOf(Agent.resume(agent) as unknown as Resumes, resumption, model)
    const digest = "d"
    for (const start of [from, from.transcript]) {
      for (const [option, values] of [
        [
          "decisions",
          [null, {}, [null], ["d"], [{ digest }], [{ digest, decision: null }], [{ digest: 5, decision: approve }]]
        ],
        [
          "settlements",
          [null, {}, [null], [{ token: 5, exit: Exit.void }], [{ token: "t", exit: null }], [{ token: "t" }]]
        ]
      ] as const) {
        for (const value of values) {
          const refused = yield* Effect.flip(resumed({ from: start, [option]: value }))
          assert.deepInclude(refused, { _tag: "SnapshotRefusedError", reason: "malformed" })
          assert.include(String(refused), `agent 'worker': ${option} cannot be read`)
        }
      }
      for (const budget of [null, 5, "much"])
        assert.include(yield* defectOf(resumed({ from: start, budget })), "agent 'worker': budget must be limits, got")
    }
    for (const none of [null, undefined, 5])
      assert.include(yield* defectOf(resumed(none)), "Agent.resume of agent 'worker' must be given where to go on, got")
    for (const incomplete of ["keep", "continue", "drop"])
      assert.deepInclude(yield* Effect.flip(resumed({ from: null, incomplete })), { reason: "malformed" })
    // none of these has used the snapshot up
    assert.deepInclude(yield* resumed(deciding(from)), { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(runs, [5])
  })
)

interface Resumes {
  readonly start: (input: unknown) => Effect.Effect<Agent.Run<unknown, unknown>, never, unknown>
}

it.effect("a run that was refused before its begin has no agent to name [P1580]", () =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make()
    const agent = Agent.resume(agentWith())
    // as a program without types does
    const run = yield* started(agent.start({ from: { version: 6 } as never }), model)
    assert.include(String(yield* Effect.flip(run.outcome)), "SnapshotRefusedError")
    assert.include(yield* defectOf((run.say as Says)(5)), `TypeError: run.say: message ${none}, got number`)
  })
)
