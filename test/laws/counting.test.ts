import { assert } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Effect } from "effect"
import fc from "fast-check"
import {
  count,
  delays,
  guarded,
  guardedBy,
  options,
  type Options,
  retriesOf,
  type Verdict
} from "./_support/policies.ts"
import {
  allFailing,
  bare,
  deadly,
  failed,
  failing,
  type Failure,
  law,
  plainScript,
  type Script,
  script,
  stepOf,
  type Tag,
  tags,
  takes
} from "../_support/laws.ts"

/** One policy for every tag. */
const always = (options: Options) => guarded({ orElse: { kind: "retry", options } })

/** As `always`, without a bound on hints: only counts end it. */
const patient = options.map((options): Options => ({ ...options, maxHint: 10 ** 9 }))

const attemptsOf = (options: Options): number => 1 + retriesOf(options)

/** The steps in front of an end that a policy must not handle. */
const failures = fc.array(failing(tags), { maxLength: 8 })

law(
  "no script makes more attempts than the policy has [L101]",
  fc.record({ options, script }),
  ({ options, script }, play) =>
    Effect.map(play(script, always(options)), ({ attempts }) => assert.isAtMost(attempts.length, attemptsOf(options)))
)

law(
  "a policy of one attempt adds nothing, not even an instant [L102]",
  fc.record({
    options: delays.map((delays): Options => ({ ...delays, maxAttempts: 1 })),
    script: plainScript
  }),
  ({ options, script }, play) =>
    Effect.gen(function* () {
      const trace = yield* play(script, always(options))
      assert.deepStrictEqual(trace, yield* play(script, bare))
      assert.strictEqual(trace.attempts.length, 1)
    })
)

law(
  "a success after k failures comes from attempt k + 1 [L103]",
  fc.record({ options: patient, failures, value: fc.string(), takes, rest: script }),
  ({ failures, options, rest, takes, value }, play) => {
    fc.pre(failures.length < attemptsOf(options))
    const script: Script = {
      steps: [...failures, { does: "succeed", takes, value }, ...rest.steps],
      rest: rest.rest
    }
    return Effect.map(play(script, always(options)), ({ attempts, exit }) => {
      assert.strictEqual(attempts.length, failures.length + 1)
      assert.strictEqual(exit, `success ${value}`)
    })
  }
)

law(
  "when all attempts fail, the last error of exactly as many attempts leaves, the same object [L104]",
  fc.record({ options: patient, script: allFailing() }),
  ({ options, script }, play) =>
    Effect.map(play(script, always(options)), ({ attempts, exit }) => {
      const last = attemptsOf(options)
      assert.strictEqual(attempts.length, last)
      assert.strictEqual(exit, failed(tagOf(script, last), last))
    })
)

law(
  "the first failure without a row ends it with that error [L105]",
  fc.record({ options: patient, script: allFailing(), spared: fc.constantFrom(...tags) }),
  ({ options, script, spared }, play) => {
    const policy = { kind: "retry", options } as const
    const rows = Object.fromEntries(tags.filter((tag) => tag !== spared).map((tag) => [tag, policy]))
    const orElse = guarded({ ...rows, orElse: { kind: "rethrow" } })
    return Effect.gen(function* () {
      const trace = yield* play(script, guarded(rows))
      const last = endsAt(script, (tag) => (tag === spared ? 0 : retriesOf(options)))
      assert.strictEqual(trace.attempts.length, last)
      assert.strictEqual(trace.exit, failed(tagOf(script, last), last))
      assert.deepStrictEqual(yield* play(script, orElse), trace)
    })
  }
)

law(
  "a defect or an interruption ends the repetition, also beside a failure, and no row decides [L106]",
  fc.record({ failures, deadly, rest: script }),
  ({ deadly, failures, rest }, play) => {
    const script: Script = { steps: [...failures, deadly, ...rest.steps], rest: rest.rest }
    const asked: Array<number> = []
    const policy = Recovery.when(({ attempt }: Failure) => {
      asked.push(attempt)
      return Recovery.retry({ retries: 100, maxHint: 10 ** 9 })
    })
    return Effect.map(play(script, guardedBy({ orElse: policy })), ({ attempts, exit }) => {
      assert.strictEqual(attempts.length, failures.length + 1)
      assert.deepStrictEqual(
        asked,
        failures.map((_, index) => index + 1)
      )
      assert.match(exit, deadly.does.endsWith("interrupt") ? /^interrupted$/ : /^died of/)
    })
  }
)

law(
  "attempts are numbered from 1 without a gap, afresh in every run of one policy [L107]",
  fc.record({ options: patient, script: allFailing() }),
  ({ options, script }, play) =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const guard = guardedBy({ orElse: watching(Recovery.retry(options), ({ attempt }) => seen.push(attempt)) })
      const numbers = Array.from({ length: attemptsOf(options) }, (_, index) => index + 1)
      yield* play(script, guard)
      assert.deepStrictEqual(seen, numbers)
      yield* play(script, guard)
      assert.deepStrictEqual(seen, [...numbers, ...numbers])
    })
)

law(
  "the history has every error in order, and its last one is the error that leaves [L108]",
  fc.record({ options: patient, script: allFailing() }),
  ({ options, script }, play) =>
    Effect.gen(function* () {
      let history: ReadonlyArray<unknown> = []
      const guard = guardedBy({
        orElse: watching(Recovery.retry(options), ({ previous }, error) => (history = [...previous, error]))
      })
      const { exit } = yield* play(script, guard)
      assert.deepStrictEqual(
        history.map((error) => failed((error as Failure)._tag, (error as Failure).attempt)),
        Array.from({ length: attemptsOf(options) }, (_, index) => failed(tagOf(script, index + 1), index + 1))
      )
      assert.strictEqual(exit, failed((history.at(-1) as Failure)._tag, history.length))
    })
)

law(
  "n retries and n + 1 attempts leave the same trace [L109]",
  fc.record({ count, delays, script }),
  ({ count, delays, script }, play) =>
    Effect.gen(function* () {
      const retries = retriesOf(count)
      const trace = yield* play(script, always({ ...delays, retries }))
      assert.deepStrictEqual(yield* play(script, always({ ...delays, maxAttempts: retries + 1 })), trace)
    })
)

const watching = (verdict: Verdict, watch: (context: Recovery.FailureContext, error: Failure) => unknown): Verdict =>
  Recovery.when((error: Failure, context) => {
    watch(context, error)
    return verdict
  })

const tagOf = (script: Script, attempt: number): Tag => {
  const step = stepOf(script, attempt)
  return "tag" in step ? step.tag : "A"
}

/** The attempt at which a tag has used up its own row. */
const endsAt = (script: Script, retriesFor: (tag: Tag) => number): number => {
  const used = { A: 0, B: 0, C: 0, D: 0 }
  for (let attempt = 1; ; attempt++) {
    const tag = tagOf(script, attempt)
    if (++used[tag] > retriesFor(tag)) return attempt
  }
}
