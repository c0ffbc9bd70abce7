/** What a package of a team exports: tools, skills, agents and compositions of every kind, and functions of its own. */
import {
  Agent,
  Approval,
  Budget,
  Coercion,
  Compaction,
  Completion,
  Explanation,
  type KintsugiError,
  type LlmError,
  type Message,
  Model,
  Recovery,
  RetryBudget,
  Router,
  type RunError,
  Skill,
  Snapshot,
  Tool,
  type ToolError,
  ToolPolicy
} from "@kintsugi/core"
import type * as Bounds from "@kintsugi/core/Bounds"
import * as Interception from "@kintsugi/core/Interception"
import * as RawSchema from "@kintsugi/core/RawSchema"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as RunContext from "@kintsugi/core/RunContext"
import { FailureScript, FaultPlan, Trace } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import * as Mcp from "@kintsugi/interop/Mcp"
import * as McpServer from "@kintsugi/interop/McpServer"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { OpenAi } from "@kintsugi/providers"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { PolicyView, Recording, Scene, Stats } from "@kintsugi/view"
import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { Tool as AiTool, Toolkit } from "effect/ai"

export class Busy extends Data.TaggedError("Busy")<{ readonly message: string }> {}
export class Broken extends Schema.TaggedError<Broken>()("Broken", { message: Schema.String }) {}
export class Db extends Context.Service<Db, { readonly rows: number }>()("lib/Db") {}
export class Mail extends Context.Service<Mail, { readonly sent: number }>()("lib/Mail") {}

const parameters = Schema.Struct({ id: Schema.String })
const success = Schema.Finite
const run = ({ id }: { readonly id: string }): Effect.Effect<number, Busy, Db> =>
  Effect.flatMap(Db, ({ rows }) => (id === "" ? Effect.fail(new Busy({ message: "no id" })) : Effect.succeed(rows)))

// tools of every kind
export const plain = Tool.make("plain", { description: "d", parameters, success, run })
export const limited = Tool.make("limited", { description: "d", parameters, success, callTimeout: "5 seconds", run })
export const timed = Tool.make("timed", { description: "d", parameters, success, timeout: "5 seconds", run })
export const approved = plain.pipe(Tool.requireApproval({ when: ({ id }) => id !== "" }))
export const stored = Tool.make("stored", {
  description: "d",
  parameters,
  success,
  failure: Broken,
  run: () => Effect.fail(new Broken({ message: "b" }))
})
export const unsafe = Tool.make("unsafe", {
  description: "d",
  parameters,
  success,
  sideEffects: "unsafe",
  timeout: "1 second",
  verify: () => Effect.as(Mail, undefined as never),
  run
})
export const guarded = plain.pipe(
  Tool.onError({ Busy: Recovery.respondWith(() => Effect.map(Mail, ({ sent }) => sent)) })
)
export const recovering = Tool.make("recovering", {
  description: "d",
  parameters,
  success,
  run,
  onError: { Busy: () => Effect.map(Mail, ({ sent }) => sent) }
})
const connected = Effect.acquireRelease(Db, () => Effect.asVoid(Mail))
export const connecting = Tool.make("connecting", {
  description: "d",
  parameters,
  success,
  sideEffects: "unsafe",
  timeout: "1 second",
  run: () => Effect.map(connected, ({ rows }) => rows),
  verify: () => Effect.map(connected, ({ rows }) => Option.some(rows))
}).pipe(Tool.compensate(() => Effect.asVoid(connected)))
export const keeping = <R>(acquire: Effect.Effect<number, never, R>) =>
  Tool.make("keeping", { description: "d", parameters, success, run: () => acquire })
export const foreign = Tool.fromFunction("foreign", { description: "d", parameters, success, run: () => 1 })

// skills
export const guarding = Skill.make("asking", { description: "d", tools: [guarded, limited] })
export const naming = Skill.make("naming", { description: "d", tools: [stored] })
export const echoing = Skill.deterministic("echoing", {
  description: "d",
  run: (text: string) => Effect.succeed(text.length)
})

