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

it("a response names its job, with the number of the event if it came in a stream", () => {
  const named = (after?: number) => JobItem.make("openai", { id: "resp_1", ...(after === undefined ? {} : { after }) })
  for (const status of ["queued", "in_progress"]) {
    assert.deepStrictEqual(Jobs.jobIn(source, background({ status })), named())
  }
  assert.deepStrictEqual(Jobs.jobIn(source, background(), { sequence_number: 3 }), named(3))
  assert.deepStrictEqual(Jobs.jobIn(source, background(), {}), named(0))
  for (const more of [
    { background: false },
    { status: "completed" },
    { status: "cancelled" },
    { id: null },
    { id: "" },
    { id: "a/b" },
    { id: "/a" },
    { id: "a?" }
  ]) {
    assert.isUndefined(Jobs.jobIn(source, background(more)), JSON.stringify(more))
  }
})

it("the reply that names a job is paused, with the tokens so far", () => {
  const { usage } = response([])
  const paused = Result.getOrThrow(decode(background(usage === undefined ? {} : { usage })))
  assert.deepStrictEqual(paused, {
    content: [JobItem.make("openai", { id: "resp_1" })],
    finish: "paused",
    usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 20, cacheWriteTokens: 0, reasoningTokens: 4 }
  })
})

it("a request asks for the first job of its last message that has a safe id", () => {
  const of = (...content: ReadonlyArray<Message.Assistant["content"][number]>) =>
    jobs.of({
      messages: [Message.user("go"), { role: "assistant", paused: true, content }],
      tools: [],
      toolChoice: "auto"
    })
  const unsafe = JobItem.make("openai", { id: "a/b", after: 1 })
  const foreign = JobItem.make("azure", { id: "r0" })
  const own = JobItem.make("openai", { id: "r1", after: 7 })
  assert.deepStrictEqual(of(Message.text("hm"), unsafe, foreign, own), { id: "r1", after: 7 })
  assert.deepStrictEqual(of(JobItem.make("openai", { id: "r2" })), { id: "r2", after: undefined })
  assert.isUndefined(of(unsafe, foreign))
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
