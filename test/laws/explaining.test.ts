import { assert } from "@effect/vitest"
import { Agent, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { PolicyData } from "@kintsugi/core/testing"
import { Data, Duration, Effect, Layer, Schema, Stream } from "effect"
import fc from "fast-check"
import {
  draw,
  drawing,
  final,
  guardedBy,
  jittered,
  options,
  type Policy,
  type Row,
  type Table,
  table,
  verdictsOf,
  when
} from "./_support/policies.ts"
import { allFailing, law, script, type Script, type Tag, tags, waitsOf } from "../_support/laws.ts"

const slack = 1e-3

law(
  "no trace exceeds what its table is explained to do: attempts, waits, time [L508]",
  fc.record({
    table: fc.oneof(
      table,
      when.map((policy): Table => ({ orElse: policy }))
    ),
    script: fc.oneof(script, allFailing()),
    draw
  }),
  ({ draw, script, table }, play) => {
    const verdicts = PolicyData.tableOf(table)
    const { worst } = Recovery.explain(verdicts)
    return Effect.map(play(script, drawing(draw, guardedBy(verdicts))), (trace) => {
      const waited = waitsOf(script, trace).reduce((sum, wait) => sum + wait, 0)
      assert.isAtMost(trace.attempts.length, worst.attempts)
      assert.isAtMost(waited, Duration.toMillis(worst.time) + slack)
    })
  }
)

/** Retries that nothing ends before their count, among verdicts that end a call. */
const counting: fc.Arbitrary<Policy> = fc.oneof(
  { weight: 4, arbitrary: fc.oneof(options, jittered).map((options) => ({ kind: "retry", options }) as const) },
  { weight: 1, arbitrary: final }
)

const explicable: fc.Arbitrary<Policy> = fc.oneof(
  counting,
  fc.array(counting, { minLength: 1, maxLength: 4 }).map((rungs) => ({ kind: "ladder", rungs }) as const)
)

/** One tag is left for `orElse`. */
const explicableTable: fc.Arbitrary<Table> = fc
  .uniqueArray(fc.tuple(fc.constantFrom<Row>("A", "B", "C", "orElse"), explicable), { selector: ([row]) => row })
  .map((rows): Table => Object.fromEntries(rows))

/**
 * Uses up every row without asking one a time too often, with or without the longest hint that each rung grants. A hint of nothing
 * asks for a millisecond (L208), which a rung that grants none does not wait.
 */
const worstScript = (explained: ReturnType<typeof Recovery.explain>, hinted: boolean): Script => {
  const steps = explained.rows.flatMap(({ key, rungs }) =>
    rungs.flatMap(({ maxHint, waits }) =>
      waits.map(() => ({
        takes: 0,
        does: "fail" as const,
        tag: tags.find((tag) => tag === key) ?? ("D" as Tag),
        ...(hinted && Duration.toMillis(maxHint) >= 1 ? { hint: Duration.toMillis(maxHint) } : {})
      }))
    )
  )
  return { steps, rest: { takes: 0, does: "fail", tag: tags.find((tag) => tag === explained.rows[0]?.key) ?? "D" } }
}

law(
  "some script attains the bounds of an explicable table [L508]",
  fc.record({ table: explicableTable, hinted: fc.boolean() }),
  ({ hinted, table }, play) => {
    const verdicts = verdictsOf(table)
    const explained = Recovery.explain(verdicts)
    const script = worstScript(explained, hinted)
    return Effect.map(play(script, drawing(1, guardedBy(verdicts))), (trace) => {
      const waited = waitsOf(script, trace).reduce((sum, wait) => sum + wait, 0)
      assert.strictEqual(trace.attempts.length, explained.worst.attempts)
      const bound = Duration.toMillis(hinted ? explained.worst.time : explained.worst.waits)
      assert.approximately(waited, bound, slack)
    })
  }
)

class Broken extends Data.TaggedError("Broken")<{}> {}
class Absent extends Data.TaggedError("Absent")<{}> {}

const usage = Usage.make({})

/** A model that says this, or makes this one call, for any request. */
const saying = (counter: { calls: number }, reply: (calls: number) => Message.Reply) =>
  Layer.succeed(Model.Model, {
    name: "scripted",
    provider: "test",
    generate: () => Effect.sync(() => reply(++counter.calls)),
    stream: () => Stream.die("not streamed here")
  })

const calling = (name: string): Message.Reply => ({
  content: [{ type: "tool-call", id: "c", name, arguments: "{}" }],
  finish: "tool-calls",
  usage
})

const rung = fc.record({
  retries: fc.integer({ min: 0, max: 4 }),
  fixes: fc.integer({ min: 0, max: 6 }),
  turns: fc.integer({ min: 1, max: 3 })
})

law(
  "a call attains the explained bounds of its tables: attempts, fixer runs, model calls [L508 P1102]",
  fc.record({ broken: rung, absent: rung, doesFix: fc.boolean() }),
  ({ absent, broken, doesFix }) =>
    Effect.gen(function* () {
      const fixing = { calls: 0 }
      /** Either repairs at once, or looks until its budget is used up. */
      const fixerOf = (name: string, maxTurns: number) =>
        Agent.make(name, {
          budget: { maxTurns },
          model: saying(fixing, () =>
            doesFix ? { content: [Message.text("{}")], finish: "stop", usage } : calling("look")
          ),
          skills: [Skill.make("look", { description: "Looks.", tools: [look] })]
        })
      const ladder = (name: string, { fixes, retries, turns }: typeof broken) =>
        Recovery.ladder(
          Recovery.retry({ retries }),
          Recovery.fix(fixerOf(name, turns), { retries: fixes }),
          Recovery.tell()
        )
      let runs = 0
      const budgeted = { Broken: ladder("first", broken), Absent: ladder("second", absent) }
      const repeatsOf = ({ fixes, retries }: typeof broken) => retries + (doesFix ? fixes : 0)
      const tool = Tool.make("work", {
        description: "Never works.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: (): Effect.Effect<string, Broken | Absent> =>
          Effect.suspend(() => Effect.fail(runs++ < repeatsOf(broken) ? new Broken() : new Absent()))
      }).pipe(Tool.onError(budgeted))
      const asked = { calls: 0 }
      const agent = Agent.make("worker", {
        // what the fixers spend, this run has spent
        budget: { maxTurns: 100, maxToolCalls: 100 },
        model: saying(asked, (calls) =>
          calls === 1 ? calling("work") : { content: [Message.text("done")], finish: "stop", usage }
        ),
        skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
      })
      yield* agent("go")
      const { worst } = Recovery.explain(budgeted)
      const run = Agent.explain(agent).worst
      assert.isAtMost(runs, worst.attempts)
      assert.isAtMost(fixing.calls, worst.modelCalls)
      assert.isAtMost(asked.calls + fixing.calls, run.modelCalls)
      assert.strictEqual(run.fixerRuns, 100 * worst.fixerRuns)
      const isUncapped = broken.fixes + absent.fixes <= 8
      if (doesFix && isUncapped) assert.strictEqual(runs, worst.attempts)
      // a fixer that looks until its budget is used up fails: its rung is used up without a run of the tool
      if (!doesFix && broken.turns === absent.turns && isUncapped && absent.retries === 0 && broken.fixes === 0) {
        assert.strictEqual(fixing.calls, worst.modelCalls)
      }
    })
)

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("nothing")
})
