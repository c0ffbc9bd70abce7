/** Reads a call that Gemini itself rejected. Its error quotes the code that the model wrote instead of a call. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

/** The tool that a rejected call names, and the arguments as the model wrote them. */
export interface Rejected {
  readonly tool: string
  readonly rawArgs?: string
}

/** The first call among the parts of a reply; `undefined` if there is none. */
export const made = (parts: ReadonlyArray<Schema.Json>): Rejected | undefined => {
  for (const part of parts) {
    const call = Json.field(part, "functionCall")
    const tool = Json.text(Json.field(call, "name"))
    if (tool === undefined) continue
    const args = Json.field(call, "args")
    return { tool, rawArgs: Predicate.isString(args) ? args : JSON.stringify(args ?? {}) }
  }
  return undefined
}

/** The call within the code that an error quotes, as in `print(default_api.search(query="a"))`; `undefined` if there is none. */
export const quoted = (text: string): Rejected | undefined => {
  const found = /\bdefault_api\.(\w{1,128})(\(?)/.exec(text)
  const tool = found?.[1]
  if (found === null || tool === undefined) return undefined
  if (found[2] === "") return { tool }
  return { tool, rawArgs: enclosed(text.slice(found.index + found[0].length)) }
}

/** The text up to its closing bracket, or the whole text if it has none. Brackets within quotes are ignored. */
const enclosed = (text: string): string => {
  let depth = 0
  let quote = ""
  // Mutant `index <= text.length` survives: there is no character beyond the end, and the loop does nothing about none
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index)
    if (quote !== "") {
      if (character === "\\") index++
      else if (character === quote) quote = ""
    } else if (character === '"' || character === "'") quote = character
    else if (character === "(") depth++
    else if (character === ")" && depth-- === 0) return text.slice(0, index)
  }
  return text
}
