/** The rows of decisions: whether a decision counts, and what a run takes from the row that ends its wait. */
import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { decide, decided, superseding } from "../../packages/durable/src/approval.ts"
import type { Replay } from "../../packages/durable/src/recording.ts"
import { exitOf, processOfReplays } from "./_support/replays.ts"
import { workflow } from "./_support/rows.ts"

const failed = {
  tag: "Locked",
  forModel: "locked",
  full: "locked",
  attempts: 1,
  runs: 1,
  sideEffects: "none",
  mayHaveTakenEffect: false,
  needsArguments: true
} as const

const request = (more: object = {}) =>
  new Approval.ApprovalRequest({
    runId: "r",
    agent: "clerk",
    tool: "pay",
    callId: "c1",
    key: "k",
    arguments: { cents: 5 },
    reason: "it pays",
    schema: "s",
    digest: "d1",
    requestedAt: 0,
    expiresAt: 5000,
    ...more
  })

/** A run that has asked, whose decisions a test makes. */
const requesting = Effect.gen(function* () {
  const process = yield* processOfReplays
  const one = process.replay()
  process.rows.set("k/approval/d1/waiting/noted", Exit.void)
  process.rows.set("k/approval/open/noted", Exit.void)
  const deciding = (of: Approval.ApprovalRequest, decision: Approval.Decision) =>
    Effect.provideService(decide(workflow, "run", of, decision), WorkflowEngine, one.engine)
  const answer = () => {
    const row = process.rows.get("k/approval/d1")
    return row !== undefined && Exit.isSuccess(row) ? row.value : row
  }
  return { ...process, answer, deciding }
})

const not = (reason: string, digest = "d1") => ({ _tag: "NotCounted", digest, reason })

it.effect("the first decision counts until the end of its time, and is stored with its instant and an id [P1117]", () =>
  Effect.gen(function* () {
    for (const [at, first, second] of [
      [700, { _tag: "Counted", digest: "d1" }, not("already-decided")],
      [5000, { _tag: "Counted", digest: "d1" }, not("already-decided")],
      [5001, not("late"), not("late")]
    ] as const) {
      const { answer, deciding } = yield* requesting
      yield* TestClock.setTime(at)
      assert.deepStrictEqual<unknown>(yield* deciding(request(), Approval.approve), first)
      const { id, ...row } = answer() as { readonly id: string }
      assert.deepStrictEqual<unknown>(row, { at, decision: { type: "approve" } })
      assert.match(id, /\d/)
      assert.deepStrictEqual<unknown>(yield* deciding(request(), Approval.approve), second)
    }
  })
)

it.effect("a decision whose row is not shown within a second counts if it came in time [P1117]", () =>
  Effect.gen(function* () {
    for (const [at, expected] of [
      [5000, { _tag: "Counted", digest: "d1" }],
      [5001, not("late")]
    ] as const) {
      const { answer, replay } = yield* requesting
      yield* TestClock.setTime(at)
      const { engine } = replay()
      const slow: WorkflowEngine["Service"] = {
        ...engine,
        deferredResult: (deferred) =>
          deferred.name === "k/approval/d1" ? Effect.succeed(Option.none()) : engine.deferredResult(deferred)
      }
      const deciding = decide(workflow, "run", request(), Approval.approve)
      const fiber = yield* Effect.forkChild(Effect.provideService(deciding, WorkflowEngine, slow))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual<unknown>(yield* Fiber.join(fiber), expected)
      assert.deepInclude(answer() as object, { at })
    }
  })
)

it.effect("a run whose end cannot be read is over, and any other death of its engine is a defect [P1117]", () =>
  Effect.gen(function* () {
    const { answer, replay } = yield* requesting
    const unreadable = Schema.decodeUnknownEffect(Schema.String)(7).pipe(Effect.orDie)
    const deciding = (poll: Effect.Effect<never>) =>
      Effect.exit(decide(workflow, "run", request(), Approval.approve)).pipe(
        Effect.provideService(WorkflowEngine, { ...replay().engine, poll: () => poll as never })
      )
    assert.deepStrictEqual<unknown>(
      yield* deciding(Effect.andThen(unreadable, Effect.never)),
      Exit.succeed(not("run-over"))
    )
    assert.deepStrictEqual(yield* deciding(Effect.die("a bug")), Exit.die("a bug"))
    assert.isUndefined(answer())
  })
)

it.effect("a decision about what was not asked, or is over, does not count and is not stored [P1117]", () =>
  Effect.gen(function* () {
    const { answer, deciding, rows, state } = yield* requesting
    const other = request({ digest: "d2" })
    assert.deepStrictEqual<unknown>(yield* deciding(other, Approval.approve), not("other-digest", "d2"))
    const unknown = request({ key: "other" })
    assert.deepStrictEqual<unknown>(yield* deciding(unknown, Approval.approve), not("unknown-request"))
    state.isOver = true
    assert.deepStrictEqual<unknown>(yield* deciding(request(), Approval.approve), not("run-over"))
    state.isOver = false
    rows.set("k/approval/d1/withdrawn/noted", Exit.void)
    assert.deepStrictEqual<unknown>(yield* deciding(request(), Approval.approve), not("withdrawn"))
    assert.isUndefined(answer())
  })
)

