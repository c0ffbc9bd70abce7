/** Laws of repaired calls: how often fixers and tools run, and which checks precede repaired arguments. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Option, Schema } from "effect"
import fc from "fast-check"
import { agentWith, busy, gone, read } from "../_support/dialogue.ts"
import { calling, lawOfRuns } from "./_support/runs.ts"

const rows = ["InvalidArgs", "Busy", "Gone"] as const
type Row = (typeof rows)[number]

const raws = { fits: '{"n":1}', "is no JSON": "{{", "does not decode": '{"n":"many"}' } as const

type Raw = keyof typeof raws

interface Story {
  readonly sent: Raw
  /** How each run of the tool ends; then it fails with `Busy` for ever. */
  readonly runs: ReadonlyArray<"fine" | "Busy" | "Gone">
  /** What the fixers answer, in the order in which they are asked; then what fits. */
  readonly answers: ReadonlyArray<Raw | "fails">
  /** How often the fixer of a row may run. */
  readonly retries: Readonly<Record<Row, number>>
}

/** How often everything runs, told without the library. */
const foretold = ({ answers, retries, runs, sent }: Story) => {
  const fixed = { InvalidArgs: 0, Busy: 0, Gone: 0 }
  let ran = 0
  let asked = 0
  const run = () => runs[ran++] ?? "Busy"
  let outcome: Row | "fine" = sent === "fits" ? run() : "InvalidArgs"
  while (outcome !== "fine") {
    if (fixed[outcome] === retries[outcome] || asked === 8) return { fixed, ran, tells: true }
    fixed[outcome]++
    if ((answers[asked++] ?? "fits") === "fits") outcome = run()
  }
  return { fixed, ran, tells: false }
}

const repairs = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 5, max: 12 }))

lawOfRuns(
  "a fixer runs as often as its row admits, the tool once more, with at most 8 repairs a call, without a model call [L901]",
  fc.record({
    sent: fc.constantFrom<Raw>("fits", "is no JSON", "does not decode"),
    runs: fc.array(fc.constantFrom("fine", ...Array.from({ length: 5 }, () => ["Busy", "Gone"] as const).flat()), {
      maxLength: 10
    }),
    answers: fc.array(fc.constantFrom<Raw | "fails">("fits", "is no JSON", "does not decode", "fails"), {
      maxLength: 10
    }),
    retries: fc.record({ InvalidArgs: repairs, Busy: repairs, Gone: repairs })
  }),
  Effect.fnUntraced(function* (story: Story, run) {
    const fixed = { InvalidArgs: 0, Busy: 0, Gone: 0 }
    let ran = 0
    let asked = 0
    const tool = Tool.make("work", {
      description: "Works.",
      parameters: Schema.Struct({ n: Schema.Finite }),
      success: Schema.String,
      coercion: [],
      run: () => {
        const ending = story.runs[ran++] ?? "Busy"
        return ending === "fine" ? Effect.succeed("page") : Effect.fail(ending === "Busy" ? busy() : gone())
      }
    })
    const fix = (row: Row) => {
      const fixer = Agent.deterministic(`fixer of ${row}`, () => {
        fixed[row]++
        const answer = story.answers[asked++] ?? "fits"
        return answer === "fails" ? Effect.fail("no idea") : Effect.succeed(raws[answer])
      })
      return Recovery.ladder(
        Recovery.fix(fixer, { retries: story.retries[row] }),
        Recovery.tell(() => "told")
      )
    }
    const table = { InvalidArgs: fix("InvalidArgs"), Busy: fix("Busy"), Gone: fix("Gone") }
    const model = yield* calling([ScriptedModel.call("work", raws[story.sent], "c1")])
    yield* run(agentWith(tool.pipe(Tool.onError(table))), "go").pipe(Effect.provide(model.layer))

    for (const row of rows) assert.isAtMost(fixed[row], story.retries[row])
    assert.isAtMost(asked, 8)
    assert.isAtMost(ran, 1 + asked)
    assert.strictEqual(model.requests.length, 2)
    const { tells, ...counts } = foretold(story)
    assert.deepStrictEqual({ fixed, ran }, counts)
    assert.deepStrictEqual(read(model), [tells ? "told: told" : "result: page"])
  })
)