// agents
export const bare = Agent.make("bare", {})
export const one = Agent.make("one", { skills: [guarding] })
export const two = Agent.make("two", { skills: [guarding, naming, echoing] })
export const routed = two.pipe(Agent.route(Router.byRule((text) => (text === "" ? "asking" : "naming"))))
export const tabled = one.pipe(
  Agent.toolDefaults({ Busy: Recovery.raise }),
  Agent.onToolError({ limited: { orElse: Recovery.tell() } }),
  Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1 }) })
)
export const answering = Agent.make("answering", { output: Schema.Struct({ total: Schema.Finite }) })
export const shaped = Agent.make("shaped", { input: Schema.Struct({ q: Schema.String }) })
export const waiting = Agent.make("waiting", { skills: [Skill.make("w", { description: "d", tools: [approved] })] })
export const closing = Agent.make("closing", {
  skills: [Skill.make("c", { description: "d", tools: [Tool.complete] })]
})
export const deterministic = Agent.deterministic("det", (text: string) =>
  Effect.map(Db, ({ rows }) => `${text}${rows}`)
)
export const resumed = Agent.resume(waiting)
export const own = Agent.make("own", { model: OpenAi.model("gpt-5") })

// compositions
export const inTurn = Agent.andThen(one, bare)
export const together = Agent.parallel({ a: one, b: echo() })
function echo() {
  return Agent.deterministic("echo", (text: string) => Effect.succeed(text))
}
class Order extends Schema.TaggedClass<Order>()("Order", { id: Schema.String }) {}
class Inquiry extends Schema.TaggedClass<Inquiry>()("Inquiry", { text: Schema.String }) {}
const sorting = Agent.make("sorting", { output: Schema.Union([Order, Inquiry]) })
export const branched = Agent.branch(sorting, {
  Order: Agent.deterministic("order", ({ id }: Order) => Effect.succeed(id)),
  Inquiry: Agent.deterministic("question", ({ text }: Inquiry) => Effect.succeed(text))
})
export const ordered = Agent.fallback(one, two)
export const racing = Agent.firstOf(one, deterministic)
export const hedged = Agent.speculative(one, 2, { hedgeAfter: "1 second" })
export const looping = Agent.loopUntil(bare, (text) => text === "", {
  maxIterations: 3,
  feedback: (text) => `again: ${text}`
})
export const tooled = Agent.asTool(one, { name: "ask", description: "d" })
export const mapped = one.pipe(Agent.map((text) => text.length))
export const provided = one.pipe(Agent.provide(Layer.succeed(Db, { rows: 1 })))
export const sealed = Agent.seal(one)
export const fromPool = plain.pipe(Tool.provide(Layer.succeed(Db, { rows: 1 })))
export const calm = Agent.toolDefaults({ Busy: Recovery.tell(), InvalidArgs: Recovery.tell() })
export const patient = Tool.onError({ Busy: Recovery.retry({ retries: 1 }) })
export const later = Agent.onLlmError({ orElse: Recovery.respondWith("later") })
export const byName = Agent.onToolError({ plain: { Busy: Recovery.tell() } })
export const standard = <N extends string, P, A, E, R, T, S extends Recovery.SideEffects>(
  tool: Tool.Tool<N, P, A, E, R, T, S>
) => tool.pipe(Tool.onError({ orElse: Recovery.raise }))
export const choosing = <const Said extends "asking" | "naming" | undefined, E, R>(router: Router.Router<Said, E, R>) =>
  two.pipe(Agent.route(router))
export const holding = <T extends Tool.AnyTool>(tool: T) => Agent.make("holding", { tools: [tool] })
export const approving = <N extends string, P, A, E, R, T, S extends Recovery.SideEffects>(
  tool: Tool.Tool<N, P, A, E, R, T, S>
) => tool.pipe(Tool.requireApproval())
export const translated = <N extends string, In, Out>(name: N, tool: { execute: (input: In) => Out }) =>
  AiSdk.tool(name, { ...tool, inputSchema: {} }, { sideEffects: "none", jsonSchema: {} })
export const adopted = <Tools extends Record<string, AiTool.Any>>(toolkit: Toolkit.Toolkit<Tools>) =>
  EffectAi.fromToolkit(toolkit)
