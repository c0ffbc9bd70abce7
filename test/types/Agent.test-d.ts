import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import type { LlmError, Model, RunError, ToolError } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./Identity.ts"

class NoKeys extends Schema.TaggedError<NoKeys>()("NoKeys", { json: Schema.String }) {}
class Boom extends Schema.TaggedError<Boom>()("Boom", { n: Schema.Number }) {}

const countKeys = Tool.make("calculateNumberOfKeys", {
  description: "Count the top-level keys of a JSON object.",
  parameters: Schema.Struct({ json: Schema.String }),
  success: Schema.Number,
  run: ({ json }): Effect.Effect<number, NoKeys> => Effect.fail(new NoKeys({ json }))
})
const boom = Tool.make("boom", {
  description: "Fails.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: (): Effect.Effect<string, Boom | NoKeys> => Effect.fail(new Boom({ n: 1 }))
})
const fixer = Agent.make("json-fixer", {
  prompt: "Fix.",
  budget: { maxTurns: 3 },
  skills: [Skill.make("fix", { description: "Analyse", tools: [Tool.escalate] })]
})
const cleanup = Agent.deterministic("json-cleanup", (raw: string) => Effect.succeed(raw.replaceAll(",}", "}")))

type E<T> = T extends (...args: never) => Effect.Effect<unknown, infer X, unknown> ? X : never
type R<T> = T extends (...args: never) => Effect.Effect<unknown, unknown, infer X> ? X : never
type Own = LlmError.LlmError | RunError.BudgetExceededError
type Args = ToolError.InvalidArgs | ToolError.DeserializationError

const counted = countKeys.pipe(
  Tool.onError({ InvalidArgs: Recovery.fix(cleanup), NoKeys: Recovery.fix(fixer, { retries: 2 }) })
)
const analyst = Agent.make("json-analyst", {
  prompt: "Use the tool.",
  budget: { maxTurns: 10 },
  skills: [Skill.make("solve", { description: "Analyse JSON with tools", tools: [counted] })]
})
const bare = Agent.make("bare", { skills: [Skill.make("s", { description: "d", tools: [countKeys, boom] })] })
const tabled = bare.pipe(
  Agent.onToolError({ boom: { Boom: Recovery.tell((e) => `${e.n}`), NoKeys: Recovery.rethrow } }),
  Agent.toolDefaults({ orElse: Recovery.raise }),
  Agent.onLlmError({
    NetworkError: Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" }),
    RateLimitError: Recovery.respondWith("later"),
    orElse: Recovery.when((e) => (e.isRetryable ? Recovery.retry({ retries: 1 }) : Recovery.respondWith("no")))
  })
)
const program = analyst("How many keys?")

describe("Agent", () => {
  it("A509 design page one: the program's residue", () => {
    type _ = [
      Expect<Equal<typeof program, Effect.Effect<string, Own | ToolError.ToolExecutionError, Model.Model>>>,
      Expect<Equal<E<typeof bare>, Own | Args | NoKeys | Boom>>,
      Expect<Equal<E<typeof fixer>, Own | ToolError.EscalationError>>,
      Expect<Equal<E<typeof tabled>, 1>>,
      Expect<Equal<R<typeof tabled>, Model.Model>>
    ]
  })
})
export const d1: 1 = program
declare const d: E<typeof bare>
export const d2: 1 = d
declare const dd: E<typeof tabled>
export const d3: 1 = dd
