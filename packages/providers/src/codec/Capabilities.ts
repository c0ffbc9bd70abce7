/**
 * Describes as data what requests to a provider may contain: what its wire format can express, what its service accepts, and what the
 * family of the model takes (`ModelFamilies`). If a model is in no family, the provider itself reports what the model cannot do.
 */
import { CapabilityMismatchError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { audioFormat, givenBy } from "./Attached.ts"
import { parametersRoot } from "./rootSchema.ts"
import type { Source } from "../transport/Source.ts"

/**
 * The features of a provider and of a model, as data. A request that needs more than the wire can express is refused before it is sent. A
 * request that the family of the model does not take is adapted; an entry that is absent is not known, and the request is sent as asked.
 */
export interface Capabilities {
  /** Whether tools can be offered. */
  readonly tools: boolean
  /** The supported tool choices besides `auto`. For a provider without `none`, a request with that choice offers no tools. */
  readonly toolChoice: ReadonlyArray<"none" | "required" | "named">
  /** How images are sent: as bytes, as a URL that the provider fetches, or as the id of a file that the provider stores. */
  readonly images: ReadonlyArray<Way>
  readonly files: ReadonlyArray<Way>
  /** The formats of audio that can be sent, as bytes only; absent if audio is sent like any other file. */
  readonly audio?: ReadonlyArray<string>
  /** Whether the provider can enforce a JSON Schema for an answer, only JSON, or nothing. */
  readonly output: "schema" | "json" | "none"
  /** How a failed tool call is marked: by a flag, by a field of its own, or in its text. */
  readonly toolErrors: "flag" | "field" | "text"
  /** Whether replies show their reasoning, and whether the provider demands it back in the next request. */
  readonly reasoning: "none" | "shown" | "demanded"
  /**
   * How a prompt enters the provider's cache: automatically, by marks in the request (`breakpoints`), or by a key that requests share. With
   * `key-only`, no lifetime can be set.
   */
  readonly promptCache: "none" | "automatic" | "breakpoints" | "key" | "key-only" | "key-and-breakpoints"
  /**
   * Whether the model takes `temperature`, `topP` and `topK`: always, never, or unless it reasons. With `default-with-reasoning` it takes
   * beside reasoning only a `temperature` of 1 and a `topP` from 0.95 to 1.
   */
  readonly sampling?: "always" | "default-with-reasoning" | "without-reasoning" | "never"
  /** Whether the model takes a `temperature` beside a `topP`. If not, the `temperature` alone is sent. */
  readonly temperatureBesideTopP?: boolean
  /** Whether `parallelToolCalls` can be set. */
  readonly parallelToolCalls?: boolean
  /** The efforts that the model takes as its `reasoning`, from the least to the greatest; empty if it takes none. */
  readonly efforts?: ReadonlyArray<string>
  /** Whether the model takes its `reasoning` in tokens. */
  readonly budgets?: boolean
  /** The least budget of reasoning that the model takes, in tokens. */
  readonly leastBudget?: number
  /** Whether the model reasons unless the request says otherwise. */
  readonly reasoningByDefault?: boolean
  /** Whether reasoning can be switched off, by the effort `none`. */
  readonly reasoningOff?: boolean
  /** Whether the budget of reasoning must be less than the longest reply. */
  readonly budgetWithinMaxTokens?: boolean
  /**
   * Whether the model takes a budget of reasoning if a request ends with results of calls that it made without its thoughts. A turn counts
   * as a whole.
   */
  readonly budgetAfterPlainCalls?: boolean
  /** Whether a call can be forced while the model reasons. */
  readonly forcedBesideReasoning?: boolean
  /** Whether a call can be forced while `reasoning` is a budget in tokens. */
  readonly forcedBesideBudget?: boolean
  /** Which `reasoning` a request with tools may have: any, none at all, or only the effort `none`. */
  readonly reasoningBesideTools?: "any" | "unset" | "none"
  /** The longest reply in tokens, if the options set none. */
  readonly maxTokens?: number
  /** How many tokens a request and its reply may have together, see `Model.Service`. */
  readonly contextWindow?: number
  /** How the model continues a message of its own: with the rest, with the whole message, or not at all. See `Model.Service`. */
  readonly continuation?: "rest" | "whole" | "none"
}

/** What is known of a family of models. An absent entry is not known. */
export interface Facts extends Partial<Omit<Capabilities, "reasoning" | "toolErrors">> {
  /** For chat completions: the field of the body that limits the length of the reply. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens"
  /** For chat completions: the field of the body for the seed. */
  readonly seedField?: "seed" | "random_seed"
  /** For chat completions: how reasoning is requested, see `reasoning` of `OpenAiChat.Dialect`. */
  readonly reasoningField?: "effort" | "object" | "thinking" | "thinking-effort"
  /** For chat completions: the options whose fields the server refuses. */
  readonly refusedOptions?: ReadonlyArray<"serviceTier" | "verbosity">
}

/** Overrides of the table of model families by a layer, and what happens to a request that the model does not take. */
export interface CapabilityOptions extends Facts {
  /**
   * `adapt`, the default, sends what the model takes instead, with the event `request-adapted`. `refuse` sends nothing: the call fails with
   * a `CapabilityMismatchError`.
   */
  readonly unsupported?: "adapt" | "refuse"
}

type Way = "data" | "url" | "id"

const names = { data: "bytes", url: "address", id: "file id" } as const

/**
 * Makes a codec's check of requests, for its field `refuses`. The check gives the error of a request that needs more than the capabilities,
 * else `undefined`. Tool parameters that no object fits are always refused, because arguments are objects. The check remembers the specs
 * and messages that it has accepted.
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
        const taken = ways.map((one) => `its ${names[one]}`).join(" or ")
        const detail =
          taken === "" ? `its ${names[way]} cannot be sent` : `only ${taken} can be sent, not its ${names[way]}`
        return refused(part.type === "image" ? "vision" : "files", detail)
      }
      sayable.add(message)
    }
    return undefined
  }
}
