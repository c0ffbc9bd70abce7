/** Decisions that come too late or are about another request, and documents that were tampered with. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Skill, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { TestClock } from "effect/testing"
import { digestOfRequest } from "../../../packages/core/src/data/Digest.ts"
import { deferring } from "../tool/_support/deferring.ts"
import { it } from "../../_support/run.ts"
import { agentWith, done, scripted } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const pay = calls(call("pay", { cents: 5 }, "c1"))

it.effect("a decision that came too late does not count later either: the person has to decide anew [P903]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying({ validFor: "1 hour" })
    const agent = agentWith(tool)
    const model = yield* make(pay, done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const stale = deciding(first).decisions
    yield* TestClock.adjust("2 hours")
    const resumed = (from: Snapshot.Snapshot, decisions: ReadonlyArray<Approval.Decided>) =>
      outcomeOf(Agent.resume(agent), { from, decisions }, model)
    const second = yield* snapshotOf(yield* resumed(first, stale))
    const third = yield* snapshotOf(yield* resumed(second, stale))
    assert.deepStrictEqual(runs, [])
    assert.notStrictEqual(Snapshot.requestsOf(third)[0]?.digest, stale[0]?.digest)
    const end = yield* resumed(third, deciding(third).decisions)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(runs, [5])
  })
)

it.effect("while it is valid, a request stays the same however often the run is suspended [P903]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying({ validFor: "1 hour" })
    const agent = agentWith(tool)
    const model = yield* make(pay, done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    yield* TestClock.adjust("30 minutes")
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from: first }, model))
    assert.deepStrictEqual(Snapshot.requestsOf(second), Snapshot.requestsOf(first))
    const { decisions } = deciding(first)
    const end = yield* outcomeOf(Agent.resume(agent), { from: second, decisions }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(runs, [5])
  })
)

it.effect("a later expiry, written into the snapshot, makes no decision count [P903]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying({ validFor: "1 hour" })
    const agent = agentWith(tool)
    const model = yield* make(pay)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const { decisions } = deciding(from)
    assert(from.unfinished !== undefined)
    const later = (request: Approval.ApprovalRequest) =>
      new Approval.ApprovalRequest({ ...request, expiresAt: request.expiresAt + 1e9 })
    const waiting = from.unfinished.calls.map((call) =>
      call.type === "decision" ? { ...call, request: later(call.request) } : call
    )
    const changed = { ...from, unfinished: { ...from.unfinished, calls: waiting } }
    yield* TestClock.adjust("2 hours")
    const outcome = yield* outcomeOf(Agent.resume(agent), { from: changed, decisions }, model)
    assert.strictEqual(outcome._tag, "Suspended")
    assert.deepStrictEqual(runs, [])
  })
)

type Document = Record<string, unknown>

/** A document with one of its places changed. */
const changed = (document: Schema.Json, path: ReadonlyArray<string | number>, value: unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(document)) {
    return document.map((item, index) => (index === key ? changed(item, rest, value) : item))
  }
  // the paths of this test lead through objects and arrays only
  const fields = document as Document
  return { ...fields, [key]: changed(fields[key] as Schema.Json, rest, value) }
}

it.effect("a document whose numbers, places or requests no run could have fails, with the place [P903 A901]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const { tool: look } = scripted("look", Effect.succeed("seen"))
    const model = yield* make(calls(call("look", {}, "c1"), call("pay", { cents: 5 }, "c2")))
    const outcome = yield* outcomeOf(agentWith(tool, look), "go", model)
    assert(outcome._tag === "Suspended")
    const document = Snapshot.toJson(outcome.snapshot)
    yield* Snapshot.fromJson(document)
    const deep = Array.from({ length: 20_000 }).reduce<Schema.Json>((inner) => [inner], 1)
    for (const [path, value] of [
      [["limits", "maxTurns"], "NaN"],
      [["limits", "maxTurns"], "Infinity"],
      [["limits", "maxToolCalls"], "Infinity"],
      [["limits", "maxTokens"], 2.5],
      [["limits", "maxCost"], -1],
      [["limits", "maxDuration"], "NaN"],
      [["turn"], -1],
      [["spent", "turns"], -1e9],
      [["spent", "toolCalls"], 0.5],
      [["spent", "millis"], -1e15],
      [["sameTool", "calls"], -1e9],
      [["outputsRejected"], -1e9],
      [["callsWithToolsOff"], -1],
      [["failures", "failingBatches"], -1],
      [["ledger", 0, "usage", "inputTokens"], -1e12],
      [["ledger", 0, "cost"], -1],
      [["unfinished", "admitted"], -3.5],
      [["unfinished", "admittedInARow"], -1],
      [["unfinished", "calls"], []],
      [
        ["unfinished", "keys"],
        [...(outcome.snapshot.unfinished?.keys ?? []), "one more"]
      ],
      [["made"], [{ digest: "d", times: -1 }]],
      [["unfinished", "calls", 1], { type: "decision" }],
      [["unfinished", "calls", 1], { type: "agent" }],
      [["unfinished", "reply", "content"], []],
      [["unfinished", "calls", 1, "request", "key"], "another/1/0"],
      [["unfinished", "calls", 1, "request", "runId"], "another"],
      [["unfinished", "calls", 1, "request", "callId"], "c1"],
      [["unfinished", "calls", 1, "request", "tool"], "look"],
      [["unfinished", "calls", 1, "request", "schema"], undefined],
      [["unfinished", "calls", 1, "request", "expiresAt"], 1e15],
      [["unfinished", "calls", 1, "request", "arguments"], { cents: 6 }],
      [["unfinished", "reply", "content", 1, "arguments"], { cents: 9999 }],
      [["unfinished", "calls", 1, "request", "arguments"], deep]
    ] as const) {
      const exit = yield* Effect.exit(Snapshot.fromJson(changed(document, path, value)))
      assert(Exit.isFailure(exit), path.join("."))
      const error = yield* Effect.flip(Snapshot.fromJson(changed(document, path, value)))
      assert.isTrue(Schema.isSchemaError(error), path.join("."))
      if (value !== deep) assert.include(String(error), `["${path[0]}"]`)
    }
  })
)

