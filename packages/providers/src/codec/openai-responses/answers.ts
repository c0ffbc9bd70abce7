/**
 * Makes the items that answer calls of the provider's own kinds, such as `shell_call`.
 *
 * The shapes are those of `ResponseInputItem` in npm's `openai` 7.57.0, looked up on 2026-11-26. There the answer to a
 * local shell has an `id` in the place of `call_id`; OpenAI's guide and the programs that use it send `call_id`.
 */
import * as Message from "@kintsugi/core/Message"
import * as Equal from "effect/Equal"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { shownParts, type Takes } from "../resultParts.ts"
import { addressOf, givenBy } from "../Attached.ts"
import { settlementText } from "../text.ts"

type Item = Schema.JsonObject

/** The provider's item of a call, if the call is of a kind that the provider declares; `undefined` for the call of a function. */
export const itemOf = (data: Schema.Json | undefined): Item | undefined =>
  Json.text(Json.field(data, "type")) === undefined ? undefined : Json.object(data)

/** Removes the id of the provider's item from a call, if its `call_id` still connects it to its answer. */
export const withoutId = (call: Message.ToolCall): Message.ToolCall => {
  const item = itemOf(call.opaque?.data)
  if (call.opaque === undefined || item?.["call_id"] === undefined) return call
  const { id: _i, ...data } = item
  return { ...call, opaque: { ...call.opaque, data } }
}

/**
 * Makes the item that answers a call of the provider's kinds. `undefined` if that kind of answer cannot express the result; then the call's
 * item is left out as well.
 */
export const answerTo = (
  item: Item,
  callId: string,
  settlement: Message.Settlement,
  takes: Takes
): Item | undefined => {
  const kind = Json.text(item["type"]) ?? ""
  if (kind === approval) return decisionOn(item, settlement)
  const type = kind === "tool_search_call" ? "tool_search_output" : `${kind}_output`
  const fields = Message.isError(settlement) ? failure(kind, settlement) : success(kind, settlement, takes)
  return fields && { type, call_id: callId, ...fields }
}

const approval = "mcp_approval_request"

/**
 * Makes the answer to a request for approval. A decision with another value for a field of the request refuses the request. The decision
 * may leave fields out.
 */
const decisionOn = (item: Item, settlement: Message.Settlement): Item => {
  const decision = fieldsIn(settlement.text)
  const answer = { type: "mcp_approval_response", approval_request_id: item["id"] ?? null }
  const refuse = (reason: string) => ({ ...answer, approve: false, reason })
  if (Message.isError(settlement) || decision?.["approve"] !== true) {
    return refuse(Json.text(decision?.["reason"]) ?? settlement.text)
  }
  const edited = ["arguments", ...Object.keys(item)].flatMap((name) => {
    const { [name]: value } = decision
    return value === undefined || Equal.equals(meant(name, value), meant(name, item[name])) ? [] : [[name, value]]
  })
  return edited.length === 0
    ? { ...answer, approve: true }
    : refuse(`Call it with ${JSON.stringify(Object.fromEntries(edited))}`)
}

/** The meaning of a field's value. Arguments are JSON in a text, and mean the same in any spelling. */
const meant = (name: string, value: Schema.Json = null): Schema.Json =>
  name === "arguments" && Predicate.isString(value) ? Result.getOrElse(Json.parse(value), () => value) : value

/**
 * The fields of an answer item for a successful result: those that the tool gave, if it gave any of `answerFields`, or the result as
 * `output`.
 */
const success = (kind: string, settlement: Message.Settlement, takes: Takes): Item | undefined => {
  const image = shownParts(settlement, takes)?.find((part) => part.type === "image")
  if (kind === computer && image !== undefined) {
    const given = givenBy(image)
    const from = given.way === "id" ? { file_id: given.id } : { image_url: addressOf(image) }
    return { output: { type: "computer_screenshot", ...from } }
  }
  const fields = fieldsIn(settlement.text)
  if (fields !== undefined && answerFields.some((name) => Object.hasOwn(fields, name))) return fields
  const json = Json.parse(settlement.text)
  const isData = Result.isSuccess(json) && typeof json.success === "object" && json.success !== null
  if (isData && !texts.has(kind)) return { output: json.success }
  return ofText(kind, settlement.text, false)
}

const failure = (kind: string, settlement: Message.Settlement): Item | undefined =>
  ofText(kind, settlementText(settlement), true)

/** The fields of an answer item for a text. A computer call is answered by a screenshot only, so it has none. */
const ofText = (kind: string, text: string, isError: boolean): Item | undefined => {
  switch (kind) {
    case computer:
      return undefined
    case "shell_call": {
      const outcome = { type: "exit", exit_code: isError ? 1 : 0 }
      return { output: [{ stdout: isError ? "" : text, stderr: isError ? text : "", outcome }] }
    }
    case "apply_patch_call":
      return { status: isError ? "failed" : "completed", output: text }
    case "tool_search_call":
      return { tools: [], execution: "client" }
    default:
      return { output: text }
  }
}

const computer = "computer_call"

const answerFields = ["output", "status", "tools"]

/** The kinds of calls whose output stays a text, even if the text is JSON. */
const texts: ReadonlySet<string> = new Set(["custom_tool_call", "local_shell_call"])

const fieldsIn = (text: string): Item | undefined => Json.object(Result.getOrUndefined(Json.parse(text)))