const toolkit = Toolkit.make(AiTool.make("ring", { parameters: Schema.Struct({}), success: Schema.String }))
export const rings = EffectAi.fromToolkit(toolkit)
export const asToolkit = EffectAi.toToolkit([plain])
export const taking = Agent.mapInput((x: number) => String(x))
export const hedging = Agent.speculative(2, { hedgeAfter: "1 second" })
export const routing = Agent.route(Router.byRule((input) => (input === "" ? "a" : undefined)))
export const afterwards = Agent.andThen(Agent.deterministic("length", (text: string) => Effect.succeed(text.length)))
export const sealing = <A extends Agent.AnyPart>(agent: A) => Agent.seal(agent)
export const mapping = Agent.map((text: string) => text.length)
export const limiting = Agent.withBudget({ maxTurns: 3 })
export const budgeted = one.pipe(Agent.withBudget({ maxTurns: 3 }))

// models
export const model = OpenAi.model("gpt-5")
export const guardedModel = (service: Model.Service) => Model.onError(service, { orElse: Recovery.rethrow })
export const behind = Model.fallback(model, OpenAi.model("gpt-5-mini"))
export const table = Recovery.presets
export const explained = Agent.explain(one)
export const fetched = run({ id: "x" }).pipe(Recovery.onError({ Busy: Recovery.respondWith("later") }))
export const resumable = run({ id: "x" }).pipe(
  Recovery.onErrorFrom({ Busy: Recovery.rethrow }, { onWait: () => Effect.void })
)
export const limits = Budget.make({ maxTurns: 3 })
export const policy = ToolPolicy.allow
export const completion = Completion.Completion

// durable, interop and view
const filing = Agent.make("filing", { tools: [stored] })
export const durable = Durable.workflow(filing, {
  name: "filing",
  input: Schema.String,
  output: Schema.String,
  error: Broken
})
export const begun = Durable.start(durable, { id: "1", input: "x" })
export const polled = Durable.poll(durable, "1")
export const weather = AiSdk.tool(
  "weather",
  { inputSchema: {}, execute: ({ city }: { readonly city: string }) => ({ city }) },
  { sideEffects: "none", jsonSchema: {} }
)
export const docs = Mcp.http({ url: "https://docs.example/mcp" })
export const connection = Mcp.connect("docs", docs)
export const docsTools = Effect.flatMap(connection, (one) => Mcp.toolsOf([one]))
export const served = McpServer.http({ name: "served", version: "1", path: "/mcp", tools: [plain, approved] })
export const chunks = UiMessageStream.fromStream(bare.stream("x"))
export const recorder = Recording.start()
export const recorded = recorder.recording().events
export const problems = recorder.recording().problems
export const scene = Scene.make(recorder.recording())
export const counts = Stats.of(recorder.recording())
export const errorCounts = counts.errors
export const view = PolicyView.make([{ name: "model", explanation: Recovery.explain({}) }])
export const stacks = view.stacks