it.effect(
  "a request about another run, key, call or tool fails with its place, though its digest is right [P903]",
  () =>
    Effect.gen(function* () {
      const { tool } = paying()
      const model = yield* make(pay)
      const helper = Agent.make("helper", { skills: [Skill.make("work", { description: "Works.", tools: [tool] })] })
      const parent = agentWith(Agent.asTool(helper, { description: "Helps." }))
      const nested = yield* make(calls(call("helper", { input: "go" }, "h1")), pay)
      const own = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
      const around = yield* snapshotOf(yield* outcomeOf(parent, "go", nested))
      const waiting = ["unfinished", "calls", 0] as const
      for (const [from, path] of [
        [own, waiting],
        [around, [...waiting, "snapshot", ...waiting]]
      ] as const) {
        const document = Snapshot.toJson(from)
        const [request] = Snapshot.requestsOf(from)
        assert(request !== undefined)
        const forgedBy = (change: Partial<Approval.ApprovalRequest>) =>
          Effect.map(digestOfRequest({ ...request, ...change }, request.arguments), (digest) =>
            changed(document, [...path, "request"], { ...request, ...change, digest })
          )
        // changed to what it was, it is read
        yield* Snapshot.fromJson(yield* forgedBy({ key: request.key }))
        for (const change of [{ runId: "another" }, { key: "another" }, { callId: "another" }, { tool: "look" }]) {
          const error = yield* Effect.flip(Snapshot.fromJson(yield* forgedBy(change)))
          const where = [...path, "request"].map((key) => `[${JSON.stringify(key)}]`).join("")
          assert.strictEqual(
            error.message,
            `Expected a request as it was shown, about the call as it was made\n  at ${where}`,
            JSON.stringify(change)
          )
        }
      }
    })
)

it.effect("a reply without calls, a foreign token and a refused document fail with their place and reason [P903]", () =>
  Effect.gen(function* () {
    const { tool, tokenOf } = deferring({ wait: "continue" })
    const model = yield* make(calls(call("order", {}, "c1")), ScriptedModel.text("so far"))
    const document = Snapshot.toJson(yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model)))
    const suspended = Snapshot.toJson(
      yield* snapshotOf(yield* outcomeOf(agentWith(paying().tool), "go", yield* make(pay)))
    )
    assert.include(JSON.stringify(document), tokenOf())
    for (const [changedDocument, message] of [
      [changed(document, ["late", 0, "key"], "another"), 'Expected the token of this call\n  at ["late"][0]["token"]'],
      [
        changed(suspended, ["unfinished", "reply", "content"], []),
        'Expected a reply with calls\n  at ["unfinished"]["reply"]'
      ]
    ] as const) {
      assert.strictEqual((yield* Effect.flip(Snapshot.fromJson(changedDocument))).message, message)
    }
  })
)

it("a new limit has to be valid in a budget: a number that is valid for no limit is refused by Budget.extend [A909]", () => {
  for (const limit of [Number.NaN, 0, -1, -Infinity]) assert.throws(() => Budget.extend(limit), RangeError)
  assert.deepStrictEqual(Budget.extend(2.5), { type: "extend", limit: 2.5 })
})

it.run(
  "a fraction of a turn, or turns without an end, are a defect where they are no limit of that kind [A909]",
  (run) =>
    Effect.gen(function* () {
      for (const limit of [2.5, Infinity]) {
        const { tool } = scripted("look", Effect.succeed("seen"))
        const model = yield* make(calls(call("look", {}, "c1")))
        const agent = Agent.make("worker", {
          budget: { maxTurns: 1 },
          skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
        }).pipe(Agent.onBudgetExceeded(() => Budget.extend(limit)))
        const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
        assert.isTrue(Exit.hasDies(exit))
        assert.include(String(exit), "maxTurns must be a whole number of at least 1")
      }
      const { tool } = scripted("look", Effect.succeed("seen"))
      const model = yield* make(calls(call("look", {}, "c1")), done)
      const agent = Agent.make("worker", {
        budget: { maxTokens: 14 },
        skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
      }).pipe(Agent.onBudgetExceeded(() => Budget.extend(Infinity)))
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    })
)
