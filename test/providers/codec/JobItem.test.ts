import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import * as JobItem from "../../../packages/providers/src/codec/JobItem.ts"

it("only an item of its kind names a background job", () => {
  const item = JobItem.make("openai", { id: "r1" })
  assert.deepStrictEqual(item, {
    type: "provider-item",
    kind: "background_job",
    opaque: { provider: "openai", data: { id: "r1" } }
  })
  assert.isTrue(JobItem.is(item))
  assert.isFalse(JobItem.is({ ...item, kind: "web_search_call" }))
  assert.isFalse(JobItem.is(Message.text("hi")))
  const alike = { ...Message.text("hi"), kind: item.kind }
  assert.isFalse(JobItem.is(alike))
})