/** Arguments of a length, of which a policy may say no, or such as do not decode. */
const text = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ n: fc.nat(5), pad: fc.nat(20) }).map(({ n, pad }) => written(n, "é".repeat(pad)))
  },
  { weight: 1, arbitrary: fc.constantFrom("{{", '{"n":"many"}', '{"n":1,"m":2}', "null") }
)

const written = (n: number, pad: string): string => JSON.stringify({ n, pad })

const Params = Schema.Struct({ n: Schema.Finite, pad: Schema.String })

const reading = Schema.decodeUnknownOption(Schema.fromJsonString(Params), { onExcessProperty: "error" })

lawOfRuns(
  "no arguments reach a run unless they decode, are short enough, and these very ones were allowed [L902]",
  fc.record({
    sent: text,
    answers: fc.array(text, { maxLength: 8 }),
    /** How many runs of the tool fail before one succeeds. */
    failures: fc.integer({ min: 0, max: 6 }),
    denied: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
    maxArgsBytes: fc.integer({ min: 14, max: 60 }),
    retries: fc.integer({ min: 0, max: 2 })
  }),
  Effect.fnUntraced(function* ({ answers, denied, failures, maxArgsBytes, retries, sent }, run) {
    /** The arguments that were allowed and not repaired since, and those that the call has now. */
    let allowed: string | undefined
    let current: string | undefined = sent
    let isOver = false
    let ran = 0
    let asked = 0
    const tool = Tool.make("work", {
      description: "Works.",
      parameters: Params,
      success: Schema.String,
      coercion: [],
      run: (params) => {
        ran++
        if (isOver || current === undefined) return assert.fail("nothing may run")
        assert.strictEqual(allowed, current)
        assert.deepStrictEqual(params, JSON.parse(current))
        assert.isAtMost(new TextEncoder().encode(current).length, maxArgsBytes)
        assert.notInclude(denied, params.n)
        return ran <= failures ? Effect.fail(busy()) : Effect.succeed("page")
      }
    })
    const policy = (call: ToolPolicy.ProposedCall): ToolPolicy.Permission => {
      assert.isFalse(isOver)
      assert.strictEqual(call.arguments, current)
      const { n } = call.params as typeof Params.Type
      isOver = denied.includes(n)
      allowed = isOver ? undefined : current
      return isOver ? ToolPolicy.deny("not this one") : ToolPolicy.allow
    }
    const fixer = () => {
      assert.isFalse(isOver)
      const answer = answers[asked++] ?? sent
      // behind an answer that does not decode stands another answer, or the end
      current = Option.isSome(reading(answer)) ? answer : undefined
      allowed = undefined
      return Effect.succeed(answer)
    }
    const table = {
      InvalidArgs: Recovery.ladder(Recovery.fix(fixer, { retries: 4 }), Recovery.tell()),
      Busy: Recovery.ladder(Recovery.retry({ retries }), Recovery.fix(fixer, { retries: 4 }), Recovery.tell())
    }
    const model = yield* calling([ScriptedModel.call("work", sent, "c1")])
    const skills = [Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError(table))] })] as const
    const agent = Agent.make("worker", { skills, budget: { maxArgsBytes } }).pipe(Agent.toolPolicy(policy))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const last = model.requests.at(-1)?.messages.at(-1)
    const [part] = last?.role === "assistant" ? last.content : []
    const kind = part?.type === "settled-call" ? part.settlement.kind : undefined
    if (isOver) assert.strictEqual(kind, "denied")
    if (ran === 0) assert.notStrictEqual(kind, "result")
  })
)
