/** The text of a written test, part by part. */
import { describe, expect, it } from "vitest"
import type {
  AgentScript,
  Attempt,
  End,
  ModelStep,
  Script,
  ToolScript
} from "../../../packages/view/src/replay/parts.ts"
import * as TestFile from "../../../packages/view/src/replay/TestFile.ts"

const reply = (after: number, ...content: ReadonlyArray<object>): ModelStep => ({
  after,
  type: "reply",
  reply: { content, finish: content.some((part) => "name" in part) ? "tool-calls" : "stop" }
})

const text = (text: string) => ({ type: "text", text })
const call = (id: string, name: string, args: unknown = {}) => ({ type: "tool-call", id, name, arguments: args })

const agent = (fields: Partial<AgentScript> = {}): AgentScript => ({
  name: "desk",
  prompt: undefined,
  models: [reply(5, text("Hello."))],
  answers: [],
  tools: [],
  builtIn: [],
  rows: [],
  unknown: [],
  denied: new Map(),
  budget: {},
  interruptsSiblings: false,
  restarts: false,
  ...fields
})

const script = (fields: Partial<Script> = {}): Script => ({
  input: "Hi",
  at: Date.UTC(2026, 10, 21, 22, 39, 7),
  lasted: 5,
  agents: [agent()],
  decisions: [],
  isStreamed: false,
  end: { type: "completed", text: "Hello." },
  ...fields
})

const failed = (fields: object = {}): End => ({
  type: "failed",
  failure: { tag: "Busy", message: "later" },
  isDefect: false,
  agent: "desk",
  tool: undefined,
  advised: undefined,
  ...fields
})

const tool = (attempts: ReadonlyArray<Attempt>, fields: Partial<ToolScript> = {}): ToolScript => ({
  name: "pay",
  calls: new Map([["c1", attempts]]),
  rows: [],
  ...fields
})

const gives = (text: string): Attempt => ({ after: 1, runs: [], isInTurn: true, type: "gives", text })

const withTools = (...tools: ReadonlyArray<ToolScript>) => TestFile.write(script({ agents: [agent({ tools })] }))

