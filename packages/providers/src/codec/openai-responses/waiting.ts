/**
 * The items of a reply that wait for an answer of the client: without one, the provider goes on with nothing.
 *
 * The kinds are those of `ResponseOutputItem` in npm's `openai` 7.57.0, looked up on 2026-11-26. xAI gives custom tool
 * calls that its own server has answered, without an item for the answer (public repositories, 2026-11-26): there, and
 * for unknown kinds, an item does not wait if the model wrote a message after it.
 */
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

/**
 * The kind of the first item that waits, and that no tool of the agent answers; `undefined` if there is none. An item
 * that was cut off waits for nothing.
 */
export const waitingIn = (items: ReadonlyArray<Schema.Json>, calls: ProviderCalls): string | undefined => {
  const answered = new Set(items.map(answeredBy))
  const lastMessage = items.findLastIndex((item) => kindOf(item) === "message")
  const isInProgram = items.some((item) => Json.field(Json.field(item, "caller"), "type") === "program")
  return kindOf(
    items.find((item, index) => {
      const kind = kindOf(item)
      if (kind === undefined || isCut(item) || isProviderCall(item, calls)) return false
      if (kind === approval) return !answered.has(textOf(item, "id") ?? "")
      // its calls are the client's, and it goes on with their results
      if (kind === "program" && isInProgram) return false
      if (!(clients.has(kind) ? hasCallId(item) : mayWait(item, kind) && index > lastMessage)) return false
      const callId = textOf(item, "call_id")
      return callId === undefined || !answered.has(callId)
    })
  )
}

/** The kinds that tools of the agent answer. */
export type ProviderCalls = ReadonlyArray<string> | undefined

/** Whether a tool of the agent answers this item. The provider itself answers what its server or container runs. */
export const isProviderCall = (item: Schema.Json, calls: ProviderCalls): boolean =>
  calls !== undefined &&
  calls.includes(kindOf(item) ?? "") &&
  Json.field(item, "execution") !== "server" &&
  Json.field(Json.field(item, "environment"), "type") !== "container_reference"

const approval = "mcp_approval_request"

/** Kinds that only the client answers; a shell within a container of the provider is answered by its output. */
const clients: ReadonlySet<string> = new Set(["computer_call", "local_shell_call", "shell_call", "apply_patch_call"])

/** Kinds that wait for nothing, or for the provider itself, in any status. */
const others: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools"
])

const mayWait = (item: Schema.Json, kind: string): boolean =>
  !others.has(kind) && !resulting.test(kind) && (hasCallId(item) || hasWaitingStatus(item))

/** Kinds of results: OpenAI's, and those of Perplexity's own tools (`OutputItem` of its client, 2026-11-26). */
const resulting = /_(?:output|results?)$|^(?:sandbox_|share_file$)/

const hasCallId = (item: Schema.Json): boolean => textOf(item, "call_id") !== undefined

const hasWaitingStatus = (item: Schema.Json): boolean => {
  const status = textOf(item, "status")
  return status !== undefined && !ended.has(status)
}

const ended: ReadonlySet<string> = new Set(["completed", "incomplete", "failed", "cancelled", "canceled", "expired"])

const isCut = (item: Schema.Json): boolean => Json.field(item, "status") === "incomplete"

/** The id that an item answers. */
const answeredBy = (item: Schema.Json): string | undefined => {
  const kind = kindOf(item)
  if (kind === "mcp_approval_response") return textOf(item, "approval_request_id")
  return kind?.endsWith("_output") === true ? textOf(item, "call_id") : undefined
}

const textOf = (item: Schema.Json | undefined, key: string): string | undefined => Json.text(Json.field(item, key))

const kindOf = (item: Schema.Json | undefined): string | undefined => textOf(item, "type")
