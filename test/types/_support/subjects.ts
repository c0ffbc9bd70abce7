/** What the type tests are about: tools, fixers and effects whose failures and needs are known. */
import { Agent, type LlmError, type Model, type RunError, Skill, Tool, type ToolError } from "@kintsugi/core"
import { Context, type Effect, type Layer, Schema } from "effect"

export class NoKeys extends Schema.TaggedError<NoKeys>()("NoKeys", { json: Schema.String }) {}
export class Boom extends Schema.TaggedError<Boom>()("Boom", { n: Schema.Number }) {}
/** A failure of handlers, schedules and fixers: no tool fails with it. */
export class Oops extends Schema.TaggedError<Oops>()("Oops", { why: Schema.String }) {}

export class Db extends Context.Service<Db, { readonly rows: number }>()("test/Db") {}
export class Mail extends Context.Service<Mail, { readonly sent: number }>()("test/Mail") {}

/** What an agent with a model fails with besides its tools. */
export type Own = LlmError.LlmError | RunError.BudgetExceededError
/** What every tool fails with when its arguments are bad. */
export type BadArgs = ToolError.InvalidArgs | ToolError.DeserializationError

const options = { description: "Fails.", parameters: Schema.Struct({ json: Schema.String }) }

declare const counting: Effect.Effect<number, NoKeys | Boom>
declare const naming: Effect.Effect<string, Boom, Mail>
declare const safe: Effect.Effect<boolean>

/** Gives a number; fails with `NoKeys` and `Boom`; needs nothing. */
export const count = Tool.make("count", { ...options, success: Schema.Number, run: () => counting })
/** Gives a text; fails with `Boom`; needs `Mail`. */
export const name = Tool.make("name", { ...options, success: Schema.String, run: () => naming })
/** Has no failure of its own. */
export const check = Tool.make("check", { ...options, success: Schema.Boolean, run: () => safe })
/** As `count`, with side effects that must not happen twice. */
export const pay = Tool.make("pay", {
  ...options,
  success: Schema.Number,
  sideEffects: "unsafe",
  run: () => counting
})

/** A plain effect with two failures. */
export declare const risky: Effect.Effect<number, NoKeys | Boom>

/** A fixer that cannot fail and needs nothing. */
export declare const cleanup: (raw: string) => Effect.Effect<string>
/** A fixer with a failure and a need of its own. */
export declare const lookup: (raw: string) => Effect.Effect<string, Oops, Db>
/** A fixer that may end the call for good. */
export declare const strict: (raw: string) => Effect.Effect<string, Oops | ToolError.ToolExecutionError, Db>
/** A handler with an answer, a failure and a need of its own. */
export declare const ask: Effect.Effect<number, Oops, Db>

/** Makes an agent that has one tool and no table. */
export const having = <T extends Tool.AnyTool>(tool: T) =>
  Agent.make("agent", { skills: [Skill.make("skill", { description: "One tool.", tools: [tool] })] })

/** Calls such an agent: the type of its effect is what the tests pin. */
export const call = <T extends Tool.AnyTool>(tool: T) => having(tool)("input")

/** An agent of several tools, with no table: `count`, `name`, `check`, `pay`. */
export const bare = Agent.make("bare", {
  skills: [Skill.make("skill", { description: "Four tools.", tools: [count, name, check, pay] })]
})

export declare const modelLayer: Layer.Layer<Model.Model>
