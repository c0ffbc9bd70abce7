/** OpenAI's server sides here refuse what OpenAI refuses, with the same status and similar words. */
import { describe } from "@effect/vitest"
import { checking } from "./_support/refusals.ts"

const tool = (name: string, parameters: object, strict = false) => ({
  type: "function",
  function: { name, parameters, strict }
})

const nested = {
  type: "object",
  properties: {
    a: { type: "array", items: { type: "object", properties: { b: { type: "string" } }, additionalProperties: false } }
  },
  required: ["a"],
  additionalProperties: false
}

describe("openai-chat refuses", () => {
  const headers = { authorization: "Bearer any" }
  const asked = { role: "user", content: "hello" }
  const call = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
  }
  const result = { role: "tool", tool_call_id: "c1", content: "x" }
  const of = (...messages: ReadonlyArray<object>) => ({ model: "m", messages })
  checking("/v1/chat/completions", headers, of(asked, call, result), [
    { why: "a stranger", body: of(asked), headers: {}, status: 401, says: /didn't provide an API key/ },
    { why: "no JSON", body: "nonsense", status: 400, says: /parse the JSON/ },
    { why: "a body of another shape", body: { model: "m" }, status: 400, says: /messages/ },
    { why: "an unknown model", body: { ...of(asked), model: "x" }, status: 404, says: /"model_not_found"/ },
    { why: "an open call", body: of(asked, call), status: 400, says: /did not have response messages: c1/ },
    {
      why: "a call answered too late",
      body: of(asked, call, asked, result),
      status: 400,
      says: /response messages: c1/
    },
    { why: "a result without a call", body: of(asked, result), status: 400, says: /must be a response to/ },
    {
      why: "a choice without tools",
      body: { ...of(asked), tool_choice: "auto" },
      status: 400,
      says: /only allowed when/
    },
    {
      why: "a choice of no tool",
      body: { ...of(asked), tools: [tool("f", {})], tool_choice: { type: "function", function: { name: "g" } } },
      status: 400,
      says: /'g' not found/
    },
    {
      why: "a tool of another name",
      body: { ...of(asked), tools: [tool("f.g", {})] },
      status: 400,
      says: /tools\[0\]\.name/
    },
    {
      why: "a strict schema that is open",
      body: { ...of(asked), tools: [tool("f", { type: "object", properties: {} }, true)] },
      status: 400,
      says: /function 'f'.*'additionalProperties' is required/
    },
    {
      why: "a strict schema that leaves something to choice, deep inside",
      body: {
        ...of(asked),
        response_format: { type: "json_schema", json_schema: { name: "o", schema: nested, strict: true } }
      },
      status: 400,
      says: /response_format 'o': In context=\('properties', 'a', 'items'\).*Missing 'b'/
    },
    { why: "a result twice", body: of(asked, call, result, result), status: 400, says: /'c1' not found/ }
  ])
})

describe("openai-responses refuses", () => {
  const headers = { authorization: "Bearer any" }
  const asked = { role: "user", content: "hello" }
  const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" }
  const output = { type: "function_call_output", call_id: "c1", output: "x" }
  const reasoning = { type: "reasoning", id: "rs_1", summary: [] }
  const of = (...input: ReadonlyArray<object>) => ({ model: "m", input })
  checking("/v1/responses", headers, of(asked, reasoning, call, output), [
    { why: "a stranger", body: of(asked), headers: {}, status: 401, says: /didn't provide an API key/ },
    { why: "no JSON", body: "nonsense", status: 400, says: /parse the JSON/ },
    { why: "an unknown model", body: { ...of(asked), model: "x" }, status: 400, says: /"model_not_found"/ },
    { why: "an open call", body: of(asked, call), status: 400, says: /No tool output found for function call c1/ },
    { why: "an output without a call", body: of(asked, output), status: 400, says: /No tool call found.*c1/ },
    { why: "reasoning alone", body: of(asked, reasoning, asked), status: 400, says: /'rs_1'.*required following item/ },
    { why: "reasoning at the end", body: of(asked, reasoning), status: 400, says: /'rs_1'.*required following item/ },
    {
      why: "encrypted content that is not its own",
      body: of(asked, { ...reasoning, encrypted_content: "forged" }, call, output),
      status: 400,
      says: /could not be verified/
    },
    {
      why: "a strict schema that is open",
      body: {
        ...of(asked),
        tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: true }]
      },
      status: 400,
      says: /function 'f'.*'additionalProperties' is required/
    },
    {
      why: "a strict output that leaves something to choice, deep inside",
      body: { ...of(asked), text: { format: { type: "json_schema", name: "o", schema: nested, strict: true } } },
      status: 400,
      says: /response_format 'o'.*Missing 'b'/
    },
    { why: "a response before", body: { ...of(asked), previous_response_id: "r" }, status: 400, says: /'r' not found/ }
  ])
})
