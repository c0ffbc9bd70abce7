/** Values without annotations: `test/repository/hovers.process.test.ts` looks at how the compiler prints their types. */
import { Agent, AgentEvent, KintsugiError, LlmError, Recovery, RunError, Skill, Tool, ToolError } from "@kintsugi/core"
import { type Context, Effect, Schema } from "effect"
import { S1, S2, S3, S4, S5, S6 } from "./services.ts"

class NoKeys extends Schema.TaggedError<NoKeys>()("NoKeys", { json: Schema.String }) {}

const count = Tool.make("count", {
  description: "Counts.",
  parameters: Schema.Struct({ json: Schema.String }),
  success: Schema.Finite,
  run: ({ json }) => Effect.fail(new NoKeys({ json }))
})

const fixer = Agent.deterministic("fixer", (raw: string) => Effect.succeed(raw))

const counted = count.pipe(Tool.onError({ InvalidArgs: Recovery.fix(fixer), NoKeys: Recovery.fix(fixer) }))

const analyst = Agent.make("analyst", {
  skills: [Skill.make("solve", { description: "Solves.", tools: [counted] })]
})

export const called = Tool.call(count, "{}")
export const run = analyst("go")
export const streamed = analyst.stream("go")
export const completing = Agent.make("completing", {
  skills: [Skill.make("close", { description: "Closes.", tools: [Tool.complete] })]
})("go")
export const bare = Agent.make("bare", {})("go")
export const chosen = Agent.make("desk", {
  skills: [Skill.make("a", { description: "A." }), Skill.make("b", { description: "B." })]
})("go")
export const decoded = Schema.decodeUnknownEffect(KintsugiError.KintsugiError)({})
export const decodedLlm = Schema.decodeUnknownEffect(LlmError.LlmError)({})
export const decodedTool = Schema.decodeUnknownEffect(ToolError.ToolError)({})
export const decodedRun = Schema.decodeUnknownEffect(RunError.RunError)({})
export const decodedEvent = Schema.decodeUnknownEffect(AgentEvent.AgentEvent)({})

const measure = Agent.deterministic("measure", (text: string) => Effect.succeed(text.length))

export const inTurn = Agent.andThen(analyst, measure)("go")
export const together = Agent.parallel({ text: analyst, size: measure })("go")
export const inOrder = Agent.fallback(analyst, Agent.make("other", {}))("go")
export const racing = Agent.firstOf(analyst, measure)("go")
export const hedged = Agent.speculative(analyst, 2, { hedgeAfter: "1 second" })("go")
export const guarded = analyst.pipe(Agent.onLlmError(() => Recovery.respondWith("later")))("go")

const needing = <const Name extends string, I, S>(name: Name, service: Context.Service<I, S>) =>
  Tool.make(name, {
    description: "Needs a service.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.as(service, "")
  })

const [t1, t2, t3] = [needing("t1", S1), needing("t2", S2), needing("t3", S3)]
const [t4, t5, t6] = [needing("t4", S4), needing("t5", S5), needing("t6", S6)]

const telling = { InvalidArgs: Recovery.tell(), DeserializationError: Recovery.tell() }
const retrying = { ServerError: Recovery.retry({ retries: 1 }) }
const skill = <const T extends ReadonlyArray<Tool.AnyTool>>(...tools: T) =>
  Skill.make("all", { description: "All.", tools })

export const needs1 = Agent.make("needing", { skills: [skill(t1)] }).pipe(
  Agent.toolDefaults(telling),
  Agent.onLlmError(retrying)
)("go")

export const needs2 = Agent.make("needing", { skills: [skill(t1, t2)] }).pipe(
  Agent.toolDefaults(telling),
  Agent.onLlmError(retrying)
)("go")

export const needs3 = Agent.make("needing", { skills: [skill(t1, t2, t3)] }).pipe(
  Agent.toolDefaults(telling),
  Agent.onLlmError(retrying)
)("go")

export const needs4 = Agent.make("needing", { skills: [skill(t1, t2, t3, t4)] }).pipe(
  Agent.toolDefaults(telling),
  Agent.onLlmError(retrying)
)("go")

export const needs5 = Agent.make("needing", { skills: [skill(t1, t2, t3, t4, t5)] }).pipe(
  Agent.toolDefaults(telling),
  Agent.onLlmError(retrying)
)("go")

export const needs6 = Agent.make("needing", { skills: [skill(t1, t2, t3, t4, t5, t6)] }).pipe(
  Agent.toolDefaults(telling),
  Agent.onLlmError(retrying)
)("go")

export const sealed = Agent.seal(analyst.pipe(Agent.toolDefaults({ InvalidArgs: Recovery.raise })))
