/** Values without annotations: `test/repository/hovers.process.test.ts` looks at how the compiler prints their types. */
import { Agent, AgentEvent, KintsugiError, LlmError, Recovery, RunError, Skill, Tool, ToolError } from "@kintsugi/core"
import { Effect, Schema } from "effect"

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
