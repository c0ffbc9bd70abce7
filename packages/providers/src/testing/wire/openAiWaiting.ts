/**
 * Items of OpenAI's Responses API that wait for the client: approvals of MCP calls, and calls of built-in tools that the client carries
 * out. Their fields come from developers.openai.com (API reference, Responses; guides on MCP, computer use, shell, apply patch and custom
 * tools), looked up on 2026-11-26. The error messages for function, custom, computer and patch calls come from reports of users, and those
 * for shell calls are modelled on them. The message for an approval response without its request could not be confirmed.
 */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

const kinds = ["apply_patch_call", "computer_call", "custom_tool_call", "local_shell_call", "shell_call"] as const

/** A call of a built-in tool that the client carries out. */
export const Call = Schema.Struct({ type: Schema.Literals(kinds), call_id: Schema.String })

/** The client's output of such a call. */
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

/** Converts the decision about a request for approval to a tool result, which is an error if the call is denied. */
export const decided = ({ approval_request_id, approve, reason }: typeof ApprovalResponse.Type): Result => ({
  role: "tool",
  callId: approval_request_id,
  text: reason ?? (approve ? "approved" : "denied"),
  isError: !approve
})

/** Converts the output of a built-in tool to a tool result: the output's text, or its JSON. */
export const answered = ({ call_id, output = "" }: typeof Output.Type): Result => ({
  role: "tool",
  callId: call_id,
  text: Predicate.isString(output) ? output : JSON.stringify(output)
})

export const unasked = ({ approval_request_id }: typeof ApprovalResponse.Type): string =>
  `No approval request found for approval response with approval_request_id ${approval_request_id}.`

/** `function call` for `function_call`. */
export const wordsOf = (type: string): string => type.replaceAll("_", " ")
