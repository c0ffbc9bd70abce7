/** The rows of messages to a run: who reads them, and what they withdraw. */
import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import type * as RunContext from "@kintsugi/core/RunContext"
import { Effect, Exit } from "effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { say } from "../../packages/durable/src/say.ts"
import { list } from "../../packages/durable/src/waiting.ts"
import {
  ancestry,
  isSuperseded,
  put,
  reading,
  type Said,
  unreadOf,
  withdraws
} from "../../packages/durable/src/saying.ts"
import { processOfReplays } from "./_support/replays.ts"
import { workflow } from "./_support/rows.ts"

const said = (id: string, more: Partial<Said> = {}): Said => ({ id, message: Message.user(id), ...more })

/** A run with only what a message is read by. */
const run = (runId: string, parent?: string) =>
  ({ runId, ...(parent === undefined ? {} : { parent: { runId: parent } }) }) as unknown as RunContext.RunContext

it("a message that supersedes withdraws what its reader waits for, and the runs within it [P1584]", () => {
  const parents = new Map([
    ["child", "middle"],
    ["middle", "root"],
    ["other", "root"]
  ])
  const within = ancestry({ parents }, "child")
  // the nearest first
  assert.deepStrictEqual(within, ["child", "middle", "root"])
  const cases: ReadonlyArray<readonly [Said, boolean]> = [
    [said("1"), false],
    [said("1", { to: "root" }), false],
    [said("1", { supersede: true }), true],
    [said("1", { supersede: true, to: "root" }), true],
    [said("1", { supersede: true, to: "child" }), true],
    [said("1", { supersede: true, to: "other" }), false]
  ]
  for (const [message, expected] of cases) assert.strictEqual(withdraws(message, within), expected)
})

it.effect("a message that is sent again after the run has read it withdraws no later request [P1584 P1586]", () =>
  Effect.gen(function* () {
    const { replay, rows } = yield* processOfReplays
    const one = replay()
    rows.set("begun", Exit.void)
    const waiting = {
      type: "deferred",
      runId: "run",
      agent: "a",
      callId: "1",
      tool: "t",
      handle: 1,
      expiresAt: 9
    } as const
    const sending = say(
      { workflow, hasInbox: true },
      { executionId: "run", id: "1", message: "stop", supersede: true }
    ).pipe(Effect.provideService(WorkflowEngine, one.engine))
    yield* list(one, waiting, "first")
    yield* sending
    assert.isTrue(rows.has("first"))
    assert.lengthOf(yield* reading(one)(one.lines.root, "a", run("run")), 1)
    yield* list(one, waiting, "second")
    yield* sending
    assert.isFalse(rows.has("second"))
  })
)

it.effect("each run reads its messages once, in their order, and each has a note that it was read [P1586]", () =>
  Effect.gen(function* () {
    const { replay, rows, stored } = yield* processOfReplays
    const one = replay()
    const of = { engine: one.engine, workflow, executionId: "run" }
    for (const message of [
      said("1"),
      said("2", { to: "child", supersede: true }),
      said("3", { to: "root" }),
      said("4")
    ])
      yield* put(of, message)
    const read = reading(one)
    const { root } = one.lines
    const [first, second] = [said("1"), said("2", { supersede: true })]
    assert.deepStrictEqual(yield* read(root, "a", run("root")), [first, said("3"), said("4")])
    assert.deepStrictEqual(yield* read(root, "b", run("child", "root")), [second])
    assert.deepStrictEqual(yield* read(root, "c", run("root")), [])
    assert.deepStrictEqual(
      [...rows.keys()].filter((name) => name.endsWith("/read")),
      ["said/0/read", "said/2/read", "said/3/read", "said/1/read"]
    )
    assert.deepStrictEqual(yield* unreadOf(of), [])
    yield* put(of, said("5"))
    assert.deepStrictEqual(yield* read(root, "d", run("root")), [said("5")])
    assert.deepStrictEqual(Object.keys(stored()), ["a", "b", "c", "d"])
    // a replay reads the same, and what comes after it
    const next = replay()
    const readNext = reading(next)
    assert.deepStrictEqual(yield* readNext(next.lines.root, "a", run("root")), [first, said("3"), said("4")])
  })
)

it.effect(
  "a request is withdrawn before it waits if an unread message supersedes it, and the run has an inbox [P1584]",
  () =>
    Effect.gen(function* () {
      const { replay } = yield* processOfReplays
      const parents = new Map([["child", "root"]])
      const one = replay({ parents })
      const of = { engine: one.engine, workflow, executionId: "run" }
      yield* put(of, said("1"))
      assert.isFalse(yield* isSuperseded(one, "child"))
      yield* put(of, said("2", { supersede: true, to: "root" }))
      assert.deepStrictEqual([yield* isSuperseded(one, "child"), yield* isSuperseded(one, "other")], [true, false])
      assert.isFalse(yield* isSuperseded(replay({ parents, hasInbox: false }), "child"))
    })
)
