/** The states of a call, as one makes the next. */
import { assert, it } from "@effect/vitest"
import type { Decoded } from "../../../packages/core/src/tool/call.ts"
import * as State from "../../../packages/core/src/tool/callState.ts"

// only passed on
const read = { changes: [] } as unknown as Decoded

const raw = State.beginning({ n: 1 }, { executions: 2, isUncertain: true })

it("a call begins with what its earlier executions have left open", () => {
  assert.deepStrictEqual(raw, { type: "Raw", args: { n: 1 }, runs: 2, isUncertain: true, mayHaveActed: true })
  assert.deepStrictEqual(State.beginning("{}", undefined), {
    type: "Raw",
    args: "{}",
    runs: 0,
    isUncertain: false,
    mayHaveActed: false
  })
})

it("arguments that decode change nothing else", () => {
  assert.deepStrictEqual(State.decoded(raw, read), {
    ...raw,
    type: "Decoded",
    edited: undefined,
    draft: undefined,
    decoded: read
  })
})

it("a call whose work had begun may have acted, and goes on with what it waits for", () => {
  const fresh = State.beginning({}, undefined)
  const handed = { type: "deferred", token: "t", handle: 1, expiresAt: 9, arguments: {} } as const
  assert.deepStrictEqual(State.readmitted(fresh, handed, read), {
    ...fresh,
    type: "Admitted",
    decoded: read,
    mayHaveActed: true,
    handed
  })
  for (const isCleared of [false, true])
    assert.deepStrictEqual(State.failedBefore(fresh, read, isCleared), {
      ...fresh,
      type: "Admitted",
      decoded: read,
      mayHaveActed: !isCleared
    })
})
