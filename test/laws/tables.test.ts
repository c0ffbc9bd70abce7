import { assert } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import fc from "fast-check"
import {
  draw,
  drawing,
  final,
  guarded,
  guardedBy,
  jittered,
  ladderOf,
  options,
  type Policy,
  policy,
  reference,
  repeatsOf,
  retriesOf,
  retry,
  type Row,
  type Table,
  table,
  verdictOf,
  verdictsOf
} from "./_support/policies.ts"
import {
  allFailing,
  bare,
  failed,
  type Failure,
  law,
  plainScript,
  script,
  stepOf,
  type Tag,
  tags
} from "../_support/laws.ts"

/** A ladder's rung; the nested ones of the generator are ladders too. */
const rungs = (min: number, max: number) => fc.array(policy, { minLength: min, maxLength: max })

const ladder = (...rungs: ReadonlyArray<Policy>): Policy => ({ kind: "ladder", rungs })

/** Retries whose hints never end them: counts alone do. */
const patient = options.map((options) => ({ ...options, maxHint: 10 ** 9 }))

const shortRetry: fc.Arbitrary<Policy> = fc
  .integer({ min: 0, max: 3 })
  .map((retries) => ({ kind: "retry", options: { retries } }) as const)

/** The same policy, in which nothing ends the call but an answer. */
const withoutEnds = (policy: Policy): Policy => {
  switch (policy.kind) {
    case "rethrow":
      return { kind: "retry", options: { retries: 1 } }
    case "respondWith":
      return { ...policy, handler: "succeeds" }
    case "ladder":
      return { ...policy, rungs: policy.rungs.map(withoutEnds) }
    case "when":
      return { ...policy, first: withoutEnds(policy.first), second: withoutEnds(policy.second) }
    case "retry":
      return policy
  }
}

const tag = fc.constantFrom(...tags)

const tagOf = (row: Tag, rows: object): Row => (row in rows ? row : "orElse")

law("a table without rows is the identity [L601]", plainScript, (script, play) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* play(script, guarded({})), yield* play(script, bare))
  })
)

law(
  "attempts are at most 1 and the retries of all rows, however the tags interleave [L602]",
  fc.record({ table, script: fc.oneof(script, allFailing()), draw }),
  ({ draw, script, table }, play) => {
    const bound = Object.values(table).reduce((sum, policy) => sum + repeatsOf(policy), 1)
    return Effect.map(play(script, drawing(draw, guarded(table))), ({ attempts }) =>
      assert.isAtMost(attempts.length, bound)
    )
  }
)

law(
  "rows that only retry share no attempt: 1 and all their retries is the most, and can be reached [L602]",
  fc.record({
    table: fc.record({ A: shortRetry, B: shortRetry, orElse: shortRetry }),
    script: allFailing(tags, Arbitrary.Constant(undefined))
  }),
  ({ script, table }, play) =>
    Effect.gen(function* () {
      const { attempts } = yield* play(script, guarded(table))
      const bound = 1 + repeatsOf(table.A) + repeatsOf(table.B) + repeatsOf(table.orElse)
      assert.isAtMost(attempts.length, bound)
      // each row to its end, one after another
      const longest = (["A", "B", "C"] as const).flatMap((tag) =>
        Array.from(
          { length: repeatsOf(table[tag === "C" ? "orElse" : tag]) },
          () => ({ does: "fail", tag, takes: 1 }) as const
        )
      )
      const whole = yield* play({ steps: longest, rest: { does: "fail", tag: "A", takes: 1 } }, guarded(table))
      assert.strictEqual(whole.attempts.length, bound)
    })
)

law(
  "the order of the rows does not matter [L603]",
  fc.record({ table, script, draw }).chain(({ table, ...rest }) =>
    fc.record({
      table: fc.constant(table),
      order: fc.shuffledSubarray(Object.keys(table), { minLength: Object.keys(table).length }),
      script: fc.constant(rest.script),
      draw: fc.constant(rest.draw)
    })
  ),
  ({ draw, order, script, table }, play) =>
    Effect.gen(function* () {
      const reordered: Table = Object.fromEntries(order.map((row) => [row, table[row as Row]]))
      assert.deepStrictEqual(
        yield* play(script, drawing(draw, guarded(reordered))),
        yield* play(script, drawing(draw, guarded(table)))
      )
    })
)

