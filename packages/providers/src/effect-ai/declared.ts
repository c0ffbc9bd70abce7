/**
 * Declares the tools of a request to `effect/ai`, by name, description and JSON Schema. They have no handlers, because the agent runs them.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { remembering } from "../codec/Remembering.ts"

/** A tool of a request. Its parameters are declared as JSON Schema, so their type is unknown. */
type Declared = Tool.Tool<
  string,
  {
    readonly parameters: typeof Schema.Unknown
    readonly success: typeof Schema.Unknown
    readonly failure: typeof Schema.Never
    readonly failureMode: "error"
  }
>

type Tools = Record<string, Declared>

export const declaring = (providerTools: ReadonlyArray<Tool.Any>) => {
  const theirs = Object.fromEntries(providerTools.map((tool) => [tool.name, tool]))
  const toolkitOf = remembering((specs: ReadonlyArray<Message.ToolSpec>): Toolkit.WithHandler<Tools> => ({
    // Provider tools need no handler either, because the provider runs them.
    tools: { ...Object.fromEntries(specs.map((spec) => [spec.name, toolOf(spec)])), ...(theirs as Tools) },
    handle: (name) => Effect.die(new Error(`the tool '${name}' is run by its agent`))
  }))
  return ({ toolChoice, tools }: Model.Request) => ({ toolkit: toolkitOf(tools), toolChoice })
}

/**
 * Declares a tool of the agent to `effect/ai`. The strict mode, the default of some providers, is off, because schemas of users seldom meet
 * its rules.
 */
const toolOf = remembering(({ description, name, parameters }: Message.ToolSpec): Declared =>
  Tool.dynamic(name, { description, parameters: { ...parameters } }).annotate(Tool.Strict, false)
)
