/**
 * Items of OpenAI's Responses that wait for the client: approvals of MCP calls, and calls of tools of a built-in kind. Their fields are
 * those of developers.openai.com (API reference, Responses; guides on MCP, computer use, shell, apply patch and custom tools), looked up on
 * 2026-11-26. The words of the refusals of function, custom, computer and patch calls were seen in reports of users; those of shells follow
 * them, and those of an approval response without its request could not be confirmed.
 */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

const kinds = ["apply_patch_call", "computer_call", "custom_tool_call", "local_shell_call", "shell_call"] as const

/** A call that the client carries out. */
export const Call = Schema.Struct({ type: Schema.Literals(kinds), call_id: Schema.String })

/** The output of the call. */
export const Output = Schema.Struct({
  type: Schema.Literals(kinds.map((kind) => `${kind}_output` as const)),
  call_id: Schema.String,
  output: Schema.optionalKey(Schema.Json)
})

export const ApprovalRequest = Schema.Struct({
  type: Schema.Literal("mcp_approval_request"),
  id: Schema.String,
  server_label: Schema.String,
  name: Schema.String,
  arguments: Schema.String
})

export const ApprovalResponse = Schema.Struct({
  type: Schema.Literal("mcp_approval_response"),
  approval_request_id: Schema.String,
  approve: Schema.Boolean,
  reason: Schema.optionalKey(Schema.NullOr(Schema.String))
})

type Result = Extract<Message.Foreign, { readonly role: "tool" }>

/** A decision for the brain: a result with the id of the request, an error if the call is denied. */
export const decided = ({ approval_request_id, approve, reason }: typeof ApprovalResponse.Type): Result => ({
  role: "tool",
  callId: approval_request_id,
  text: reason ?? (approve ? "approved" : "denied"),
  isError: !approve
})

/** An output for the brain: its text, or its JSON. */
export const answered = ({ call_id, output = "" }: typeof Output.Type): Result => ({
  role: "tool",
  callId: call_id,
  text: Predicate.isString(output) ? output : JSON.stringify(output)
})

export const unasked = ({ approval_request_id }: typeof ApprovalResponse.Type): string =>
  `No approval request found for approval response with approval_request_id ${approval_request_id}.`

/** `function call` for `function_call`. */
export const wordsOf = (type: string): string => type.replaceAll("_", " ")
