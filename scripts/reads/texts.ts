/** The texts that a model reads of its calls, of its answers and as a fixer: each comes out of a run. */
import { Agent, Approval, Budget, Message, Recovery, Skill, Tool, ToolError, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Fiber, Logger, Option, Random, Schema } from "effect"
import { TestClock } from "effect/testing"

/** One text, and when a model reads it. */
export interface ReadText {
  readonly when: string
  readonly text: string
}

const { call, calls, make, text } = ScriptedModel

class Busy extends Data.TaggedError("Busy")<{ readonly message: string; readonly isRetryable: true }> {}

class Gone extends Data.TaggedError("Gone")<{ readonly message: string }> {}

const busy = new Busy({ message: "the server is busy", isRetryable: true })

const gone = new Gone({ message: "there is no city Olso; did you mean Oslo?" })

const parameters = Schema.Struct({ city: Schema.String, days: Schema.optionalKey(Schema.Finite) })

type Sides = Recovery.SideEffects

const weather = (
  run: () => Effect.Effect<string, unknown>,
  sideEffects: Sides = "none",
  kind: ToolError.Kind = "local"
) =>
  Tool.make("weather", {
    description: "The weather in a city.",
    parameters,
    success: Schema.String,
    sideEffects,
    kind,
    timeout: "5 seconds",
    coercion: [],
    run
  })

const fine = () => weather(() => Effect.succeed("rain"))

const failing = (error: unknown, sideEffects?: Sides, kind?: ToolError.Kind) =>
  weather(() => Effect.fail(error), sideEffects, kind)

/** A tool that its server changes once it was offered. */
const changed = (verdict: "refuse" | "accept") => {
  const tool = fine()
  let looks = 0
  return Tool.pinned(tool, {
    key: "shop/weather",
    server: "shop",
    digest: "1",
    now: Effect.sync(() => ({ digest: looks++ === 0 ? "1" : "2", tool: () => tool.definition })),
    verdict: (offered, now) => (offered === now ? "same" : verdict),
    change: () => ({ server: "shop", after: null }),
    accept: () => Effect.void
  })
}

const hanging = (sideEffects: Sides) => weather(() => Effect.never, sideEffects)

type Call = Message.ToolCall["arguments"]

const oslo: Call = { city: "Oslo" }

interface Asked {
  readonly tools: ReadonlyArray<Tool.AnyTool>
  readonly name?: string
  readonly args?: Call
  readonly times?: number
  readonly budget?: Budget.Limits
  readonly table?: object
  readonly adapt?: (agent: AnyAgent) => AnyAgent
  readonly decide?: Approval.Decision
  readonly replies?: ReadonlyArray<ScriptedModel.ScriptedStep>
}

type AnyAgent = Agent.Any<string, unknown, unknown, unknown>

/** The tables of these agents are computed: they are for the tools that they have. */
const agentOf = ({
  adapt = (agent) => agent,
  budget = {},
  table = Recovery.presets.tellAll(),
  tools
}: Asked): AnyAgent => adapt(Agent.make("clerk", { tools, budget }).pipe(Agent.toolDefaults(table as {})) as never)

/** All requests of the run that follows. */
const requestsOf = (asked: Asked) =>
  Effect.gen(function* () {
    const {
      args = oslo,
      decide = { type: "refuse", reason: "not today" },
      name = "weather",
      replies,
      times = 1
    } = asked
    const steps = replies ?? Array.from({ length: times }, (_, index) => calls(call(name, args, `c${index + 1}`)))
    const model = yield* make(...steps, text("done"))
    const running = agentOf(asked)("go").pipe(
      Effect.provide(Approval.layer(() => Effect.succeed(decide))),
      Effect.provide(model.layer),
      Effect.provide(Logger.layer([])),
      Effect.exit
    ) as Effect.Effect<unknown>
    const fiber = yield* Effect.forkChild(running, { startImmediately: true })
    yield* TestClock.adjust("4 minutes")
    yield* Fiber.join(fiber)
    return model.requests
    // ids are the same each time
  }).pipe(Effect.scoped, Random.withSeed("reads"), Effect.provide(TestClock.layer()))

