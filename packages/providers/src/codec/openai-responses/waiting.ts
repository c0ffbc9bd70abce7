/**
 * Finds the items of a reply that wait for an answer of the client. Without that answer the provider does not continue.
 *
 * The kinds are those of `ResponseOutputItem` in npm's `openai` 7.57.0, looked up on 2026-11-26. An item of an unknown kind does not wait
 * if the model wrote a text after it. In a reply without text and calls, such an item always waits, because an empty answer would hide it.
 */
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import type { Source } from "../../transport/Source.ts"

/** The kind of the first item that waits for an answer which no tool of the agent gives; `undefined` if no item does. */
export const waitingIn = (
  source: Source,
  items: ReadonlyArray<Schema.Json>,
  calls: ProviderCalls
): string | undefined => {
  const answered = new Set(items.map(answeredBy))
  const lastText = items.findLastIndex(hasText)
  const isAnswer = lastText !== -1 || items.some((item) => isCall(item, calls))
  const isInProgram = items.some((item) => Json.field(Json.field(item, "caller"), "type") === "program")
  return kindOf(
    items.find((item, index) => {
      const kind = kindOf(item) ?? "message"
      if (others.has(kind) || resulting.test(kind) || isProviderCall(item, calls)) return false
      if (Json.field(item, "execution") === "server") return false
      if (answered.has(textOf(item, kind === approval ? "id" : "call_id") ?? "")) return false
      // a program in the provider's container waits for the calls that it made, and continues with their results
      if (kind === "program" && isInProgram) return false
      if (isCut(item) || !isAnswer) return !isAnswer
      // Mutant `index >= lastText` survives: the item at `lastText` is a message, which never waits
      const isLater = index > lastText
      if (clients.has(kind)) return kind !== custom || !isOfXAi(source) || isLater
      return isLater && (textOf(item, "call_id") !== undefined || hasWaitingStatus(item))
    })
  )
}

/** Whether an item is a call that the client answers, by a tool of the agent. */
export const isCall = (item: Schema.Json, calls: ProviderCalls): boolean =>
  kindOf(item) === "function_call" || isProviderCall(item, calls)

/** Whether an item was cut off. Such an item waits for nothing. */
export const isCut = (item: Schema.Json | undefined): boolean => Json.field(item, "status") === "incomplete"

/** The kinds of the provider's calls that tools of the agent answer. */
export type ProviderCalls = ReadonlyArray<string> | undefined

/**
 * Whether an item is a call of the provider's kinds that a tool of the agent answers. Calls that run on the provider's server or in its
 * container are answered by the provider.
 */
export const isProviderCall = (item: Schema.Json, calls: ProviderCalls): boolean =>
  calls !== undefined &&
  // Mutant `"Stryker was here!"` survives: no kind of a call has this name
  calls.includes(kindOf(item) ?? "") &&
  Json.field(item, "execution") !== "server" &&
  Json.field(Json.field(item, "environment"), "type") !== "container_reference"

const approval = "mcp_approval_request"

const custom = "custom_tool_call"

/** The kinds of items that only the client answers. A shell in a container of the provider is answered by its output. */
const clients: ReadonlySet<string> = new Set([
  approval,
  custom,
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call"
])

/**
 * Whether a model is one of xAI's, at any host. Custom calls of such a model are calls of xAI's own tools (`x_keyword_search`,
 * `view_image`), which the server has already answered, without an item for the answer (github.com/vercel/ai/pull/9896, looked up on
 * 2026-11-26).
 */
const isOfXAi = ({ model, provider }: Source): boolean => provider === "xai" || /(?:^|\/)grok-/i.test(model)

/** The kinds of items that wait for nothing, or only for the provider, in any status. */
const others: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "compaction",
  "function_call",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools"
])

/** Matches the kinds of items that are results: OpenAI's, and those of Perplexity's own tools (`OutputItem` of its client, 2026-11-26). */
const resulting = /_(?:output|results?)$|^(?:sandbox_|share_file$)/

const hasWaitingStatus = (item: Schema.Json): boolean => {
  const status = textOf(item, "status")
  return status !== undefined && !ended.has(status)
}

const ended: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "canceled", "expired"])

/** Whether an item is a message with text. */
export const hasText = (item: Schema.Json): boolean =>
  kindOf(item) === "message" &&
  Json.items(Json.field(item, "content")).some((part) => textOf(part, "text") !== undefined)

/** The id of the call that an item answers; `undefined` for an item that is no answer. */
const answeredBy = (item: Schema.Json): string | undefined => {
  const kind = kindOf(item)
  if (kind === "mcp_approval_response") return textOf(item, "approval_request_id")
  return kind?.endsWith("_output") === true ? textOf(item, "call_id") : undefined
}

const textOf = (item: Schema.Json | undefined, key: string): string | undefined => Json.text(Json.field(item, key))

const kindOf = (item: Schema.Json | undefined): string | undefined => textOf(item, "type")
