/** Messages to runs: which piece of work they end, and what becomes of those that no run has read. */
import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Effect } from "effect"
import { Inbox } from "../../../packages/core/src/event/Inbox.ts"
import type { Endable, RunContext } from "../../../packages/core/src/event/RunContext.ts"

/** A run, of which only this is read. */
const runOf = (runId: string, parent?: RunContext) =>
  ({ runId, done: { parent: parent?.done }, turn: () => 1, emit: undefined }) as unknown as RunContext

const saying = (id: string, supersede?: true): Message.SaidMessage => ({
  id,
  message: Message.user(id),
  ...(supersede && { supersede })
})

const works = ["model", "tools", "request", "wait"] as const satisfies ReadonlyArray<Endable>

it.effect("a message ends the wait of its run, and other work only if it says so [P1580]", () =>
  Effect.withFiber((fiber) => {
    const cases: ReadonlyArray<readonly [interrupt: boolean | "tools" | undefined, ends: ReadonlyArray<Endable>]> = [
      [undefined, ["wait"]],
      [false, ["wait"]],
      [true, ["model", "wait"]],
      ["tools", ["model", "tools", "wait"]]
    ]
    for (const [interrupt, ends] of cases) {
      for (const supersede of [undefined, true] as const) {
        const inbox = new Inbox()
        const [parent, other] = [runOf("r"), runOf("other")]
        const child = runOf("child", parent)
        const endsOf = (run: RunContext) => works.filter((what) => inbox.ends(run, what))
        inbox.begin(parent, 2)
        assert.deepStrictEqual(endsOf(parent), [])
        assert.strictEqual(inbox.add(fiber, "r", { said: saying("m", supersede), interrupt }), Infinity)
        const request: ReadonlyArray<Endable> = supersede === undefined ? [] : ["request"]
        assert.sameMembers(endsOf(parent), [...ends, ...request])
        assert.deepStrictEqual(endsOf(child), request)
        assert.deepStrictEqual(endsOf(other), [])
      }
    }
    return Effect.void
  })
)

it.effect("messages of another process are taken once; what was read or is in a snapshot is not unread [P1586]", () =>
  Effect.gen(function* () {
    const run = runOf("r")
    const [m1, m2, m3] = [saying("m1"), saying("m2"), saying("m3")]
    let sent = [m1]
    const inbox = new Inbox(
      () => Effect.sync(() => sent.splice(0)),
      () => [m3]
    )
    inbox.begin(run, 1)
    assert.isTrue(yield* inbox.waits(run))
    assert.isTrue(yield* inbox.waits(run))
    const read: Array<Message.User> = []
    sent = [m2]
    yield* inbox.read(run, (message) => read.push(message))
    assert.deepStrictEqual(read, [m1.message, m2.message])
    assert.isFalse(yield* inbox.waits(run))
    sent = [m1]
    assert.isTrue(yield* inbox.waits(run))
    // the limit is that of messages of this process
    assert.strictEqual(yield* Effect.withFiber((fiber) => Effect.sync(() => inbox.add(fiber, "r", { said: m2 }))), 1)
    assert.deepStrictEqual(inbox.end(run), [m1, m3])
    inbox.begin(run, 1)
    sent = [m1]
    assert.isTrue(yield* inbox.waits(run))
    assert.deepStrictEqual(inbox.keep(run), [m1])
    assert.deepStrictEqual(inbox.end(run), [m3])
    assert.deepStrictEqual(new Inbox().end(run), [])
  })
)

it.effect("without another process there is nothing to take [P1580]", () =>
  Effect.gen(function* () {
    const inbox = new Inbox()
    const run = runOf("r")
    inbox.begin(run, 5)
    assert.isFalse(yield* inbox.waits(run))
    yield* inbox.read(run, () => assert.fail("nothing was said"))
  })
)