law(
  "failures of one tag leave the counts and the waits of another row as they are [L604]",
  fc.record({
    mine: patient,
    others: patient,
    script: allFailing(["A", "B"], Arbitrary.Constant(undefined)),
    last: fc.constantFrom<Tag>("A", "B")
  }),
  ({ last, mine, others, script }, play) => {
    const ending = { ...script, rest: { ...script.rest, tag: last } }
    const table: Table = { A: { kind: "retry", options: mine }, B: { kind: "retry", options: others } }
    return Effect.map(play(ending, guarded(table)), ({ attempts, end, exit }) => {
      const failures = attempts.map(({ attempt }) => tagIn(stepOf(ending, attempt)))
      const count = (tag: Tag) => failures.filter((found) => found === tag).length
      const [ender, other] = exit.startsWith("failure A") ? (["A", "B"] as const) : (["B", "A"] as const)
      const retries = { A: retriesOf(mine), B: retriesOf(others) }
      assert.strictEqual(count(ender), retries[ender] + 1)
      assert.isAtMost(count(other), retries[other])
      // the waits of A are those of a run in which A alone fails, and so are those of B
      for (const [tag, options] of [["A", mine] as const, ["B", others] as const]) {
        const { factor = 2, initialBackoff = 0, maxBackoff = Infinity } = options
        let k = 0
        attempts.forEach(({ attempt, start }, index) => {
          const next = attempts[index + 1]?.start ?? end
          if (failures[index] !== tag || attempt === attempts.length) return
          const wait = Math.round(Math.min(initialBackoff * factor ** k++, maxBackoff) * 1e6) / 1e6
          assert.strictEqual(next, start + stepOf(ending, attempt).takes + wait)
        })
      }
    })
  }
)

law("a ladder of one rung is that rung [L605]", fc.record({ policy, script, draw }), ({ draw, policy, script }, play) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(
      yield* play(script, drawing(draw, guarded({ orElse: ladder(policy) }))),
      yield* play(script, drawing(draw, guarded({ orElse: policy })))
    )
  })
)

law(
  "ladders are associative [L605]",
  fc.record({ rungs: rungs(3, 3), script: fc.oneof(script, allFailing()), draw }),
  ({ draw, rungs: [a, b, c], script }, play) =>
    Effect.gen(function* () {
      const run = (policy: Policy) => play(script, drawing(draw, guarded({ orElse: policy })))
      const flat = yield* run(ladder(a!, b!, c!))
      assert.deepStrictEqual(yield* run(ladder(ladder(a!, b!), c!)), flat)
      assert.deepStrictEqual(yield* run(ladder(a!, ladder(b!, c!))), flat)
    })
)

law(
  "no rung runs behind a rung that handled the failure [L605]",
  fc.record({ before: rungs(0, 2), final, script: fc.oneof(script, allFailing()), draw }),
  ({ before, draw, final, script }, play) =>
    Effect.gen(function* () {
      let asked = 0
      const spy = Recovery.when(() => {
        asked++
        return Recovery.rethrow
      })
      const orElse = ladderOf([...[...before, final].map(verdictOf), spy])
      yield* play(script, drawing(draw, guardedBy({ orElse })))
      assert.strictEqual(asked, 0)
    })
)

law(
  "a rung that handled the failure is the last to decide, and a rung that gave up never decides again [L605]",
  fc.record({
    retries: fc.array(fc.nat(3), { maxLength: 3 }),
    final,
    script: allFailing(tags, Arbitrary.Constant(undefined))
  }),
  ({ final, retries, script }, play) => {
    const asked: Array<string> = []
    const expected: Array<string> = []
    const watched = [...retries.map((retries): Policy => ({ kind: "retry", options: { retries } })), final]
    const rungs = watched.map((policy, rung) => {
      const verdict = verdictOf(policy)
      return Recovery.when(({ attempt }: Failure) => {
        asked.push(`rung ${rung} after attempt ${attempt}`)
        return verdict
      })
    })
    let rung = 0
    for (let attempt = 1, left = [...retries, 0]; rung < watched.length; attempt++) {
      expected.push(`rung ${rung} after attempt ${attempt}`)
      for (; left[rung] === 0 && rung < watched.length; rung++) {
        if (rung + 1 < watched.length) expected.push(`rung ${rung + 1} after attempt ${attempt}`)
      }
      left = left.map((one, index) => (index === rung ? one - 1 : one))
    }
    return Effect.map(play(script, guardedBy({ orElse: ladderOf(rungs) })), () =>
      assert.deepStrictEqual(asked, expected)
    )
  }
)

law(
  "the rung behind a retry decides once, about the error that used the retry up [L606]",
  fc.record({ options: patient, final, script: allFailing() }),
  ({ final, options, script }, play) =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const next = Recovery.when((error: Failure) => {
        asked.push(failed(error._tag, error.attempt))
        return verdictOf(final)
      })
      const { attempts } = yield* play(script, guardedBy({ orElse: Recovery.ladder(Recovery.retry(options), next) }))
      const last = 1 + retriesOf(options)
      assert.strictEqual(attempts.length, last)
      assert.deepStrictEqual(asked, [failed(tagIn(stepOf(script, last)), last)])
    })
)

law(
  "a choice of always the same policy is that policy, and is made once for each failure [L607]",
  fc.record({ policy, script, draw }),
  ({ draw, policy, script }, play) =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const chosen = Recovery.when(({ attempt }: Failure) => {
        asked.push(attempt)
        return verdictOf(policy)
      })
      const plain = yield* play(script, drawing(draw, guarded({ orElse: policy })))
      assert.deepStrictEqual(yield* play(script, drawing(draw, guardedBy({ orElse: chosen }))), plain)
      assert.deepStrictEqual(
        asked,
        plain.attempts.filter(({ outcome }) => outcome === "fail").map(({ attempt }) => attempt)
      )
    })
)