// what functions of a team take and give
export const partsOf = (reply: Message.Reply) => reply.content
export const endOf = (reply: Message.Reply) => reply.finish
export const specsOf = (request: Model.Request) => request.tools
export const wanted = (request: Model.Request) => request.output
export const adapted = (service: Model.Service, request: Model.Request) => service.adapts?.(request)
export const choiceOf = (request: Model.Request) => request.toolChoice
export const pairsOf = (message: Message.Assistant) => message.content.filter((part) => part.type === "settled-call")
export const systemOf = (transcript: Message.Transcript) => transcript.find((message) => message.role === "system")
export const trailOf = (error: RunError.BudgetExceededError) => error.trail
export const lacking = (error: LlmError.CapabilityMismatchError) => error.capability
export const kindOf = (error: ToolError.ExecutionError) => error.kind
export const severityOf = (error: ToolError.EscalationError) => error.severity
export const adviceOf = (error: KintsugiError.KintsugiError) => RecoveryAdvice.describe(error._tag)
export const delayOf = (error: RecoveryAdvice.RecoveryAdvice) => error.suggestedDelay
export const outcomeOf = (run: Agent.Run<string, never>) => run.outcome
export const pricesOf = Budget.make({}).prices
export const boundsOf = Agent.bounds(inTurn)
export const inTime = Explanation.timeline([{ name: "model", explanation: Recovery.explain({}) }])
export const shortened = Compaction.dropOldest({ keepLast: 2 })
export const shared = RetryBudget.makeUnsafe()
export const ruled = Router.byRule(() => Effect.succeed("asking" as const))
export const raw = (schema: RawSchema.RawSchema) => RawSchema.make(schema)
export const coerced = Coercion.steps
export const signing = Effect.service(Snapshot.Signing)
export const context = Effect.service(RunContext.Current)
export const interceptor = Effect.service(Interception.Current)
export const naming2 = (step: Interception.InterceptedStep) => step.type
export const worstOf = (verdict: Recovery.AnyVerdict) => Recovery.explain(verdict).worst
export const bounded = (bounds: Bounds.Bounds) => RawSchema.make({ type: "object" }, { bounds })
export const surrounded = (surrounding: Model.Surrounding) => Model.around(surrounding)
export const resent = (table: Model.TransportRows) => Model.resending(table)
export const captain = Agent.deterministic("captain", ({ answers }: Agent.Forum<string, { readonly a: string }>) =>
  Effect.succeed(answers.a)
)
export const refusing = (call: ToolPolicy.ProposedCall) => ToolPolicy.deny(`not ${call.tool}`)
export const gate: ToolPolicy.Policy = refusing
export const shown = (result: Agent.ToolResult) => result.text
export const draft = (partial: Agent.Partially<{ readonly total: number }>) => partial.total
export const nameOf = (skill: Skill.AnySkill) => skill.name
export const needing = <T extends Tool.AnyTool>(_tool: T): Effect.Effect<void, never, Tool.ServicesOf<T>> => Effect.void
export const down = FailureScript.fails("Down")
export const traced = Trace.trace(Recovery.retry({ retries: 1 }), FailureScript.always(down))
export const reached = FaultPlan.steps(Effect.void)
export const textOf = (part: Message.Text) => part.text
export const thoughtOf = (part: Message.Reasoning) => part.text
export const idOf = (pair: Message.SettledCall) => pair.call.id
export const isCut = (finish: Message.FinishReason) => finish === "length"
export const isMissing = (capability: LlmError.Capability) => capability === "vision"
export const spentOn = (entry: RunError.TrailEntry) => entry.attempt
export const admitted = (scope: Approval.ApprovalScope) => Approval.approveFor(scope)
export const changedBy = (change: Approval.DefinitionChange) => change.server
export const consulting = (onExpiry: Approval.OnExpiry) => Recovery.ask({ onExpiry })
export const serverOf = (source: Tool.PinSource) => source.server
export const isCounted = (receipt: Tool.Receipt) => receipt._tag === "Counted"
export const careful = (options: Mcp.AskOptions) => Mcp.connect("docs", docs, options)
export const takenBy = (pin: Mcp.Pin) => pin.digest
export const listed = (store: Mcp.PinStore) => store.read("docs")
export const stateOf = (tool: Mcp.PinnedTool) => tool.state

// what runs promise
export const aside = Tool.putAside({ above: 1000 })
export const asideOf = (aside: Tool.PutAside) => Agent.make("aside", { putAside: aside })
export const pictured = plain.pipe(Tool.parts(() => [], { unsupported: "follow" }))
export const shortening = Agent.compactAt({ window: 1000, with: shortened })
export const polite = (said: Agent.Checked) =>
  Effect.succeed(said.text === "" ? Agent.guard.pass : Agent.guard.block("no"))
export const watched = Agent.make("watched", { tools: [plain] }).pipe(
  Agent.guardInput(polite),
  Agent.guardOutput(polite, { hold: 10 }),
  Agent.onGuardrail({ output: Recovery.respondWith("no") })
)
export const preparing = Agent.make("preparing", { tools: [plain] }).pipe(
  Agent.prepareTurn(({ turn }) => Effect.succeed(turn > 1 ? { tools: [] } : { prompt: "Be brief." }))
)
export const going = Agent.make("going", {}).pipe(
  Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 1 }) }, { onPartial: "continue" })
)
export const readFrom = (run: Agent.Run<string, never>, after: string) => run.events({ after })
