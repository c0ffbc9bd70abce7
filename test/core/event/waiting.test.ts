/** What a run waits for, as data. */
import { assert, it } from "@effect/vitest"
import { Approval, Message, type Snapshot } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { Waiting } from "../../../packages/core/src/event/waiting.ts"

const codec = Schema.toCodecJson(Waiting)
const sent = (value: unknown) =>
  Effect.flatMap(Schema.encodeUnknownEffect(codec)(value), (json) =>
    Schema.decodeUnknownEffect(codec)(JSON.parse(JSON.stringify(json)))
  )

const call = { runId: "r", agent: "a", callId: "c", tool: "t", expiresAt: 9 }
const request = new Approval.ApprovalRequest({
  runId: "r",
  agent: "a",
  tool: "t",
  callId: "c",
  key: "r/1/0",
  arguments: { n: 1 },
  reason: "why",
  schema: "s",
  digest: "d",
  requestedAt: 1,
  expiresAt: 9
})
const all: ReadonlyArray<Snapshot.Waiting> = [
  { type: "approval", ...call, request },
  { type: "ask", ...call, request },
  { type: "deferred", ...call, handle: { job: 1 } },
  { type: "message", id: "m", message: Message.user("and this") },
  { type: "message", runId: "r", agent: "a", id: "m", message: Message.user("and this") }
]

it.effect.each(all)("a wait of type $type survives JSON [P1585]", (waiting) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* sent(waiting), waiting)
  })
)

it.effect("a wait without its parts is refused [P1585]", () =>
  Effect.gen(function* () {
    yield* Effect.flip(sent({ ...all[0], type: "other" }))
    for (const waiting of all) {
      for (const key of Object.keys(waiting)) {
        if (waiting.type === "message" && (key === "runId" || key === "agent")) continue
        yield* Effect.flip(sent({ ...waiting, [key]: undefined }))
      }
    }
  })
)
