/** What a run reads from a call to store it. */
import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Slot } from "../../../packages/core/src/tool/CallSite.ts"

const handed = { type: "deferred", token: "t", handle: 1, expiresAt: 9, arguments: {} } as const

it("a call waits once its run has taken over the wait, from the checkpoint of that time", () => {
  const slot = new Slot()
  assert.isUndefined(slot.waiting)
  const asked: Array<number> = []
  slot.checkpoint = (now) => {
    asked.push(now)
    return handed
  }
  assert.isUndefined(slot.waiting)
  assert.deepStrictEqual(asked, [])
  slot.record = { tool: "order", isError: false }
  assert.deepStrictEqual(slot.waiting, handed)
  assert.deepStrictEqual(asked, [0])
  slot.checkpoint = undefined
  assert.isUndefined(slot.waiting)
})

it("a call that has begun has a settlement at any time, and one that has not has none", () => {
  const slot = new Slot()
  assert.isUndefined(slot.settlementNow)
  slot.isBegun = true
  assert.deepStrictEqual(slot.settlementNow, Message.interrupted)
  slot.settlement = { kind: "result", text: "done" }
  assert.deepStrictEqual(slot.settlementNow, { kind: "result", text: "done" })
  const resumed = new Slot()
  resumed.goOn(handed, "unsafe")
  assert.deepStrictEqual([resumed.from, resumed.settlementNow], [handed, Message.unknown])
  for (const by of ["run", "interrupt", "supersede"] as const)
    assert.deepStrictEqual(resumed.settlementBy(by), Message.unknown)
})
