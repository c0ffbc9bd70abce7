/** What a model reads of its calls, of its answers and as a fixer: each text comes out of a run. */
import { Agent, type Approval, Approver, type Message, Recovery, Tool, ToolError, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Fiber, Logger, Option, Random, Schema } from "effect"
import { TestClock } from "effect/testing"

/** One text, and when a model reads it. */
export interface Told {
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

const hanging = (sideEffects: Sides) => weather(() => Effect.never, sideEffects)

type Call = Message.ToolCall["arguments"]

const oslo: Call = { city: "Oslo" }

interface Asked {
  readonly tools: ReadonlyArray<Tool.AnyTool>
  readonly name?: string
  readonly args?: Call
  readonly times?: number
  readonly table?: object
  readonly adapt?: (agent: AnyAgent) => AnyAgent
  readonly decide?: Approval.Decision
  readonly replies?: ReadonlyArray<ScriptedModel.Step>
}

type AnyAgent = Agent.Any<string, unknown, unknown, unknown>

/** The tables of these agents are computed: they are for the tools that they have. */
const agentOf = ({ adapt = (agent) => agent, table = Recovery.presets.cwk, tools }: Asked): AnyAgent =>
  adapt(Agent.make("clerk", { tools }).pipe(Agent.toolDefaults(table as {})) as never)

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
      Effect.provide(Approver.layer(() => Effect.succeed(decide))),
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

/** What its model reads of its last call. */
const toldOf = (when: string, asked: Asked): Effect.Effect<Told> =>
  Effect.map(requestsOf(asked), (requests) => {
    const last = requests.at(-1)?.messages.findLast((message) => message.role === "assistant")
    const settled = last?.content.findLast((part) => part.type === "settled-call")
    if (settled === undefined) throw new Error(`nothing was told: ${when}`)
    return { when, text: settled.settlement.text }
  })

/** What a fixer reads. */
const reportOf = (when: string, tools: ReadonlyArray<Tool.AnyTool>): Effect.Effect<Told> => {
  const mender = Agent.make("mender", { tools }) as never
  const rows = { orElse: Recovery.ladder(Recovery.fix(mender, { retries: 2 }), Recovery.tell()) }
  const replies = [calls(call("weather", "{city: Oslo", "c1")), text("{}"), text("{}")]
  return Effect.map(requestsOf({ tools: [fine()], table: rows, replies }), (requests) => {
    const report = requests[1]?.messages.at(-1)
    if (report?.role !== "user" || report.content[0]?.type !== "text") throw new Error(`nothing was read: ${when}`)
    return { when, text: report.content[0].text }
  })
}

/** What is said of an answer that does not fit. */
const rejected = (when: string, output: Schema.Codec<unknown, unknown>, answer: string): Effect.Effect<Told> =>
  Effect.gen(function* () {
    const model = yield* make(text(answer), text(answer))
    yield* Agent.make("clerk", { output })("go").pipe(Effect.provide(model.layer), Effect.exit)
    const said = model.requests[1]?.messages.at(-1)
    if (said?.role !== "user" || said.content[0]?.type !== "text") throw new Error(`nothing was read: ${when}`)
    return { when, text: said.content[0].text }
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

const escalating = Agent.fromFunction("mender", (): string => {
  throw ToolError.EscalationError.of("mender", 'Take {"city": "Oslo"}')
})

/** Of calls. */
export const ofCalls: Effect.Effect<ReadonlyArray<Told>> = Effect.all([
  toldOf("A result that is text", { tools: [fine()] }),
  toldOf("A result that is longer than `maxResultChars`", { tools: [long] }),
  toldOf("Arguments that are no JSON", { tools: [fine()], args: "{city: Oslo" }),
  toldOf("Arguments that do not fit", { tools: [fine()], args: { days: "many" } }),
  toldOf("A name of no tool", { tools: [fine()], name: "wether" }),
  toldOf("A failure that another call does not mend", { tools: [failing(gone)] }),
  toldOf("A failure that may pass, of a tool that may run twice", { tools: [failing(busy)] }),
  toldOf("The same of a tool that declares no side effects", { tools: [failing(busy, "undeclared")] }),
  toldOf('A failure of a server that is not yours (`kind: "web-service"`)', {
    tools: [failing(gone, "none", "web-service")]
  }),
  toldOf("A failure after other runs of the same call", {
    tools: [failing(busy)],
    table: { orElse: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }
  }),
  toldOf("A run that was cut off, of a tool that may run twice", { tools: [hanging("none")] }),
  toldOf("A run that was cut off, of an unsafe tool", { tools: [hanging("unsafe")] }),
  toldOf("The same, where a lookup found that it took no effect", { tools: [found], name: "pay", args: {} }),
  toldOf("The same, where the lookup failed", { tools: [unsafe], name: "pay", args: {} }),
  toldOf("An escalation (`Recovery.escalate()`)", { tools: [failing(gone)], table: { orElse: Recovery.escalate() } }),
  toldOf("An escalation of a fixer", {
    tools: [fine()],
    args: "{city: Oslo",
    table: { orElse: Recovery.fix(escalating) }
  }),
  toldOf("The third equal failure in a row", { tools: [failing(gone)], times: 3 }),
  toldOf("A tool that is withheld for a turn", { tools: [failing(gone)], times: 5 }),
  toldOf("The last try under `presets.tellModel`", { tools: [failing(gone)], table: Recovery.presets.tellModel() }),
  toldOf("A failure under `presets.kani`", { tools: [failing(gone)], table: Recovery.presets.kani() }),
  toldOf("A name of no tool under `presets.kani`", {
    tools: [fine()],
    name: "nope",
    table: Recovery.presets.kani()
  }),
  toldOf("A call of a tool where tools are switched off", {
    tools: [failing(gone)],
    table: Recovery.presets.kani({ retryAttempts: 0 }),
    times: 2
  }),
  toldOf("A call that a policy denies", {
    tools: [fine()],
    adapt: (agent) => Agent.toolPolicy(agent as never, () => ToolPolicy.deny("the budget is used up")) as never
  }),
  toldOf("A call that a person refuses", { tools: [fine().pipe(Tool.requireApproval())] })
])

/** Of answers. */
export const ofAnswers: Effect.Effect<ReadonlyArray<Told>> = Effect.all([
  rejected("An answer that does not fit a schema of JSON", Schema.Struct({ days: Schema.Finite }), '{"days": "many"}'),
  rejected(
    "An answer that does not fit a schema of text",
    Schema.String.check(Schema.isPattern(/^R-\d+$/, { message: "Expected the reference alone" })),
    "It is R-17."
  )
])

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("nothing")
})

/** As fixers. */
export const ofFixers: Effect.Effect<ReadonlyArray<Told>> = Effect.all([
  reportOf("A fixer without tools that end it", [look]),
  reportOf("A fixer that may escalate, with other tools", [look, Tool.escalate]),
  reportOf("A fixer whose only tools end it", [Tool.escalate, Tool.throwException])
])

/** What the built-in tools say of themselves, and an agent that is a tool. */
export const ofTools = (): ReadonlyArray<Told> =>
  [Tool.escalate, Tool.throwException, Tool.complete].map(({ definition, name }) => ({
    when: `\`Tool.${name}\``,
    text: definition.spec().description
  }))
