/** Which verdicts may repeat a call. */
import { assert, it } from "@effect/vitest"
import type { Node } from "../../../packages/core/src/recovery/Node.ts"
import { firstRepeat, isRepeating } from "../../../packages/core/src/recovery/repeating.ts"

/** A verdict of which the kind alone is read. */
const nodeOf = (kind: Node["kind"]) => ({ kind }) as Node
const ladder = (...rungs: ReadonlyArray<Node>) => ({ kind: "ladder", rungs }) as Node

const repeats = ["retry", "fix", "ask", "compact"] as const
const ends = ["tell", "escalate", "respondWith", "raise", "rethrow"] as const

it("retries, fixers, persons and compactions repeat it, ladders with one of them, and handlers [P1101]", () => {
  for (const kind of [...repeats, "when"] as const) {
    assert.isTrue(isRepeating(nodeOf(kind)), kind)
    assert.isTrue(isRepeating(ladder(nodeOf("tell"), ladder(nodeOf(kind)))), kind)
  }
  for (const kind of ends) {
    assert.isFalse(isRepeating(nodeOf(kind)), kind)
    assert.isFalse(isRepeating(ladder(nodeOf(kind))), kind)
  }
})

it("the first of them in a ladder is the one that gave up; a handler says only which at each failure [P1101]", () => {
  for (const kind of repeats) {
    const [node, other] = [nodeOf(kind), nodeOf("retry")]
    assert.strictEqual<unknown>(firstRepeat(node), node)
    assert.strictEqual<unknown>(firstRepeat(ladder(nodeOf("tell"), ladder(node, other), other)), node)
  }
  for (const kind of [...ends, "when"] as const) {
    assert.isUndefined(firstRepeat(nodeOf(kind)))
    assert.isUndefined(firstRepeat(ladder(nodeOf(kind))))
  }
})
