/**
 * Encodes a request as the body of `POST /v1/messages`. Messages and tools are encoded once and cached by their
 * identity, so that a turn does not pay for the transcript before it. The cached prefix (tools, system, messages)
 * comes in this order, and no later message changes it.
 */
import { CapabilityMismatchError, type LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Schema from "effect/Schema"
import type { Codec } from "../Codec.ts"
import * as Capabilities from "../Capabilities.ts"
import * as Parameters from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"
import * as Blocks from "./blocks.ts"
import { CallIds } from "../callIds.ts"
import { schemaOf } from "./output.ts"
import { fieldsOf, markOf } from "./parameters.ts"
import * as Json from "../../transport/Json.ts"
import * as OutputWords from "../outputWords.ts"
import { remembering } from "../Remembering.ts"
import * as RootSchema from "../rootSchema.ts"

export const make = (
  { model, provider }: Source,
  parameters: Parameters.AnthropicParameters,
  able: Capabilities.Capabilities
): Codec["encode"] => {
  const { parallelToolCalls, promptCache, providerTools = [], toolChoice } = parameters
  const { head, outputConfig, thinking } = fieldsOf(model, parameters, able.maxTokens)
  const opening = JSON.stringify({ ...head, thinking }).slice(0, -1)
  const ofMessage = remembering((message: Message.User | Message.Assistant) =>
    message.role === "user" ? Blocks.ofUser(message) : Blocks.ofAssistant(message, provider)
  )
  const ofTool = remembering(encodeTool)
  const theirTools = providerTools.map((tool) => JSON.stringify(tool))
  const ofSystem = remembering(({ text }: Message.System) => JSON.stringify({ type: "text", text }))
  const isLeftToUser = outputConfig["format"] !== undefined
  // Mutant `undefined` survives: the code reads it only as `format || usualOutput` and beside `isLeftToUser ||`, where
  // undefined and an empty text are alike
  const ofOutput = remembering(isLeftToUser || able.output !== "schema" ? () => "" : encodeOutput(outputConfig))
  const messagesOf = OutputWords.make()
  const usualOutput = Object.keys(outputConfig).length === 0 ? "" : `,"output_config":${JSON.stringify(outputConfig)}`
  const isTheirsMarked = Json.field(providerTools.at(-1), "cache_control") !== undefined
  const mark = `"cache_control":${JSON.stringify(markOf(promptCache ?? {}))}`
  const isMarked = (where: "tools" | "system" | "conversation") =>
    promptCache !== undefined && (promptCache.breakpoints ?? ["system", "conversation"]).includes(where)

  return (request, mode) => {
    const tools = [...request.tools.map(ofTool), ...theirTools]
    const system: Array<string> = []
    const said: Array<Blocks.Blocks> = []
    const format = request.output === undefined ? "" : ofOutput(request.output)
    for (const message of messagesOf(request, isLeftToUser || format !== "")) {
      if (message.role !== "system") said.push(ofMessage(message))
      else if (message.text.trim() !== "") system.push(ofSystem(message))
    }
    const isSystemMarked = isMarked("system") && system.length > 0
    if (isSystemMarked) markLast(system, mark)
    if (!isTheirsMarked && (isMarked("tools") || (isMarked("system") && !isSystemMarked))) markLast(tools, mark)
    const text = conversation(said, isMarked("conversation") ? mark : undefined)
    const choice = Parameters.choiceOf(request, toolChoice)
    const fields = [
      opening,
      tools.length === 0 ? "" : `,"tools":[${tools.join(",")}]`,
      system.length === 0 ? "" : `,"system":[${system.join(",")}]`,
      `,"messages":[${text}]`,
      tools.length === 0 ? "" : encodeChoice(choice, parallelToolCalls),
      format || usualOutput,
      mode === "streamed" ? ',"stream":true' : ""
    ]
    return `${fields.join("")}}`
  }
}

interface Turn {
  readonly role: "user" | "assistant"
  readonly blocks: Array<string>
}

/**
 * Encodes the messages as turns that alternate between user and assistant. Adjacent messages of one side become one turn, in which the
 * results of calls come before the user's text.
 */
const conversation = (said: ReadonlyArray<Blocks.Blocks>, mark: string | undefined): string => {
  const turns: Array<Turn> = []
  const ids = new CallIds()
  let markable: { readonly blocks: Array<string>; readonly at: number; readonly block: string } | undefined
  const push = (role: Turn["role"], blocks: ReadonlyArray<Blocks.Block>, calls: ReadonlyArray<string>) => {
    for (const block of blocks) {
      let turn = turns.at(-1)
      if (turn?.role !== role) {
        turn = { role, blocks: [] }
        turns.push(turn)
      }
      const text = block.call === undefined ? block.text : `${block.text}"${calls[block.call.at]}"${block.call.rest}`
      if (!block.isThinking) markable = { blocks: turn.blocks, at: turn.blocks.length, block: text }
      turn.blocks.push(text)
    }
  }
  for (const [index, { blocks, ids: seen, isPaused, results, role }] of said.entries()) {
    const calls = seen.map((id) => ids.next(id))
    // The provider continues a paused turn only if nothing of the user follows it.
    const goesOn = calls.length > 0 || (isPaused && said[index + 1]?.role !== "user")
    push(role, goesOn ? blocks : ended(blocks), calls)
    push("user", results, calls)
  }
  if (mark !== undefined && markable !== undefined) {
    const { at, block, blocks } = markable
    blocks[at] = marked(block, mark)
  }
  return turns.map(({ blocks, role }) => `{"role":"${role}","content":[${blocks.join(",")}]}`).join(",")
}

/**
 * Makes the check whether a request ends with results of calls, and no message of their turn has thoughts of this provider. A turn is all
 * that the model has said since the last message of the user: it often thinks only once, before the first of its calls. The provider
 * refuses a request that switches thinking off within a turn that has begun with it (github.com/BerriAI/litellm/issues/18926, looked up on
 * 2026-11-26).
 */
export const answersPlainCalls = (provider: string): ((request: Model.Request) => boolean) => {
  const hasThoughts = remembering((message: Message.Assistant) => {
    const { blocks, isPaused } = Blocks.ofAssistant(message, provider)
    return (isPaused || hasCalls(message) ? blocks : ended(blocks)).some(({ isThinking }) => isThinking)
  })
  return ({ messages }) => {
    const last = messages.findLastIndex(({ role }) => role === "assistant")
    if (!hasCalls(messages[last])) return false
    const user = messages.findLastIndex(({ role }, index) => index < last && role === "user")
    return !messages.slice(user + 1, last + 1).some((said) => said.role === "assistant" && hasThoughts(said))
  }
}

const hasCalls = (message: Message.Message | undefined): boolean =>
  message?.role === "assistant" && message.content.some(({ type }) => type === "settled-call")

/** The blocks of a finished turn that the provider accepts: none may be an unfinished call, and the last may be no thought. */
const ended = (blocks: ReadonlyArray<Blocks.Block>): ReadonlyArray<Blocks.Block> => {
  const closed = blocks.filter(({ isUnfinished }) => !isUnfinished)
  return closed.slice(0, closed.findLastIndex(({ isThinking }) => !isThinking) + 1)
}

/** Adds a cache mark to the JSON text of a block. */
const marked = (json: string, mark: string): string => `${json.slice(0, -1)},${mark}}`

const markLast = (list: Array<string>, mark: string): void => {
  const last = list.pop()
  if (last !== undefined) list.push(marked(last, mark))
}

const encodeTool = ({ description, name, parameters }: Message.ToolSpec): string =>
  JSON.stringify({
    name,
    ...(description === "" ? {} : { description }),
    input_schema: RootSchema.parametersRoot(parameters) ?? parameters
  })

const encodeOutput =
  (outputConfig: Schema.JsonObject) =>
  (output: Model.OutputSpec): string => {
    const schema = schemaOf(output.schema)
    if (schema === undefined) return ""
    return `,"output_config":${JSON.stringify({ ...outputConfig, format: { type: "json_schema", schema } })}`
  }

const encodeChoice = (choice: Model.ToolChoice, parallel: boolean | undefined): string => {
  if (choice === "auto" && parallel !== false) return ""
  if (choice === "none") return ',"tool_choice":{"type":"none"}'
  const single = parallel === false ? { disable_parallel_tool_use: true } : {}
  const wire = typeof choice === "object" ? { type: "tool", name: choice.tool } : { type: names[choice] }
  return `,"tool_choice":${JSON.stringify({ ...wire, ...single })}`
}

const names = { auto: "auto", required: "any" } as const

/** Makes the check of requests: the capabilities, and the file types that the wire accepts. */
export const refusing = (
  source: Source,
  capabilities: Capabilities.Capabilities
): ((request: Model.Request) => LlmError | undefined) => {
  const { model, provider } = source
  const refused = Capabilities.refusing(source, capabilities)
  const whyNot = remembering(({ content }: Message.User) => {
    const why = content.map((part) => (part.type === "file" ? Blocks.unsendable(part) : undefined))
    return { detail: why.find((reason) => reason !== undefined) }
  })
  return (request) => {
    const refusal = refused(request)
    if (refusal !== undefined) return refusal
    for (const message of request.messages) {
      const { detail } = message.role === "user" ? whyNot(message) : {}
      if (detail !== undefined) return CapabilityMismatchError.make({ model, provider, capability: "files", detail })
    }
    return undefined
  }
}
