/** The decisions before a final error, as data. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import { Trail, type TrailEntry, type VerdictKind } from "../../../packages/core/src/errors/Trail.ts"

const codec = Schema.toCodecJson(Trail)
const sent = (trail: unknown) =>
  Effect.flatMap(Schema.encodeUnknownEffect(codec)(trail), (json) =>
    Schema.decodeUnknownEffect(codec)(JSON.parse(JSON.stringify(json)))
  )

// each verdict has a place here, or this does not compile
const kinds: Readonly<Record<VerdictKind, true>> = {
  retry: true,
  fix: true,
  ask: true,
  compact: true,
  tell: true,
  escalate: true,
  respondWith: true,
  raise: true,
  rethrow: true,
  fallback: true
}

const entry: TrailEntry = {
  tag: "Busy",
  message: "busy",
  verdict: "retry",
  gaveUp: true,
  rung: 1,
  attempt: 2,
  delay: Duration.seconds(1)
}

it.effect.each(Object.keys(kinds))("a decision for %s survives JSON [P1103]", (verdict) =>
  Effect.gen(function* () {
    assert.deepStrictEqual<unknown>(yield* sent([{ ...entry, verdict }]), [{ ...entry, verdict }])
  })
)

it.effect("so do its reason, its hint and what was left of the budget [P1103]", () =>
  Effect.gen(function* () {
    for (const why of ["no-approver", "no-continuation"] as const) {
      const whole = {
        ...entry,
        why,
        hint: Duration.seconds(3),
        hintFrom: "RateLimitError",
        left: { turns: 2, toolCalls: 1 }
      }
      assert.deepStrictEqual<unknown>(yield* sent([entry, whole]), [entry, whole])
    }
    for (const wrong of [{ verdict: "stop" }, { why: "no-time" }, { left: { turns: "two", toolCalls: 1 } }]) {
      yield* Effect.flip(sent([{ ...entry, ...wrong }]))
    }
  })
)