/** The result of the last call, as its model reads it. */
const lastResultOf = (when: string, asked: Asked): Effect.Effect<ReadText> =>
  Effect.map(requestsOf(asked), (requests) => {
    const last = requests.at(-1)?.messages.findLast((message) => message.role === "assistant")
    const result = last?.content.findLast((part) => part.type === "settled-call")
    if (result === undefined) throw new Error(`nothing was told: ${when}`)
    return { when, text: result.settlement.text }
  })

/** The failure report, as a fixer reads it. */
const reportOf = (when: string, tools: ReadonlyArray<Tool.AnyTool>): Effect.Effect<ReadText> => {
  const mender = Agent.make("mender", { tools }) as never
  const rows = { orElse: Recovery.ladder(Recovery.fix(mender, { retries: 2 }), Recovery.tell()) }
  const replies = [calls(call("weather", "{city: Oslo", "c1")), text("{}"), text("{}")]
  return Effect.map(requestsOf({ tools: [fine()], table: rows, replies }), (requests) => {
    const report = requests[1]?.messages.at(-1)
    if (report?.role !== "user" || report.content[0]?.type !== "text") throw new Error(`nothing was read: ${when}`)
    return { when, text: report.content[0].text }
  })
}

/** The message after an answer that does not fit. */
const rejected = (
  when: string,
  output: Schema.Codec<unknown, unknown>,
  answer: string | Partial<Message.Reply>
): Effect.Effect<ReadText> =>
  Effect.gen(function* () {
    const said = typeof answer === "string" ? text(answer) : ScriptedModel.replies(ScriptedModel.reply(answer))
    const model = yield* make(said, said)
    yield* Agent.make("clerk", { output })("go").pipe(Effect.provide(model.layer), Effect.exit)
    const read = model.requests[1]?.messages.at(-1)
    if (read?.role !== "user" || read.content[0]?.type !== "text") throw new Error(`nothing was read: ${when}`)
    return { when, text: read.content[0].text }
  }).pipe(Effect.scoped)

const unsafe = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "unsafe",
  timeout: "5 seconds",
  verify: () => Effect.fail(new Gone({ message: "the bank does not answer" })),
  run: (): Effect.Effect<string> => Effect.never
})

const found = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "unsafe",
  timeout: "5 seconds",
  verify: () => Effect.succeed(Option.none<string>()),
  run: (): Effect.Effect<string> => Effect.never
})

const long = Tool.make("weather", {
  description: "The weather in a city.",
  parameters,
  success: Schema.String,
  maxResultChars: 60,
  run: () => Effect.succeed("rain in the morning, sun at noon, rain in the evening, and snow at night")
})

const twice = Tool.make("weather", {
  description: "The weather in a city.",
  parameters,
  success: Schema.String,
  maxCalls: 2,
  run: () => Effect.succeed("rain")
})

const nested = Tool.make("weather", {
  description: "The weather in a city.",
  parameters,
  success: Schema.Unknown,
  run: () => Effect.succeed(Array.from({ length: 5000 }).reduce<unknown>((inner) => [inner], "rain"))
})

const escalating = Agent.fromFunction("mender", (): string => {
  throw ToolError.EscalationError.make({ source: "mender", reason: 'Take {"city": "Oslo"}' })
})

