/**
 * What requests to a provider may contain, as data: what its wire format can express and its service accepts. The
 * provider itself reports what one of its models cannot do.
 */
import { CapabilityMismatchError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { audioFormat, givenBy } from "./Attached.ts"
import { parametersRoot } from "./rootSchema.ts"
import type { Source } from "../transport/Source.ts"

/** The features of a provider, as data. A request that needs more is refused before it is sent. */
export interface Capabilities {
  /** Whether tools can be offered. */
  readonly tools: boolean
  /** The supported tool choices besides `auto`. A provider without `none` is offered no tools for that choice. */
  readonly toolChoice: ReadonlyArray<"none" | "required" | "named">
  /** How images are sent: as bytes, as a URL that the provider fetches, or as the id of a file that the provider stores. */
  readonly images: ReadonlyArray<Way>
  readonly files: ReadonlyArray<Way>
  /** The formats of audio, whose bytes alone are sent; absent if audio is a file like any other. */
  readonly audio?: ReadonlyArray<string>
  /** Whether the provider can enforce a JSON Schema for an answer, only JSON, or nothing. */
  readonly output: "schema" | "json" | "none"
  /** How a failed tool call is marked: by a flag, by a field of its own, or in its text. */
  readonly toolErrors: "flag" | "field" | "text"
  /** Whether a reply has its reasoning, and whether the provider demands it back in the next request. */
  readonly reasoning: "none" | "shown" | "demanded"
  /** How a prompt enters the provider's cache: automatically, by marks in the request, or by a key that requests share. */
  readonly promptCache: "none" | "automatic" | "breakpoints" | "key"
}

type Way = "data" | "url" | "id"

const names = { data: "bytes", url: "address", id: "file id" } as const

/**
 * Makes the check of requests, for `refuses` of a codec: the error of a request that needs more than the capabilities,
 * else `undefined`. Tool parameters that no object fits are always refused, because arguments are objects. The check
 * remembers the specs and messages that it has accepted.
 */
export const refusing = (
  { model, provider }: Source,
  capabilities: Capabilities
): ((request: Model.Request) => CapabilityMismatchError | undefined) => {
  const sayable = new WeakSet<Message.Message | Message.ToolSpec>()
  const refused = (capability: CapabilityMismatchError["capability"], detail: string) =>
    CapabilityMismatchError.make({ model, provider, capability, detail })
  return ({ messages, toolChoice, tools }) => {
    if (tools.length > 0 && !capabilities.tools) return refused("tools", `${tools.length} tools were offered`)
    for (const tool of tools) {
      if (sayable.has(tool)) continue
      if (parametersRoot(tool.parameters) === undefined) {
        return refused("tools", `the parameters of '${tool.name}' are not an object`)
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
        const { way } = givenBy(part)
        const { audio, files, images } = capabilities
        const format = audio === undefined ? undefined : audioFormat(part)
        if (audio !== undefined && format !== undefined) {
          if (!audio.includes(format)) return refused("files", `audio of the format '${format}' cannot be sent`)
          if (way !== "data") return refused("files", `only the bytes of audio can be sent, not its ${names[way]}`)
          continue
        }
        const ways = part.type === "image" ? images : files
        if (ways.includes(way)) continue
        const detail =
          way === "data" || !ways.includes("data")
            ? `its ${names[way]} cannot be sent`
            : `only its bytes can be sent, not its ${names[way]}`
        return refused(part.type === "image" ? "vision" : "files", detail)
      }
      sayable.add(message)
    }
    return undefined
  }
}
