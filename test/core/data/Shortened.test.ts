import { assert, it } from "@effect/vitest"
import type { Message } from "@kintsugi/core"
import { asShortened, shortened } from "../../../packages/core/src/data/Shortened.ts"

it("a settlement whose text was shortened is known by itself", () => {
  const settlement: Message.Settlement = { kind: "result", text: "a…" }
  assert.isFalse(shortened.has(settlement))
  assert.strictEqual(asShortened(settlement), settlement)
  assert.isTrue(shortened.has(settlement))
  assert.isFalse(shortened.has({ ...settlement }))
})