/** Of calls. */
export const ofCalls: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all([
  lastResultOf("A text", { tools: [fine()] }),
  lastResultOf("A text longer than `maxResultChars`", { tools: [long] }),
  lastResultOf("A value that is nested too deeply", { tools: [nested] }),
  lastResultOf("A call beyond the `maxCalls` of its tool", { tools: [twice], times: 3 }),
  lastResultOf("Arguments that are no JSON", { tools: [fine()], args: "{city: Oslo" }),
  lastResultOf("Arguments that do not fit", { tools: [fine()], args: { days: "many" } }),
  lastResultOf("Arguments with a misspelt key", { tools: [fine()], args: { city: "Oslo", day: 2 } }),
  lastResultOf("Arguments longer than `maxArgsBytes` of the budget", {
    tools: [fine()],
    budget: { maxArgsBytes: 20 },
    args: { city: "Llanfairpwllgwyngyll" }
  }),
  lastResultOf("An unknown tool", { tools: [fine()], name: "wether" }),
  lastResultOf("An unknown tool, where there are no tools", { tools: [] }),
  lastResultOf("A permanent failure", { tools: [failing(gone)] }),
  lastResultOf("A transient failure of a tool that may run twice", { tools: [failing(busy)] }),
  lastResultOf("A transient failure, with undeclared side effects", { tools: [failing(busy, "undeclared")] }),
  lastResultOf('A failure of a web service (`kind: "web-service"`)', {
    tools: [failing(gone, "none", "web-service")]
  }),
  lastResultOf("A failure after retries", {
    tools: [failing(busy)],
    table: { orElse: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }
  }),
  lastResultOf("`Agent.resilient` holds an equal call that follows at once", {
    tools: [failing(busy, "undeclared")],
    adapt: (agent) => Agent.resilient(agent as never) as never,
    times: 2
  }),
  lastResultOf("A timeout of a tool that may run twice", { tools: [hanging("none")] }),
  lastResultOf("A timeout of an unsafe tool", { tools: [hanging("unsafe")] }),
  lastResultOf("The same, if `verify` found no effect", { tools: [found], name: "pay", args: {} }),
  lastResultOf("The same, if `verify` failed", { tools: [unsafe], name: "pay", args: {} }),
  lastResultOf("An escalation (`Recovery.escalate()`)", {
    tools: [failing(gone)],
    table: { orElse: Recovery.escalate() }
  }),
  lastResultOf("An escalation of a fixer", {
    tools: [fine()],
    args: "{city: Oslo",
    table: { orElse: Recovery.fix(escalating) }
  }),
  lastResultOf("The third equal failure in a row", { tools: [failing(gone)], times: 3 }),
  lastResultOf("A tool that fails too often", { tools: [failing(gone)], times: 5 }),
  lastResultOf("A tool that its server has changed", { tools: [changed("refuse")] }),
  lastResultOf("The same, if the next turn offers the new definition", {
    tools: [changed("accept")]
  }),
  lastResultOf("`presets.tellWithTries({ retries: 2 })`", {
    tools: [failing(gone)],
    table: Recovery.presets.tellWithTries({ retries: 2 })
  }),
  lastResultOf("The same, before the last try", {
    tools: [failing(gone)],
    table: Recovery.presets.tellWithTries()
  }),
  lastResultOf("`presets.tellThenToolsOff`", {
    tools: [failing(gone)],
    table: Recovery.presets.tellThenToolsOff()
  }),
  lastResultOf("An unknown tool under `presets.tellThenToolsOff`", {
    tools: [fine()],
    name: "nope",
    table: Recovery.presets.tellThenToolsOff()
  }),
  lastResultOf("A call after tools are off", {
    tools: [failing(gone)],
    table: Recovery.presets.tellThenToolsOff({ retryAttempts: 0 }),
    times: 2
  }),
  lastResultOf("A policy denies the call", {
    tools: [fine()],
    adapt: (agent) => Agent.toolPolicy(agent as never, () => ToolPolicy.deny("the budget is used up")) as never
  }),
  lastResultOf("A policy fails", {
    tools: [fine()],
    adapt: (agent) => Agent.toolPolicy(agent as never, () => Effect.fail(gone)) as never
  }),
  lastResultOf("A person refuses the call", { tools: [fine().pipe(Tool.requireApproval())] })
])

const coded = (code: string, message: string, more: object = {}) => Object.assign(new Error(message), { code, ...more })

const http = (status: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error(`the server answered ${status}`), { response: { status, headers: new Headers(headers) } })

/** Of failures of others, as they come out of a tool that declares no side effects. */
export const ofForeign: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all(
  (
    [
      ["A refused connection", coded("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:7", { syscall: "connect" })],
      ["A lost connection", coded("ECONNRESET", "read ECONNRESET")],
      ["An expired certificate", coded("CERT_HAS_EXPIRED", "certificate has expired")],
      ["Status 401", http(401)],
      ["Status 404", http(404)],
      ["Status 429", http(429, { "retry-after": "5" })],
      ["Status 503", http(503)],
      ["`AbortSignal.timeout`", new DOMException("The operation was aborted due to timeout", "TimeoutError")],
      ["A missing file", coded("ENOENT", "ENOENT: no such file or directory, open 'report.txt'")],
      ["A file without permission", coded("EACCES", "EACCES: permission denied, open 'report.txt'")]
    ] as const
  ).map(([when, error]) => lastResultOf(when, { tools: [failing(error, "undeclared")] }))
)

