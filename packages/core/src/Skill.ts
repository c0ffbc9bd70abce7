/** What an agent can do: a name, a description, and the tools that are allowed for it. */
import type * as Tool from "./Tool.ts"

export interface Skill<out T extends Tool.AnyTool = never> {
  readonly name: string
  readonly description: string
  readonly tools: ReadonlyArray<T>
}

/** A skill. Its tools are an allow-list: nothing else can be called while it is at work. */
export const make = <const Tools extends ReadonlyArray<Tool.AnyTool> = readonly []>(
  name: string,
  options: { readonly description: string; readonly tools?: Tools }
): Skill<Tools[number]> => ({ name, description: options.description, tools: options.tools ?? [] })
