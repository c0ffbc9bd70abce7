/** Encodes a request as the body of Converse. A streamed request has the same body. */
import { type Capability, CapabilityMismatchError, type LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import type { Source } from "../../transport/Source.ts"
import { CallIds } from "../callIds.ts"
import * as Capabilities from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import * as OutputWords from "../outputWords.ts"
import * as Parameters from "../Parameters.ts"
import { remembering } from "../Remembering.ts"
import * as Extra from "../Extra.ts"
import * as RootSchema from "../rootSchema.ts"
import * as Blocks from "./blocks.ts"
import { reasoningFields, vendorOf } from "./vendor.ts"

/** The fields of a body that this format writes alone, and those that it merges with the user's. */
export const own: Extra.Own = {
  written: {
    messages: "the messages of the request",
    system: "the prompt of the agent",
    "toolConfig.toolChoice": "the option toolChoice",
    "toolConfig.tools": "the tools of the agent, or the option providerTools"
  },
  merged: { additionalModelRequestFields: "object", inferenceConfig: "object", toolConfig: "object" }
}

export const make = (
  { model, provider }: Source,
  parameters: Parameters.BedrockParameters,
  able: Capabilities.Capabilities
): Codec["encode"] => {
  const {
    extra,
    maxTokens,
    promptCache,
    providerTools = [],
    reasoning,
    serviceTier,
    stop,
    temperature,
    toolChoice,
    topP
  } = parameters
  const vendor = vendorOf(model)
  const thinking = reasoning === undefined ? undefined : reasoningFields(vendor, reasoning)
  const longest = maxTokens ?? thinking?.maxTokens ?? able.maxTokens
  const { toolConfig, ...opening } = Extra.merged(
    {
      ...member("inferenceConfig", Extra.merged({ maxTokens: longest, temperature, topP, stopSequences: stop })),
      additionalModelRequestFields: thinking?.fields,
      serviceTier: serviceTier === undefined ? undefined : { type: serviceTier }
    },
    extra
  )
  const ofTool = remembering(encodeTool)
  const messagesOf = OutputWords.make()
  const point = { cachePoint: { type: "default", ...(promptCache?.ttl === undefined ? {} : { ttl: promptCache.ttl }) } }
  const isMarked = (where: "tools" | "system" | "conversation") =>
    promptCache !== undefined && (promptCache.breakpoints ?? ["system", "conversation"]).includes(where)

  return (request) => {
    const system: Array<Schema.Json> = []
    const turns: Array<Turn> = []
    const [ids, names] = [new CallIds(), new Blocks.Names()]
    for (const message of messagesOf(request, false)) {
      if (message.role === "system") {
        if (!Blocks.isBlank(message.text)) system.push({ text: message.text })
      } else if (message.role === "user") say(turns, "user", Blocks.ofUser(message, names))
      else {
        const { results, said } = Blocks.ofAssistant(message, provider, vendor, (id) => ids.next(id), names)
        say(turns, "assistant", said)
        say(turns, "user", results)
      }
    }
    const tools: Array<Schema.Json> = [...offered(request).map(ofTool), ...providerTools]
    const isSystemMarked = isMarked("system") && system.length > 0
    if (isSystemMarked) system.push(point)
    if (tools.length > 0 && (isMarked("tools") || (isMarked("system") && !isSystemMarked))) tools.push(point)
    if (isMarked("conversation")) turns.at(-1)?.content.push(point)
    const choice = encodeChoice(Parameters.choiceOf(request, toolChoice))
    return JSON.stringify({
      ...opening,
      ...(system.length === 0 ? {} : { system }),
      messages: turns,
      ...member("toolConfig", { ...Json.fields(toolConfig), ...(tools.length === 0 ? {} : { tools, ...choice }) })
    })
  }
}

const member = (name: string, fields: Readonly<Record<string, Schema.Json>>) =>
  Object.keys(fields).length === 0 ? {} : { [name]: fields }

interface Turn {
  readonly role: "user" | "assistant"
  readonly content: Array<Schema.Json>
}

/** Adds blocks to the turns. Adjacent messages of one side become one turn, in which the results of calls come before the user's text. */
const say = (turns: Array<Turn>, role: Turn["role"], blocks: ReadonlyArray<Schema.Json>): void => {
  if (blocks.length === 0) return
  const turn = turns.at(-1)
  if (turn?.role === role) turn.content.push(...blocks)
  else turns.push({ role, content: [...blocks] })
}

/**
 * The tools that a request offers. A transcript with calls is refused without tools ("The toolConfig field must be defined when using
 * toolUse and toolResult content blocks", github.com/vxcontrol/pentagi, pull request 196, looked up on 2026-11-26). So for the choice
 * `none` it still offers the request's tools; if there are none, it offers tools with the names of the calls.
 */
const offered = ({ messages, toolChoice, tools }: Model.Request): ReadonlyArray<Message.ToolSpec> => {
  if (tools.length > 0 && toolChoice !== "none") return tools
  const called = new Set(
    messages.flatMap((message) =>
      message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.call.name] : []))
        : []
    )
  )
  if (called.size === 0) return []
  return tools.length > 0 ? tools : [...called].map((name) => ({ name, description: "", parameters: anything }))
}

const anything: Message.ToolSpec["parameters"] = { type: "object", properties: {} }

const encodeTool = ({ description, name, parameters }: Message.ToolSpec): Schema.Json => ({
  toolSpec: {
    name,
    // an empty description is left out, because the wire refuses it
    ...(description === "" ? {} : { description }),
    inputSchema: { json: RootSchema.parametersRoot(parameters) ?? parameters }
  }
})

const encodeChoice = (choice: Model.ToolChoice): Schema.JsonObject => {
  if (choice === "auto" || choice === "none") return {}
  return { toolChoice: choice === "required" ? { any: {} } : { tool: { name: choice.tool } } }
}

/** Makes the check of requests: the capabilities, the formats of attachments, and `reasoning`. */
export const refusing = (
  source: Source,
  { reasoning }: Parameters.BedrockParameters,
  capabilities: Capabilities.Capabilities
): ((request: Model.Request) => LlmError | undefined) => {
  const { model, provider } = source
  const refused = Capabilities.refusing(source, capabilities)
  const unable = (capability: Capability, detail: string): LlmError =>
    CapabilityMismatchError.make({ model, provider, capability, detail })
  const whyNot = remembering(({ content }: Message.User) => {
    for (const part of content) {
      const detail = part.type === "text" ? undefined : Blocks.unsendable(part)
      if (detail !== undefined) return { refusal: unable(part.type === "image" ? "vision" : "files", detail) }
    }
    return { refusal: undefined }
  })
  const isUnknown = reasoning !== undefined && reasoningFields(vendorOf(model), reasoning) === undefined
  return (request) => {
    const refusal = refused(request)
    if (refusal !== undefined) return refusal
    if (isUnknown) {
      return unable(
        "thinking",
        "Converse has no field for this reasoning: give the model's own in additionalModelRequestFields of extra"
      )
    }
    for (const message of request.messages) {
      const { refusal } = message.role === "user" ? whyNot(message) : {}
      if (refusal !== undefined) return refusal
    }
    return undefined
  }
}