/** The message of the last turn of a run at its limit. */
const concluding = (when: string): Effect.Effect<ReadText> => {
  const adapt = (agent: AnyAgent) => Agent.onBudgetExceeded(agent as never, () => Budget.answer) as never
  return Effect.map(requestsOf({ tools: [fine()], budget: { maxTurns: 1 }, adapt }), (requests) => {
    const read = requests[1]?.messages.at(-1)
    if (read?.role !== "user" || read.content[0]?.type !== "text") throw new Error(`nothing was read: ${when}`)
    return { when, text: read.content[0].text }
  })
}

/** Of answers. */
/** What the model reads where a conversation goes on that ends with a stopped answer. */
const afterStop: Effect.Effect<ReadText> = Effect.gen(function* () {
  const model = yield* make(text("done"))
  const from: Message.Transcript = [Message.user("Book a room."), { ...Message.assistant("I b"), incomplete: true }]
  yield* Agent.resume(Agent.make("clerk", {}))({ from }).pipe(Effect.provide(model.layer), Effect.orDie)
  const last = model.requests[0]?.messages.at(-1)
  return {
    when: "A stopped answer, when the run goes on",
    text: last?.role === "user" ? Message.textOf(last) : ""
  }
}).pipe(Effect.scoped)

export const ofAnswers: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all([
  afterStop,
  rejected("JSON that does not fit the schema", Schema.Struct({ days: Schema.Finite }), '{"days": "many"}'),
  rejected(
    "Text that does not fit the schema",
    Schema.String.check(Schema.isPattern(/^R-\d+$/, { message: "Expected the reference alone" })),
    "It is R-17."
  ),
  rejected("JSON that was cut off", Schema.Struct({ days: Schema.Finite }), {
    content: [{ type: "text", text: '{"days": ' }],
    finish: "length"
  }),
  rejected(
    "More than ten faults",
    Schema.Struct(Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`day${index + 1}`, Schema.Finite]))),
    "{}"
  ),
  concluding("The last turn at a limit (`Budget.answer`)")
])

/** The request to a model that chooses among the skills of an agent. */
export const ofRouting: Effect.Effect<string> = Effect.gen(function* () {
  const skills = [
    Skill.make("booking", { description: "Books rooms." }),
    Skill.make("billing", { description: "Answers questions about bills." })
  ] as const
  const model = yield* make(text('{"name": "booking", "confidence": 0.9}'), text("done"))
  yield* Agent.make("clerk", { skills })("Book a room").pipe(Effect.provide(model.layer), Effect.exit)
  const [system] = model.requests[0]?.messages ?? []
  if (system?.role !== "system") throw new Error("nothing was read by the router")
  return system.text
}).pipe(Effect.scoped)

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("nothing")
})

/** The report that a fixer of results reads. */
const resultReport: Effect.Effect<ReadText> = Effect.gen(function* () {
  const mender = Agent.make("mender", {}) as never
  const rows = { orElse: Recovery.ladder(Recovery.fix(mender, { as: "result" }), Recovery.tell()) }
  const requests = yield* requestsOf({
    tools: [failing(gone)],
    table: rows,
    replies: [calls(call("weather", oslo, "c1")), text("rain")]
  })
  const report = requests[1]?.messages.at(-1)
  if (report?.role !== "user" || report.content[0]?.type !== "text") throw new Error("nothing was read of a result")
  return { when: 'The last line, for a fixer of results (`as: "result"`)', text: report.content[0].text }
})

/** As fixers. */
export const ofFixers: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all([
  reportOf("A fixer, the whole text", [look]),
  ...[
    reportOf("The last line, for a fixer that may escalate and has other tools", [look, Tool.escalate]),
    reportOf("The last line, for a fixer whose only tools end it", [Tool.escalate, Tool.throwException]),
    resultReport
  ].map(Effect.map(({ text, when }) => ({ when, text: text.split("\n").at(-1) ?? "" })))
])
