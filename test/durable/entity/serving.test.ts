import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect } from "effect"
import { passing, played, talking, talkTo } from "./_support/talking.ts"

for (const isApproved of [false, true]) {
  const when = isApproved ? "after a person approved" : "while it waits for a person"
  it.effect(`a run that is stopped ${when} ends, and the next message is answered [P1384]`, () => {
    const talk = talking()
    return Effect.gen(function* () {
      const { answer, interrupt, send, unanswered } = talkTo(talk)
      yield* send("1", "sign lease")
      yield* send("2", "two")
      const [request] = talk.asked
      if (request === undefined) return assert.fail("the run asks a person")
      if (isApproved) yield* Durable.decide(talk.durable, request, Approval.approve)
      yield* passing(3)
      assert.deepStrictEqual(talk.paid, isApproved ? ["sign lease"] : [])
      assert.isTrue(yield* interrupt())
      yield* passing(5)
      assert.strictEqual(yield* answer("2"), "answer to two")
      assert.strictEqual(yield* unanswered("1"), "stopped")
    }).pipe(played(talk))
  })
}

it.effect("a message in the queue that is said again stays what it is [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, say, send, withdraw } = talkTo(talk)
    const first = yield* say("1", "pay rent")
    assert.deepStrictEqual(yield* say("1", "pay rent"), first)
    yield* send("2", "pay tax")
    assert.deepStrictEqual(yield* say("2", "pay tax"), { _tag: "Waiting", before: 1 })
    assert.deepStrictEqual(talk.paid, ["pay rent"])
    yield* withdraw("2")
    talk.release("pay rent")
    assert.strictEqual(yield* answer("1"), "answer to pay rent")
    yield* passing(3)
    assert.deepStrictEqual(talk.paid, ["pay rent"])
  }).pipe(played(talk))
})