it.effect("a request that a message has withdrawn, or that has expired, takes no decision [P1117]", () =>
  Effect.gen(function* () {
    const { deciding, rows } = yield* requesting
    rows.set("k/approval/d1", Exit.succeed(yield* superseding(1)))
    assert.deepStrictEqual<unknown>(yield* deciding(request(), Approval.approve), not("withdrawn"))
    rows.set("k/approval/d1", Exit.succeed({ at: 1 }))
    assert.deepStrictEqual<unknown>(yield* deciding(request(), Approval.approve), not("late"))
  })
)

it.effect("a failed call whose arguments are wrong needs others, or another decision [P1117]", () =>
  Effect.gen(function* () {
    const counted = { _tag: "Counted", digest: "d1" }
    const decisions: ReadonlyArray<readonly [Approval.Decision, object]> = [
      [Approval.approve, not("nothing-to-run")],
      [Approval.approveWith({ cents: 1 }), counted],
      [{ type: "refuse", reason: "no" }, counted],
      [{ type: "result", value: 1 }, counted]
    ]
    for (const [decision, expected] of decisions) {
      const { deciding } = yield* requesting
      assert.deepStrictEqual<unknown>(yield* deciding(request({ failed }), decision), expected)
    }
    const { deciding } = yield* requesting
    const { needsArguments: _, ...other } = failed
    assert.deepStrictEqual<unknown>(yield* deciding(request({ failed: other }), Approval.approve), counted)
  })
)

it.effect("a decision that cannot be read is a defect that names the tool [P1117]", () =>
  Effect.gen(function* () {
    const { deciding } = yield* requesting
    const exit = yield* Effect.exit(deciding(request(), { type: "maybe" } as never))
    assert(Exit.isFailure(exit))
    assert.strictEqual(
      String(Cause.squash(exit.cause)),
      "TypeError: Durable.decide about tool 'pay': the decision cannot be read"
    )
  })
)

it("a request is the same after its way over a wire, with its workflow and its run [P1117]", () => {
  const asked: Durable.DurableRequest = { workflow: "clerk@2", executionId: "run-1", request: request() }
  const codec = Schema.toCodecJson(Durable.DurableRequest)
  const json = JSON.parse(JSON.stringify(Schema.encodeSync(codec)(asked)))
  assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(json), asked)
  for (const key of ["workflow", "executionId", "request"])
    assert.throws(() => Schema.decodeUnknownSync(codec)({ ...json, [key]: undefined }))
})

/** What a run takes from the row that ends its wait. */
const taken = (row: Schema.Json, endsAt: number | undefined, of: Partial<Replay> = {}) =>
  Effect.gen(function* () {
    const { replay, rows } = yield* processOfReplays
    rows.set("k/approval/d1", Exit.succeed(row))
    const one = replay(of)
    let announced = 0
    const found = yield* decided(
      one,
      one.lines.root,
      request(),
      endsAt,
      Effect.sync(() => void announced++)
    )
    return [found, one.lines.root.time, announced]
  })

it.effect(
  "a run takes a decision, or the withdrawal by a message, at its instant; any other row has expired [P1117 P1712]",
  () =>
    Effect.gen(function* () {
      for (const decision of [Approval.approve, { type: "refuse", reason: "no" }] as const)
        for (const endsAt of [undefined, 900])
          assert.deepStrictEqual<unknown>(yield* taken({ at: 700, decision, id: "1" }, endsAt), [decision, 700, 1])
      assert.deepStrictEqual<unknown>(yield* taken({ at: 700, superseded: true }, undefined), [undefined, 700, 1])
      // the last instant that counts is the end
      assert.deepStrictEqual<unknown>(yield* taken({ at: 900, superseded: true }, 900), [undefined, 900, 1])
      assert.deepStrictEqual<unknown>(yield* taken({ at: 901, superseded: true }, 900), ["expired", 901, 1])
      assert.deepStrictEqual<unknown>(yield* taken({ at: 700 }, 900), ["expired", 700, 1])
      // the row of an agent with more migrations is left to that agent
      const exit = yield* exitOf(taken({ at: 700, superseded: true, revision: 1 }, undefined))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    })
)

it.effect(
  "a decision about a failure that an earlier agent has taken answers one question of the next agent [P1714]",
  () =>
    Effect.gen(function* () {
      const { replay, rows } = yield* processOfReplays
      const refused = { type: "refuse", reason: "no" } as const
      const result = (value: number) => ({ type: "result", value }) as const
      const taking = (of: Replay, digest: string, decision: Approval.Decision) => {
        rows.set(`k/approval/${digest}`, Exit.succeed({ at: 700, decision, id: "1" }))
        return decided(of, of.lines.root, request({ failed, digest }), undefined, Effect.void)
      }
      assert.deepStrictEqual<unknown>(yield* taking(replay(), "d1", refused), refused)
      const next = replay({ migrations: [{}] })
      // the call failed in the same way, and is another one only by its arguments
      assert.deepStrictEqual<unknown>(yield* taking(next, "d2", result(2)), refused)
      // it fails once more
      assert.deepStrictEqual<unknown>(yield* taking(next, "d3", result(3)), result(3))
    })
)
