/** Items that wait for the client, in forms that no provider documents, and replies in the background that are not what was begun. */
import * as Message from "@kintsugi/core/Message"
import type { Schema } from "effect"
import { type Answer, both, eventStream, fixed, sse } from "./answers.ts"
import type { Expected, Mode, Scenario } from "./scenario.ts"

const responseOf = (fields: Schema.JsonObject): Schema.JsonObject => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "m",
  output: [],
  usage: { input_tokens: 3, output_tokens: 2 },
  ...fields
})

const said = (text: string): Schema.JsonObject => ({
  type: "message",
  id: "m1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})

/** A response, whole or as the events of its items. */
const answerOf = (mode: Mode, response: Schema.JsonObject): Answer => {
  if (mode === "whole") return { body: JSON.stringify(response) }
  const output = Array.isArray(response["output"]) ? response["output"] : []
  const items = output.map((item: Schema.Json, output_index) => ({
    type: "response.output_item.done",
    output_index,
    item
  }))
  const end = { type: `response.${String(response["status"])}`, response }
  return eventStream(sse({ type: "response.created", response: { ...response, output: [] } }, ...items, end))
}

const refused: Expected = { tags: ["CapabilityMismatchError"], sends: 1 }

const reads = (text: string, sends = 1): Expected => ({ reply: (reply) => Message.textOf(reply) === text, sends })

const deep = JSON.parse(`${"[".repeat(1_000)}${"]".repeat(1_000)}`) as Schema.Json

/** What a reply has, and what has to come of it where no tool of the agent answers. */
const waiting: Readonly<Record<string, readonly [ReadonlyArray<Schema.Json>, Expected]>> = {
  "a request for approval without an id": [[{ type: "mcp_approval_request", name: "t", arguments: "{}" }], refused],
  "a request for approval whose id is an object": [[{ type: "mcp_approval_request", id: {}, arguments: 7 }], refused],
  "a request for approval that another id answers": [
    [
      { type: "mcp_approval_request", id: "a" },
      { type: "mcp_approval_response", approval_request_id: "b" }
    ],
    refused
  ],
  "a call of the computer without an id, nested deeply": [[{ type: "computer_call", actions: deep }], refused],
  "a call of the shell that is cut off": [[{ type: "shell_call", call_id: "c", status: "incomplete" }], refused],
  "a custom call before an empty text": [[{ type: "custom_tool_call", call_id: "c", name: "sql" }, said("")], refused],
  "a custom call before a text": [[{ type: "custom_tool_call", call_id: "c", name: "sql" }, said("So.")], refused],
  "a kind that is no text": [[{ type: 7, call_id: "c" }, said("So.")], reads("So.")],
  "a kind of a prototype": [[{ type: "__proto__", call_id: "c" }], refused],
  "a kind of 100,000 letters": [
    [{ type: "k".repeat(100_000), call_id: "c" }],
    { ...refused, error: (error) => error.message.length < 5_000 }
  ],
  "a kind with line ends": [[{ type: "a\r\ndata: [DONE]\n\n", call_id: "c" }], refused],
  "an unknown kind without a status": [[{ type: "later_request" }], refused],
  "an unknown kind before a text": [[{ type: "later_request", call_id: "c" }, said("So.")], reads("So.")],
  "a status that is no text": [[{ type: "later_request", status: ["waiting"] }, said("So.")], reads("So.")],
  "items that are none": [[null, 7, "text", [], {}, said("So.")], reads("So.")],
  "a result before its call": [
    [{ type: "shell_call_output", call_id: "c" }, { type: "shell_call", call_id: "c" }, said("So.")],
    reads("So.")
  ],
  "an empty id that an empty id answers": [
    [
      { type: "shell_call", call_id: "" },
      { type: "shell_call_output", call_id: "" }
    ],
    refused
  ],
  "1,000 calls, of which one has no result": [
    Array.from({ length: 1_000 }, (_, n) => [
      { type: "apply_patch_call", call_id: `c${n}` },
      { type: "apply_patch_call_output", call_id: `c${n === 500 ? "x" : n}` }
    ]).flat(),
    refused
  ]
}

export const waitingItems: ReadonlyArray<Scenario> = Object.entries(waiting).flatMap(([name, [output, expected]]) =>
  both.map((mode): Scenario => {
    const serve = fixed(answerOf(mode, responseOf({ output })))
    return { group: "waiting items", name, api: "openai-responses", modes: [mode], serve, expected }
  })
)

const begun: Schema.JsonObject = responseOf({ status: "queued", background: true })

const done = responseOf({ background: true, output: [said("Done.")] })

/** As a stream it has no end. */
const noJob: Expected = { tags: ["UnknownLlmError", "NetworkError"] }

/** What begins a job, the answers to what is asked then, of which the last is repeated, and what has to come of it. */
const background: Readonly<Record<string, readonly [Schema.JsonObject, ReadonlyArray<Answer>, Expected]>> = {
  "one that is over at once": [begun, [{ body: JSON.stringify(done) }], reads("Done.", 2)],
  "another response": [begun, [{ body: JSON.stringify({ ...done, id: "resp_2" }) }], reads("Done.", 2)],
  "an id that is a path": [{ ...begun, id: "../models?x=1" }, [], noJob],
  "an id that is no text": [{ ...begun, id: 7 }, [], noJob],
  "a status of no meaning": [
    begun,
    [{ body: JSON.stringify({ ...begun, status: "dreaming" }) }],
    { tags: ["UnknownLlmError"], sends: 2 }
  ],
  "a page": [begun, [{ body: "<html>busy</html>" }], { tags: ["UnknownLlmError"], sends: 2 }],
  "a list": [begun, [{ body: "[]" }], { tags: ["UnknownLlmError"], sends: 2 }],
  "no job any more": [begun, [{ status: 404, body: "" }], { tags: ["InvalidRequestError"], sends: 2 }],
  "a refused key": [begun, [{ status: 401, body: "{}" }], { tags: ["AuthenticationError"], sends: 2 }],
  "its failure": [
    begun,
    [{ body: JSON.stringify({ ...begun, status: "failed", error: { code: "server_error", message: "no" } }) }],
    { tags: ["ServerError"], sends: 2 }
  ],
  "an item that waits": [
    begun,
    [{ body: JSON.stringify({ ...done, output: [{ type: "computer_call" }] }) }],
    { tags: ["CapabilityMismatchError"], sends: 2 }
  ],
  "a cancellation by another client": [
    begun,
    [{ body: JSON.stringify({ ...begun, status: "cancelled" }) }],
    { tags: ["UnknownLlmError"], sends: 2 }
  ]
}

/** The first answer to a request that is streamed is a stream; what asks for the status of a job is not. */
export const backgroundJobs: ReadonlyArray<Scenario> = Object.entries(background).flatMap(
  ([name, [first, answers, expected]]) =>
    both.map((mode): Scenario => {
      const events = eventStream(sse({ type: "response.created", sequence_number: 0, response: first }))
      const start = mode === "streamed" ? events : { body: JSON.stringify(first) }
      const serve = fixed((number) => answers[Math.min(number - 1, answers.length) - 1] ?? start)
      return { group: "jobs", name, api: "openai-responses", modes: [mode], serve, expected }
    })
)
