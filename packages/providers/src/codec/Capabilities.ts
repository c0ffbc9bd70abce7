/**
 * What can be said to a provider, as data: what its wire format has words for, and what its service takes. What one of its
 * models cannot do beyond that, the provider says itself.
 */
import { CapabilityMismatchError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { parametersRoot } from "./rootSchema.ts"
import type { Source } from "../transport/Source.ts"

/** What a provider can do, as a table. A request that asks for more is refused before it is sent. */
export interface Capabilities {
  /** Whether tools can be offered. */
  readonly tools: boolean
  /** Which choices of tools it knows beside its own. One that cannot be told to call none is offered none then. */
  readonly toolChoice: ReadonlyArray<"none" | "required" | "named">
  /** How pictures reach it: their bytes, or an address that it fetches itself. */
  readonly images: ReadonlyArray<Way>
  readonly files: ReadonlyArray<Way>
  /** Whether an answer can be held to a JSON Schema, only to JSON, or to nothing. */
  readonly output: "schema" | "json" | "none"
  /** How a failed tool call is told: by a flag, by a field of its own, or in its text. */
  readonly toolErrors: "flag" | "field" | "text"
  /** Whether reasoning comes back with the reply, and whether the provider demands it back in the next request. */
  readonly reasoning: "none" | "shown" | "demanded"
  /** How a prompt gets into the provider's cache: by itself, by marks in the request, or by a key that requests share. */
  readonly promptCache: "none" | "automatic" | "breakpoints" | "key"
}

type Way = "data" | "url"

/**
 * Why a request would be refused, so that it is not sent. Parameters of tools that no object fits are refused by everybody:
 * arguments are objects. What was found to be sayable is not looked at again.
 */
export const refusing = (
  { model, provider }: Source,
  capabilities: Capabilities
): ((request: Model.Request) => CapabilityMismatchError | undefined) => {
  const sayable = new WeakSet<Message.Message | Message.ToolSpec>()
  const refused = (capability: CapabilityMismatchError["capability"], detail: string) =>
    CapabilityMismatchError.notSupported(model, provider, capability, { detail })
  return ({ messages, toolChoice, tools }) => {
    if (tools.length > 0 && !capabilities.tools) return refused("tools", `${tools.length} tools were offered`)
    for (const tool of tools) {
      if (sayable.has(tool)) continue
      if (parametersRoot(tool.parameters) === undefined) {
        return refused("tools", `the parameters of '${tool.name}' are no object`)
      }
      sayable.add(tool)
    }
    const choice = typeof toolChoice === "string" ? toolChoice : "named"
    if (choice === "required" || choice === "named") {
      if (!capabilities.toolChoice.includes(choice)) return refused("toolChoice", `the choice was '${choice}'`)
    }
    for (const message of messages) {
      if (message.role !== "user" || sayable.has(message)) continue
      for (const part of message.content) {
        if (part.type === "text") continue
        const way = "data" in part ? "data" : "url"
        const detail = way === "data" ? "its bytes cannot be sent" : "only its bytes can be sent, not its address"
        if (part.type === "image" && !capabilities.images.includes(way)) return refused("vision", detail)
        if (part.type === "file" && !capabilities.files.includes(way)) return refused("files", detail)
      }
      sayable.add(message)
    }
    return undefined
  }
}