describe("the text of a written test", () => {
  it("is a whole file that a person can read [P1270]", () => {
    expect(TestFile.write(script())).toBe(
      `/**
 * A run of 'desk' of 2026-11-21 22:39:07 UTC, which \`kintsugi test\` has written from its events.
 * It completed, and so does this test.
 */
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"

/** What comes after the recording: the reply of a model, and the result of one more attempt. Write what you expect. */
const beyond = "The recording ends here."
const { text } = Message

/** The same effect after so many milliseconds. */
const later = <A, E, R>(millis: number, self: Effect.Effect<A, E, R>) =>
  millis === 0 ? self : Effect.delay(self, millis)
const reply = (millis: number, ...content: Message.Reply["content"]) =>
  ScriptedModel.answers(() => later(millis, Effect.succeed(ScriptedModel.reply({ content }))))

/** A model that gives these replies. */
const play = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) => {
  const left = [...steps]
  return ScriptedModel.answering(() => left.shift() ?? ScriptedModel.text(beyond))
}

// prettier-ignore
const deskModel = play(
  reply(5, text("Hello."))
)

// --- Your place: write the row here. Your own tables, tools and agents may replace these, which do what was recorded.

const desk = Agent.make("desk", {
  model: deskModel
})

// --- The test

const input = "Hi"

const program = Effect.gen(function* () {
  const run = yield* Effect.forkChild(desk(input), { startImmediately: true })
  yield* TestClock.adjust("2 days")
  return yield* Fiber.join(run)
}).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

it("desk answers as recorded", async () => {
  expect(await Effect.runPromise(program)).toBe("Hello.")
})
`.replace('import { Effect } from "effect"', 'import { Effect, Fiber } from "effect"')
    )
    expect(() => TestFile.write(script({ agents: [] }))).toThrow("TestFile.write: the script has no agent")
  })

  it("says at its head how the run ended, and until when the test fails [P1270]", () => {
    const head = (end: End, fields: Partial<Script> = {}) =>
      TestFile.write(script({ end, ...fields }))
        .split("\n")
        .slice(2, 4)
        .filter((line) => line !== " */")
        .map((line) => line.slice(3))
    expect(head({ type: "interrupted", after: 3 })).toEqual(["It was interrupted, and so is this test."])
    expect(head(failed())).toEqual([
      "It failed: Busy: later",
      "Where: the run of 'desk'. The test fails as the run did, until a row answers in its place."
    ])
    const untils = [
      { tool: "pay", failure: { tag: "Busy", message: "" }, isDefect: true },
      { failure: { tag: "BudgetExceededError", message: "" } },
      { advised: { code: "x", page: "y" } },
      { advised: { code: "x", page: "y", entry: "z" } }
    ].map((fields) => head(failed(fields)))
    expect(untils).toEqual([
      [
        "It failed: Busy",
        "Where: the tool 'pay' of 'desk'. The test fails as the run did, until the defect is mended: no row handles it."
      ],
      [
        "It failed: BudgetExceededError",
        "Where: the run of 'desk'. The test fails as the run did, until the budget admits more."
      ],
      [
        "It failed: Busy: later",
        "Where: the run of 'desk'. The test fails as the run did, until another model answers."
      ],
      ["It failed: Busy: later", "Where: the run of 'desk'. The test fails as the run did, until a row handles it."]
    ])
    expect(head(failed({ failure: { tag: "Busy", message: "x\n".repeat(200) } }))[0]).toBe(
      `It failed: ${`Busy: ${"x ".repeat(200)}`.slice(0, 200)}…`
    )
  })

  it("runs its clock as long as the run and what may follow take [P1270]", () => {
    const adjusted = (fields: Partial<Script>) =>
      /TestClock\.adjust\((.*)\)$/m.exec(TestFile.write(script(fields)))?.[1]
    const day = 86_400_000
    expect([0, 1, day / 2, day / 2 + 1, day].map((lasted) => adjusted({ lasted }))).toEqual([
      '"1 day"',
      '"2 days"',
      '"2 days"',
      '"3 days"',
      '"3 days"'
    ])
    const cut = TestFile.write(script({ end: { type: "interrupted", after: 7 } }))
    expect(cut).toContain(
      "  yield* TestClock.adjust(7)\n  yield* Fiber.interrupt(run)\n  return Exit.hasInterrupts(yield* Fiber.await(run))\n"
    )
    expect(cut).toContain(
      'it("desk is interrupted as recorded", async () => {\n  expect(await Effect.runPromise(program)).toBe(true)\n})'
    )
    const lost = TestFile.write(script({ end: failed() }))
    expect(lost).toContain(
      'it("desk goes on after Busy", async () => {\n  expect(await Effect.runPromise(program)).toBe(beyond)\n})'
    )
  })

  it("gives long texts lines of their own [P1270]", () => {
    const end = (length: number): Partial<Script> => ({ end: { type: "completed", text: "x".repeat(length) } })
    expect(TestFile.write(script(end(58)))).toContain(`.toBe("${"x".repeat(58)}")`)
    expect(TestFile.write(script(end(59)))).toContain(`const wanted = "${"x".repeat(59)}"\n\nit(`)
    expect(TestFile.write(script(end(59)))).toContain(".toBe(wanted)")
    expect(TestFile.write(script(end(103)))).toContain(`const wanted = "${"x".repeat(103)}"\n`)
    expect(TestFile.write(script(end(104)))).toContain(`const wanted =\n  "${"x".repeat(104)}"\n`)
    expect(TestFile.write(script({ input: "x".repeat(103) }))).toContain(`const input = "${"x".repeat(103)}"\n`)
    expect(TestFile.write(script({ input: "x".repeat(104) }))).toContain(`const input =\n  "${"x".repeat(104)}"\n`)
    const prompt = (length: number) => TestFile.write(script({ agents: [agent({ prompt: "x".repeat(length) })] }))
    expect(prompt(107)).toContain(`\n  prompt: "${"x".repeat(107)}"\n`)
    expect(prompt(108)).toContain(`\n  prompt:\n    "${"x".repeat(108)}"\n`)
  })

  it("has the replies of its model, and how its calls failed [P1270]", () => {
    const error = { _tag: "RateLimitError", service: "m", isRetryable: true }
    const models: ReadonlyArray<ModelStep> = [
      reply(1, text("a"), call("c1", "pay", { cents: 5 })),
      { after: 2, type: "reply", reply: { content: [text("b")], finish: "length" } },
      {
        after: 3,
        type: "reply",
        reply: {
          content: [
            { type: "reasoning", text: "c" },
            { ...call("c2", "pay"), more: 1 }
          ],
          finish: "tool-calls"
        }
      },
      { after: 4, type: "fails", failure: { tag: "RateLimitError", message: "m", json: error } },
      { after: 5, type: "fails", failure: { tag: "RateLimitError", message: "m", json: error }, shown: "half" },
      { after: 6, type: "dies", message: "gone" },
      { after: 7, type: "never" }
    ]
    const file = TestFile.write(script({ agents: [agent({ models })] }))
    const failure = 'libraryError({ _tag: "RateLimitError", service: "m", isRetryable: true })'
    expect(file).toContain(`const deskModel = play(
  reply(1, text("a"), call("pay", { cents: 5 }, "c1")),
  replyWith(2, { content: [text("b")], finish: "length" }),
  replyWith(3, { content: [{ type: "reasoning", text: "c" }, { type: "tool-call", id: "c2", name: "pay", arguments: {}, more: 1 }], finish: "tool-calls" }),
  broken(4, ${failure}),
  broken(5, ${failure}, "half"),
  ScriptedModel.answers(() => later(6, Effect.die(new Error("gone")))),
  ScriptedModel.answers(() => Effect.never)
)`)
    const limited = TestFile.write(
      script({
        agents: [
          agent({
            models: [{ after: 1, type: "reply", reply: { content: [], finish: "stop", usage: { inputTokens: 3 } } }],
            budget: { maxTokens: 2 }
          })
        ]
      })
    )
    expect(limited).toContain('replyWith(1, { content: [], finish: "stop", usage: { inputTokens: 3 } })')
    expect(limited).toContain("\n  budget: { maxTokens: 2 },\n")
  })

  it("has the attempts of its tools, with the runs that they start [P1270]", () => {
    const run = { agent: "bank", input: "Pay.", after: 0 }
    const bank = 'Effect.suspend(() => bank("Pay."))'
    const made = (attempt: Partial<Attempt> | object) => {
      // cast: a part of an attempt and its end
      const file = TestFile.write(
        script({
          agents: [
            agent({ name: "bank" }),
            agent({ tools: [tool([{ after: 2, runs: [], isInTurn: true, ...attempt } as Attempt])] })
          ]
        })
      )
      return /^ {2}c1: \[(.*)\]$/m.exec(file)?.[1]
    }
    expect(made({ type: "gives", text: "paid" })).toBe('gives(2, "paid")')
    expect(made({ type: "fails", failure: { tag: "Busy", message: "later" } })).toBe(
      'fails(2, new Busy({ message: "later" }))'
    )
    expect(made({ type: "dies", message: "gone" })).toBe('later(2, Effect.die(new Error("gone")))')
    expect(made({ type: "never" })).toBe("Effect.never")
    expect(made({ type: "run", runs: [run] })).toBe(bank)
    expect(made({ type: "run", runs: [{ ...run, after: 3 }, run] })).toBe(`behind(${bank}, later(3, ${bank}))`)
    expect(made({ type: "gives", text: "x", runs: [run], isInTurn: false })).toBe(`beside(gives(2, "x"), ${bank})`)
    expect(made({ type: "run" })).toBe("Effect.never")
  })

  it("has tools that need approval, for all calls or for some [P1270]", () => {
    const approved = (approval: ReadonlyArray<string>, decisions: Script["decisions"] = []) =>
      TestFile.write(script({ agents: [agent({ tools: [tool([gives("paid")], { approval })] })], decisions }))
    expect(approved([])).toContain(
      'const pay = Tool.requireApproval(stub("pay", {\n  c1: [gives(1, "paid")]\n}), { validFor: "365 days" })'
    )
    expect(approved(['{"cents":5}'])).toContain(
      `{ validFor: "365 days", when: (params) => ['{"cents":5}'].includes(JSON.stringify(params)) })`
    )
    const decided = approved(
      [],
      [
        { after: 7, decision: { type: "approve" } },
        { after: Infinity, decision: undefined }
      ]
    )
    expect(decided).toContain(
      '  const approver = yield* ScriptedApprover.make(ScriptedApprover.after(7, { type: "approve" }), Effect.never)\n'
    )
    const denied = { type: "deny", reason: "x".repeat(60) }
    expect(
      approved(
        [],
        [0, 1].map((after) => ({ after, decision: denied }))
      )
    ).toMatch(/make\(\n {4}ScriptedApprover\.after\(0, .*\),\n {4}ScriptedApprover\.after\(1, .*\)\n {2}\)\n/)
    expect(decided).toContain("forkChild(desk(input).pipe(Effect.provide(approver.layer)), { startImmediately: true })")
    expect(decided).toContain("Effect.Effect<string, unknown, Approval.Approver>")
    expect(withTools(tool([gives("paid")]))).toContain("ReadonlyArray<Effect.Effect<string, unknown>>")
    expect(withTools(tool([]))).toContain('const pay = stub("pay", {})')
  })

  it("has the tables, the limits and the ways of each agent [P1270]", () => {
    const row = { tag: "Busy", rungs: [{ kind: "tell" } as const], byCall: new Map() }
    const file = TestFile.write(
      script({
        agents: [
          agent({
            prompt: "Help.",
            tools: [tool([gives("paid")], { rows: [row] }), tool([gives("seen")], { name: "look" })],
            builtIn: ["escalate"],
            rows: [row],
            unknown: [row],
            denied: new Map([["c-9", "not now"]]),
            budget: { maxTurns: 3 },
            interruptsSiblings: true,
            restarts: true
          })
        ]
      })
    )
    expect(file).toContain(`const pay = Tool.onError(recordedPay, {
  Busy: Recovery.tell()
})

const desk = Agent.make("desk", {
  budget: { maxTurns: 3 },
  model: deskModel,
  prompt: "Help.",
  siblings: "interrupt",
  tools: [pay, look, Tool.escalate]
}).pipe(
  Agent.onLlmError(
    {
      Busy: Recovery.tell()
    },
    { onPartial: "restart" }
  ),
  Agent.toolDefaults({
    Busy: Recovery.tell()
  }),
  // prettier-ignore
  Agent.toolPolicy(({ callId }) => {
    const reason = new Map(Object.entries({ "c-9": "not now" })).get(callId)
    return reason === undefined ? ToolPolicy.allow : ToolPolicy.deny(reason)
  })
)`)
    const streamed = TestFile.write(script({ isStreamed: true }))
    expect(streamed).toContain("forkChild(outputOf(desk.stream(input)), {")
    const many = Array.from({ length: 20 }, (_, index) => tool([gives("x")], { name: `tool-${index}` }))
    expect(withTools(...many)).toContain("\n  tools: [\n    tool0,\n    tool1,\n")
    const child = agent({
      name: "bank",
      models: [],
      answers: [
        { after: 1, text: "paid" },
        { after: 2, failure: { tag: "Busy", message: "later" } }
      ]
    })
    expect(TestFile.write(script({ agents: [child, agent()] }))).toContain(
      'const bank = answering("bank",\n  gives(1, "paid"),\n  fails(2, new Busy({ message: "later" }))\n)'
    )
  })

  it("has a comment where the row of the reader goes [P1270]", () => {
    const row = { tag: "Busy", rungs: [{ kind: "raise" } as const], byCall: new Map() }
    const of = (end: object, fields: Partial<AgentScript> = {}) =>
      TestFile.write(script({ end: failed(end), agents: [agent(fields)] }))
    expect(of({})).toContain(`.pipe(
  Agent.onLlmError({
    // The run has ended here. A row that answers goes on:
    // Busy: Recovery.respondWith("…")
  })
)`)
    expect(of({ advised: { code: "Model.fallback(first, second)", page: "p" } })).toContain(
      "    // The run has ended here. What would have gone on:\n    // Model.fallback(first, second)\n"
    )
    expect(of({ advised: { code: "c", page: "p", entry: "Busy: Recovery.tell()" } }, { rows: [row] })).toContain(
      "    // The run has ended here. Instead of the row for Busy: A row that would have gone on:\n    // Busy: Recovery.tell(),\n    Busy: Recovery.raise\n"
    )
    expect(of({ tool: "pay" }, { tools: [tool([gives("x")])] })).toContain(
      'const pay = Tool.onError(recordedPay, {\n  // The run has ended here. A row that answers goes on:\n  // Busy: Recovery.respondWith("…")\n})'
    )
    expect(of({ failure: { tag: "BudgetExceededError", message: "" } }, { budget: { maxTurns: 1 } })).toContain(
      'Agent.make("desk", {\n  // The run has reached this limit.\n  budget: { maxTurns: 1 },\n'
    )
    for (const end of [{ isDefect: true }, { agent: "other" }]) expect(of(end)).not.toContain("The run has ended here")
  })
})
