/** Laws of texts: what is read from headers, and what models read. */
import * as Factories from "@kintsugi/core/Factories"
import { assert } from "@effect/vitest"
import { Recovery, Tool } from "@kintsugi/core"
import * as Render from "@kintsugi/core/Render"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Duration, Effect, Schema } from "effect"
import fc from "fast-check"
import { agentWith, overADay, read } from "../_support/dialogue.ts"
import { calling, lawOfRuns } from "./_support/runs.ts"
import { law } from "../_support/laws.ts"
import { Kind } from "../../packages/core/src/errors/Kinds.ts"

// --- hints of servers

const hintOf = (header: string, now: number) => {
  const { retryAfter } = Factories.fromHttp429("openai", header, { now })
  return retryAfter === undefined ? undefined : Duration.toMillis(retryAfter)
}

/** Whole seconds, for dates know no less. */
const instant = fc.integer({ min: 0, max: 4e9 }).map((seconds) => seconds * 1000)

const seconds = fc.integer({ min: 0, max: 10_000_000 })

law(
  "reading a wait that was written as seconds, fractions of them, or a date gives that wait [L207 T12]",
  fc.record({ seconds, millis: fc.nat(999), now: instant }),
  ({ millis, now, seconds }) =>
    Effect.sync(() => {
      assert.strictEqual(hintOf(String(seconds), now), seconds * 1000)
      const fraction = hintOf(` ${seconds}.${String(millis).padStart(3, "0")} `, now) ?? Number.NaN
      // no number has all fractions: it is never less, and at most a millisecond more
      assert.include([0, 1], fraction - (seconds * 1000 + millis))
      assert.strictEqual(hintOf(new Date(now + seconds * 1000).toUTCString(), now), seconds * 1000)
    })
)

law(
  "a date in the past is no wait, and neither a negative number nor any other text is one [L207 T12]",
  fc.record({
    ago: fc.integer({ min: 0, max: 1e9 }),
    now: fc.integer({ min: 2e9, max: 4e9 }).map((seconds) => seconds * 1000),
    negative: fc.oneof(fc.integer({ max: -1 }), fc.double({ max: -1e-6, noNaN: true })),
    junk: fc.oneof(fc.string(), fc.stringMatching(/^[\d. ,-]*$/), fc.double().map(String), fc.date().map(String))
  }),
  ({ ago, junk, negative, now }) =>
    Effect.sync(() => {
      assert.strictEqual(hintOf(new Date(now - ago * 1000).toUTCString(), now), 0)
      assert.isUndefined(hintOf(String(negative), now))
      const wait = hintOf(junk, now)
      if (/^\s*\d+(\.\d+)?\s*$/.test(junk)) return
      assert.isUndefined(wait, junk)
    })
)

// --- texts that are too long

const lengthOf = (text: string) => Array.from(text).length

const long = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc
    .array(fc.constantFrom("word", " ", "\n", "\n\n", ". ", ", ", "🙂"), { maxLength: 40 })
    .map((words) => words.join(""))
)

law(
  "at most n characters for any n and any text, uncut where it fits, no half character, not only dots [L910 K25 K26 K27]",
  fc.record({ text: long, max: fc.integer({ min: 0, max: 80 }) }),
  ({ max, text }) =>
    Effect.sync(() => {
      const cut = Render.truncated(text, max)
      assert.isAtMost(lengthOf(cut), max)
      if (lengthOf(text) <= max) return assert.strictEqual(cut, text)
      assert.isFalse(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(cut))
      if (max > 3) {
        assert.isTrue(cut.endsWith("..."))
        assert.isAbove(cut.length, 3)
        assert.isTrue(text.startsWith(cut.slice(0, -3)))
      } else assert.isTrue(text.startsWith(cut))
      return undefined
    })
)

// --- what must not be in a text

/** As they turn up in errors; each stands between words. */
const secrets = {
  key: "sk_live_abcdefgh12345678",
  bearer: "Bearer abcdefghijklmnop01",
  password: "password=hunter2secret"
} as const

class Own extends Data.TaggedError("Own")<{
  readonly message: string
  readonly cause?: unknown
  readonly detail?: unknown
}> {}

interface Planted {
  readonly kind: keyof typeof secrets
  readonly where: "message" | "cause" | "deep cause" | "detail" | "stack"
  readonly words: string
  readonly base: unknown
  readonly attempt: number
}

const planted: fc.Arbitrary<Planted> = fc.record({
  kind: fc.constantFrom("key", "bearer", "password"),
  where: fc.constantFrom("message", "cause", "deep cause", "detail", "stack"),
  words: fc
    .array(fc.constantFrom("no", "access", "to", "the", "host", "42"), { maxLength: 4 })
    .map((all) => all.join(" ")),
  base: FastCheck.fromEffect(Arbitraries.error),
  attempt: fc.integer({ min: 1, max: 4 })
})

const failing = ({ base, kind, where, words }: Planted): Own => {
  const text = `${words} ${secrets[kind]} ${words}`
  switch (where) {
    case "message":
      return new Own({ message: text, cause: base })
    case "detail":
      return new Own({ message: words, detail: { text }, cause: base })
    case "cause":
      return new Own({ message: words, cause: new Error(text) })
    case "deep cause":
      return new Own({ message: words, cause: new Error(words, { cause: new Error(text, { cause: base }) }) })
    case "stack":
      return Object.assign(new Own({ message: `${words}\n    at run (/srv/app/run.ts:1:1)` }), {
        stack: `Own: ${text}\n    at run (/srv/app/run.ts:1:1)`
      })
  }
}

const holdsNone = (text: string, { kind }: Planted): void => {
  assert.notInclude(text, secrets[kind].split(/[ =]/).at(-1) ?? "")
  assert.notMatch(text, /\n\s+at \S+ \(/)
}

law("no label of a failure holds a stack, nor a secret that is anywhere in it [L911 P202]", planted, (story) =>
  Effect.sync(() => {
    for (const kind of Kind.literals) {
      const text = Render.labelled(failing(story), {
        attempt: story.attempt,
        previous: [],
        elapsed: Duration.zero,
        failingBatches: 0,
        failuresInARow: 0,
        tool: "work",
        callId: "c1",
        sideEffects: "none",
        kind
      })
      holdsNone(text, story)
    }
  })
)

lawOfRuns(
  "no text about a failed call shows the model a stack, or a secret of the failure [L911 P202]",
  planted,
  Effect.fnUntraced(function* (story, run) {
    const tool = Tool.make("work", {
      description: "Works.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (): Effect.Effect<string, Own> => Effect.fail(failing(story))
    }).pipe(Tool.onError({ orElse: Recovery.ladder(Recovery.retry({ retries: story.attempt - 1 }), Recovery.tell()) }))
    const model = yield* calling([ScriptedModel.call("work", {}, "c1")])
    // an error beneath may say how long to wait
    yield* overADay(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(model.requests.length, 2)
    for (const text of read(model)) holdsNone(text, story)
    for (const { messages } of model.requests) holdsNone(JSON.stringify(messages), story)
  })
)
