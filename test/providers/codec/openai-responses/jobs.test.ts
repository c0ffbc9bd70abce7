/** Which responses are jobs in the background, and what their bodies say of them. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { Result } from "effect"
import * as JobItem from "../../../../packages/providers/src/codec/JobItem.ts"
import * as Jobs from "../../../../packages/providers/src/codec/openai-responses/jobs.ts"
import { answer } from "../../../_support/wireFixtures.ts"
import { codec, decode, type Item, response, source } from "./_support/responses.ts"

const jobs = codec.jobs ?? assert.fail("no jobs")

const background = (more: Item = {}): Item => ({ id: "resp_1", background: true, status: "queued", ...more })

it("a response names its job, with the number of the event if it came in a stream, and pauses with the tokens so far", () => {
  const named = (after?: number) => JobItem.make("openai", { id: "resp_1", ...(after === undefined ? {} : { after }) })
  for (const [more, event, item] of [
    [{}, undefined, named()],
    [{ status: "in_progress" }, undefined, named()],
    [{}, { sequence_number: 3 }, named(3)],
    [{}, {}, named(0)],
    [{ background: false }, {}, undefined],
    [{ status: "completed" }, {}, undefined],
    [{ status: "cancelled" }, {}, undefined],
    ...[null, "", "a/b", "/a", "a?"].map((id) => [{ id }, {}, undefined] as const)
  ] as const) {
    assert.deepStrictEqual(Jobs.jobIn(source, background(more), event), item, JSON.stringify(more))
  }
  const { usage = null } = response([])
  assert.deepStrictEqual(Result.getOrThrow(decode(background({ usage }))), {
    content: [named()],
    finish: "paused",
    usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 20, cacheWriteTokens: 0, reasoningTokens: 4 }
  })
})

it("a request asks for the first job of its last message that has a safe id", () => {
  const jobIn = (...messages: Message.Transcript) => jobs.of({ messages, tools: [], toolChoice: "auto" })
  const paused = (...content: Message.Assistant["content"]): Message.Assistant => ({
    role: "assistant",
    paused: true,
    content
  })
  const of = (...content: Message.Assistant["content"]) => jobIn(Message.user("go"), paused(...content))
  const unsafe = JobItem.make("openai", { id: "a/b", after: 1 })
  const foreign = JobItem.make("azure", { id: "r0" })
  const own = JobItem.make("openai", { id: "r1", after: 7 })
  assert.deepStrictEqual(of(Message.text("hm"), unsafe, foreign, own), { id: "r1", after: 7 })
  assert.deepStrictEqual(of(JobItem.make("openai", { id: "r2" })), { id: "r2", after: undefined })
  assert.isUndefined(of(unsafe, foreign))
  assert.isUndefined(jobIn(paused(own), Message.user("go")))
  assert.isUndefined(jobIn({ role: "assistant", content: [own] }))
  assert.deepStrictEqual(of(own, JobItem.make("openai", { id: "r2" })), { id: "r1", after: 7 })
})

it("the body about a job says whether it is at work, cancelled or over", () => {
  const states = {
    queued: "at work",
    in_progress: "at work",
    cancelled: "cancelled",
    completed: "over",
    incomplete: "over",
    failed: "over",
    expired: undefined
  }
  for (const [status, state] of Object.entries(states)) {
    assert.strictEqual(jobs.status(answer(200, { status })), state, status)
  }
  assert.isUndefined(jobs.status(answer(200, "no JSON")))
})