law(
  "rethrow is the absence of every row for its tag, and no other row decides [L608]",
  fc.record({ rows: table, all: fc.tuple(policy, policy, policy, policy), orElse: policy, tag, script, draw }),
  ({ all, draw, orElse, rows, script, tag }, play) =>
    Effect.gen(function* () {
      const run = (table: Table) => play(script, drawing(draw, guarded(table)))
      const rethrowing: Table = { [tag]: { kind: "rethrow" } }
      const some: Table = without(rows, tag, "orElse")
      assert.deepStrictEqual(yield* run({ ...some, ...rethrowing }), yield* run(some))
      const others = without(Object.fromEntries(tags.map((tag, index) => [tag, all[index]])), tag)
      assert.deepStrictEqual(yield* run({ ...others, orElse, ...rethrowing }), yield* run(others))
    })
)

law(
  "a table and a script leave the trace of the reference [L609]",
  fc.record({ table, script: fc.oneof(script, allFailing()), draw }),
  ({ draw, script, table }, play) =>
    Effect.map(play(script, drawing(draw, guarded(table))), (trace) =>
      assert.deepStrictEqual(trace, reference(table, script, draw))
    )
)

law(
  "orElse changes nothing for tags with rows of their own [L609]",
  fc.record({ rows: fc.tuple(policy, policy, policy, policy), orElse: policy, script, draw }),
  ({ draw, orElse, rows, script }, play) =>
    Effect.gen(function* () {
      const table: Table = Object.fromEntries(tags.map((tag, index) => [tag, rows[index]]))
      const plain = yield* play(script, drawing(draw, guarded(table)))
      assert.deepStrictEqual(yield* play(script, drawing(draw, guarded({ ...table, orElse }))), plain)
    })
)

law(
  "a tag whose row answers is never in the exit [L610]",
  fc.record({
    before: fc.array(retry, { maxLength: 2 }),
    tag,
    table,
    script: fc.oneof(script, allFailing()),
    draw
  }),
  ({ before, draw, script, table, tag }, play) => {
    const answer: Policy = { kind: "respondWith", after: 0, handler: "succeeds" }
    const answering: Table = { ...table, [tag]: ladder(...before, answer) }
    return Effect.map(play(script, drawing(draw, guarded(answering))), ({ exit }) =>
      assert.isFalse(exit.startsWith(`failure ${tag} `), exit)
    )
  }
)

/** Ladders of any length whose last rung answers. */
const answering: fc.Arbitrary<Policy> = fc
  .array(policy.map(withoutEnds), { maxLength: 3 })
  .map((before) => ladder(...before, { kind: "respondWith", after: 0, handler: "succeeds" }))

law(
  "with any answering ladders that a handler chooses, one after the other, its tag is never in the exit [L610 P1324]",
  fc.record({
    choices: fc.array(answering, { minLength: 1, maxLength: 5 }),
    asRung: fc.boolean(),
    tag,
    table,
    script: fc.oneof(script, allFailing()),
    draw
  }),
  ({ asRung, choices, draw, script, table, tag }, play) => {
    let asked = 0
    const choose: (failure: Failure) => ReturnType<typeof verdictOf> = () =>
      verdictOf(choices[asked++ % choices.length]!)
    const row = Recovery.when(choose)
    const verdicts = { ...verdictsOf(table), [tag]: asRung ? Recovery.ladder(row) : row }
    return Effect.map(play(script, drawing(draw, guardedBy(verdicts))), ({ exit }) =>
      assert.isFalse(exit.startsWith(`failure ${tag} `), exit)
    )
  }
)

law(
  "an answer ends the call: no attempt follows [L611]",
  fc.record({ table, tag, answer: final, script: fc.oneof(script, allFailing()), draw }),
  ({ answer, draw, script, table, tag }, play) =>
    Effect.map(play(script, drawing(draw, guarded({ ...table, [tag]: answer }))), ({ attempts }) => {
      const answered = attempts.filter(({ attempt, outcome }) => {
        const step = stepOf(script, attempt)
        return outcome === "fail" && tagOf(tagIn(step), { [tag]: answer }) === tag
      })
      assert.isAtMost(answered.length, 1)
      if (answered.length === 1) assert.strictEqual(answered[0]!.attempt, attempts.length)
    })
)

law(
  "Effect.retry with the schedule of a retry leaves the trace of the table [A516]",
  fc.record({ options: fc.oneof(options, jittered), script: fc.oneof(script, allFailing()), draw }),
  ({ draw, options, script }, play) => {
    // Effect.retry itself retries a failure beside an interrupt
    fc.pre([...script.steps, script.rest].every(({ does }) => does !== "fail and interrupt"))
    const policy = Recovery.retry<Failure>(options)
    return Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* play(script, drawing(draw, Effect.retry(Recovery.toSchedule(policy)))),
        yield* play(script, drawing(draw, guardedBy({ orElse: policy })))
      )
    })
  }
)

function without(table: Table, ...rows: ReadonlyArray<Row>): Table {
  return Object.fromEntries(Object.entries(table).filter(([row]) => !rows.some((other) => other === row)))
}

function tagIn(step: object): Tag {
  return "tag" in step ? (step.tag as Tag) : "A"
}
