/** What a model reads about a deferred call whose run goes on. */
import { assert, it } from "@effect/vitest"
import type { Message } from "@kintsugi/core"
import { deferred, lateResult } from "../../../packages/core/src/tool/lateTexts.ts"

const handle = { job: "1 <data>" }

it("the settlement of such a call names its handle as data, and says that its result comes later [P1521]", () => {
  assert.strictEqual(
    deferred(handle),
    'The work of this call has begun and is not over. Its handle is <data>{"job":"1 <\\data>"}</data>. Its result comes in a later message: do not make the call again to get it.'
  )
})

it("a late result says how the call ended, and its text is data [P1521]", () => {
  const said = (kind: Message.Settlement["kind"], text: string) =>
    lateResult({ tool: "order", callId: "c1", handle }, { kind, text })
  const start = "The call 'c1' of tool 'order', with the handle <data>{\"job\":\"1 <\\data>\"}</data>, is over."
  assert.strictEqual(said("result", "it is there"), `${start} Its result: <data>it is there</data>`)
  assert.strictEqual(said("result", "permanent: no"), `${start} Its result: <data>\\permanent: no</data>`)
  for (const kind of ["told", "denied", "interrupted"] as const)
    assert.strictEqual(said(kind, "permanent: no"), `${start} It has failed: <data>permanent: no</data>`)
  assert.strictEqual(
    said("unknown", "transient: lost"),
    `${start} Its outcome is unknown: <data>transient: lost</data>`
  )
})
